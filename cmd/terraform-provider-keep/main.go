// Command terraform-provider-keep serves the keep provider as a stand-alone plugin, protocol 6, for any
// program that runs such plugins.
//
// It may import the provider and the framework's server; it must not know the engine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/mayfly-iac/mayfly/provider/keep"
)

// version is set when a release is built.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "keep running and print how to attach, for use with a debugger")
	flag.Parse()
	err := providerserver.Serve(context.Background(), keep.New(version), providerserver.ServeOpts{
		Address: keep.Address, Debug: *debug, ProtocolVersion: 6,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-keep:", err)
		os.Exit(1)
	}
}
