// Command schemachecker checks documents for the programs of scripts. It listens on the socket that its
// argument names, says so in a line, and ends with its standard input. It may import packages schematest and
// checker alone.
package main

import (
	"fmt"
	"io"
	"net"
	"os"

	"github.com/mayfly-iac/mayfly/internal/testing/schematest"
	"github.com/mayfly-iac/mayfly/internal/testing/schematest/checker"
)

func main() {
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemachecker:", err)
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // any end is the end
		_ = l.Close()
	}()
	fmt.Println("listening")
	_ = checker.Serve(l, schematest.Judge) // until the socket is closed
}
