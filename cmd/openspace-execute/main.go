package main

import (
	_ "embed"
	"os"
	"os/signal"
	"syscall"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/sandbox"
)

//go:embed doc.go
var manual string

func main() {
	sandbox.Main()
	// A reader that goes away is an error of the write, so that there is time to end what was started. The handler, unlike an ignored signal, is
	// not handed on to children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	cli.Main(command(manual))
}
