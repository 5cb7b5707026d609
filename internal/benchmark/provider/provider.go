// Package provider is the plugin that engines are measured with: a resource that does nothing, an ephemeral
// resource, and on demand a schema of any size. Every process of it counts the calls that it serves, their
// bytes and its own processor time in a file, which Read sums up.
//
// It may import the plugin framework. It must not know any engine, nor how the figures are shown.
package provider

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
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
	server := providerserver.NewProtocol6(&bench{types: types, counts: counts})
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey: "TF_PLUGIN_MAGIC_COOKIE", MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		},
		VersionedPlugins: map[int]plugin.PluginSet{6: {"provider": &tf6server.GRPCProviderPlugin{
			GRPCProvider: func() tfprotov6.ProviderServer { return server() }, Name: Address,
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
	server := providerserver.NewProtocol6(&bench{counts: counts})
	plug := tf6server.GRPCProviderPlugin{GRPCProvider: func() tfprotov6.ProviderServer { return server() }, Name: Address}
	return plug.GRPCServer(nil, s)
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// bench implements provider.Provider.
type bench struct {
	types  int
	counts *counts
}

// Metadata implements provider.Provider.
func (p *bench) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "bench"
}

// Schema implements provider.Provider: the one argument does nothing.
func (p *bench) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{"key": schema.StringAttribute{Optional: true, Sensitive: true}}}
}

// Configure implements provider.Provider.
func (p *bench) Configure(_ context.Context, _ provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	resp.EphemeralResourceData = p.counts
}

// DataSources implements provider.Provider.
func (p *bench) DataSources(context.Context) []func() datasource.DataSource { return nil }

// EphemeralResources implements provider.ProviderWithEphemeralResources.
func (p *bench) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return &secret{} }}
}

// Resources implements provider.Provider.
func (p *bench) Resources(context.Context) []func() resource.Resource {
	list := []func() resource.Resource{func() resource.Resource { return &thing{} }}
	for i := range p.types {
		list = append(list, func() resource.Resource { return &filler{number: i} })
	}
	return list
}

// description fills the schemas of further types.
var description = strings.Repeat("What a provider says of an argument in its documentation. ", 16)
