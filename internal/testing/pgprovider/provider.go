// Package pgprovider is a provider of roles, databases and schemas of a real PostgreSQL server, for tests.
// Passwords are write-only, and the server gets only verifiers of them, so that its log has no password.
//
// It may import the client of PostgreSQL and the protocol of plugins. It must not know any other package of
// this module: it judges the engine, so it must not share its mistakes.
package pgprovider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/lib/pq"
)

// Source is the provider's address in configurations and mirrors.
const Source = "registry.opentofu.org/test/pg"

// Serve serves the provider until the engine that has started the process ends it.
func Serve() error {
	return tf6server.Serve(Source, func() tfprotov6.ProviderServer { return &provider{} })
}

// provider answers the calls about the server and its objects. Calls about anything else, such as functions,
// are never made, because no schema announces it; the embedded interface would panic.
type provider struct {
	tfprotov6.ProviderServer

	mu        sync.Mutex
	connector *pq.Connector // nil before the configuration is known
}

var providerSchema = &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
	{Name: "host", Type: tftypes.String, Required: true},
	{Name: "port", Type: tftypes.Number, Required: true},
	{Name: "user", Type: tftypes.String, Required: true},
	{Name: "password", Type: tftypes.String, Optional: true, Sensitive: true},
	{Name: "database", Type: tftypes.String, Required: true},
}}}

// GetProviderSchema returns the schemas of all kinds of objects.
func (p *provider) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	resources := map[string]*tfprotov6.Schema{}
	for name, k := range kinds {
		resources[name] = k.schema
	}
	return &tfprotov6.GetProviderSchemaResponse{Provider: providerSchema, ResourceSchemas: resources}, nil
}

// GetResourceIdentitySchemas says that objects have no identities.
func (p *provider) GetResourceIdentitySchemas(context.Context, *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov6.GetResourceIdentitySchemasResponse{}, nil
}

// ValidateProviderConfig accepts each configuration that is as the schema says.
func (p *provider) ValidateProviderConfig(_ context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config}, nil
}

// ConfigureProvider keeps the settings of connections. It makes none.
func (p *provider) ConfigureProvider(_ context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	config, err := decode(req.Config, providerSchema)
	if err == nil {
		err = p.configure(config)
	}
	return &tfprotov6.ConfigureProviderResponse{Diagnostics: failure("The settings of the server are not valid", err)}, nil
}

func (p *provider) configure(config object) error {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if !config[name].IsKnown() {
			return nil
		}
	}
	connector, err := pq.NewConnectorConfig(pq.Config{
		Host: config.text("host"), Port: uint16(config.number("port")), User: config.text("user"),
		Password: config.text("password"), Database: config.text("database"), SSLMode: pq.SSLModeDisable,
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connector = connector
	return err
}

// StopProvider does nothing: each statement takes a moment only.
func (p *provider) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}

// failure returns an error as the diagnostics of an answer.
func failure(summary string, err error) []*tfprotov6.Diagnostic {
	if err == nil {
		return nil
	}
	return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: summary, Detail: fmt.Sprintf("%v.", err)}}
}
