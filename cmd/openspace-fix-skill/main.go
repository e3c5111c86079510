package main

import (
	_ "embed"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/sandbox"
)

//go:embed doc.go
var manual string

func main() {
	sandbox.Main() // the checks of a skill run in one
	cli.Main(command(manual))
}
