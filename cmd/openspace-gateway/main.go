package main

import (
	_ "embed"

	"github.com/openspace-dev/openspace/pkg/cli"
)

//go:embed doc.go
var manual string

func main() { cli.Main(command(manual)) }
