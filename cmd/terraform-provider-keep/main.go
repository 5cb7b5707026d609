// Command terraform-provider-keep serves the keep provider as a stand-alone plugin, protocol 6, for any
// program that runs such plugins.
//
// It may import the provider and the protocol's server; it must not know the engine.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/mayfly-iac/mayfly/internal/provider/keep"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/serve"
)

func main() {
	debug := flag.Bool("debug", false, "keep running and print how to attach, for use with a debugger")
	flag.Parse()
	var options []tf6server.ServeOpt
	if *debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve(keep.Address, func() tfprotov6.ProviderServer { return serve.New(keep.New(keep.Options{})) }, options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-keep:", err)
		os.Exit(1)
	}
}
