// Package provider is the plugin that engines are measured with: a resource that does nothing, an ephemeral
// resource, and on demand a schema of any size. Every process of it counts the calls that it serves, their
// bytes and its own processor time in a file, which Read sums up.
//
// It is written for the protocol itself: a framework would add its own time to each call, and takes seconds
// to compile. It must not know any engine, nor how the figures are shown.
package provider

import (
	"fmt"
	"os"
	"strconv"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"google.golang.org/grpc"
)

// The environment of the processes.
const (
	EnvCounts = "BENCH_COUNTS" // the directory for the files with the counts
	EnvTypes  = "BENCH_TYPES"  // how many further resource types the schema has, of about 40 kB each
	EnvPauses = "BENCH_PAUSES" // the operations that take time, separated by commas; create, open and close by default
)

// Address is the provider's source address, and Program the beginning of the name of its executable file.
const (
	Address = "mayfly.dev/test/bench"
	Program = "terraform-provider-bench"
)

const maxMessage = 1 << 30 // bytes

// Serve is the main function of the plugin. It returns when the engine has ended it.
func Serve() error {
	types, err := strconv.Atoi(or(os.Getenv(EnvTypes), "0"))
	if err != nil {
		return fmt.Errorf("%s must be a number: %w", EnvTypes, err)
	}
	counts, err := newCounts(os.Getenv(EnvCounts))
	if err != nil {
		return err
	}
	server := &bench{schemas: describe(types), counts: counts}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey: "TF_PLUGIN_MAGIC_COOKIE", MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		},
		VersionedPlugins: map[int]plugin.PluginSet{6: {"provider": &tf6server.GRPCProviderPlugin{
			GRPCProvider: func() tfprotov6.ProviderServer { return server }, Name: Address,
		}}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o, grpc.StatsHandler(counts), grpc.MaxSendMsgSize(maxMessage), grpc.MaxRecvMsgSize(maxMessage))...)
		},
	})
	return nil
}

// Register adds the provider, without further types, to a server within this process. Only the server's own
// handlers count its calls.
func Register(s *grpc.Server) error {
	counts, err := newCounts("")
	if err != nil {
		return err
	}
	server := &bench{schemas: describe(0), counts: counts}
	plug := tf6server.GRPCProviderPlugin{GRPCProvider: func() tfprotov6.ProviderServer { return server }, Name: Address}
	return plug.GRPCServer(nil, s)
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
