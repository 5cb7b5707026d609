// Package builtin is the provider inside the program, terraform.io/builtin/terraform: the resource type
// terraform_data, the data source terraform_remote_state and the functions that encode and decode variable
// files. It works in process, on values.
//
// It may import addr, diag, schema, provider, state (to read the outputs of local states), HCL and cty. It
// must not know backends other than the local one, so functions to read states are injected. Nor may it
// know wire formats, plans or evaluation.
package builtin

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// ReadState reads the root module's outputs from a stored state. If there is none, the error wraps
// ErrNoState. Errors must not contain values of the configuration, any of which may be secret. A
// cty.PathError gives the place in the configuration that it is about.
type ReadState func(ctx context.Context, from StateSource) (outputs map[string]cty.Value, err error)

// StateSource says which state to read.
type StateSource struct {
	Instance  addr.Instance // of the data source
	Backend   string
	Config    cty.Value // of the backend as given, an object or null
	Workspace string    // "" for "default"
}

// Decrypt returns the content of a state file from its stored form, which may be unencrypted. instance is the
// data source that reads it.
type Decrypt func(instance addr.Instance, stored []byte) ([]byte, error)

// CheckBackend checks that a backend type exists and that config, null or an object with possibly unknown
// parts, fits it. Errors follow the rules of ReadState; ErrNoBackend means that the type does not exist.
type CheckBackend func(backendType string, config cty.Value) error

// Options are the environment of the provider. Each has a default. Functions in it may be called
// concurrently.
type Options struct {
	// Dir is the directory that relative paths of local states refer to; "" is the working directory of the
	// process.
	Dir string
	// ReadState reads the states of other configurations; nil reads states of the local backend.
	ReadState ReadState
	// CheckBackend validates terraform_remote_state's configuration. If it is nil, the local backend's
	// rules apply if ReadState is nil too; otherwise all checks are left to ReadState.
	CheckBackend CheckBackend
	// NewID returns the id of a new terraform_data; nil means random UUIDs. It may be called concurrently.
	NewID func() string
}

// New returns a started provider. It has no process, keeps no state between calls, and needs no
// configuration.
func New(o Options) provider.Provider {
	if o.ReadState == nil {
		o.ReadState = ReadLocal(o.Dir, nil)
		if o.CheckBackend == nil {
			o.CheckBackend = CheckLocal
		}
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	life, end := context.WithCancel(context.Background())
	return &builtin{o: o, life: life, end: end}
}

// builtin is the provider. It keeps nothing but a context, which Stop and Close end.
type builtin struct {
	provider.NoLists
	provider.NoActions
	o    Options
	life context.Context // ends with Stop or Close
	end  context.CancelFunc
}

var _ provider.Provider = (*builtin)(nil)

// Catalog implements provider.Reader.
func (*builtin) Catalog(context.Context) (provider.Catalog, diag.List) { return Catalog(), nil }

// ValidateConfig implements provider.Reader. There is nothing to configure.
func (*builtin) ValidateConfig(context.Context, cty.Value) diag.List { return nil }

// Configure implements provider.Reader.
func (*builtin) Configure(context.Context, cty.Value) diag.List { return nil }

// ValidateResource implements provider.Reader.
func (b *builtin) ValidateResource(_ context.Context, mode addr.Mode, typeName string, config cty.Value) diag.List {
	block, diags := blockOf(mode, typeName)
	if diags.HasErrors() {
		return diags
	}
	if diags := checkObject(block, "configuration", config); diags.HasErrors() {
		return diags
	}
	if schema.HoldsMarks(config) {
		return unprepared("configuration")
	}
	if mode == addr.Data && !config.IsNull() && config.IsKnown() {
		return b.validateRemoteState(config)
	}
	return readOnly(block, config)
}

// readOnly refuses values for attributes that only the provider sets.
func readOnly(block *schema.Block, config cty.Value) diag.List {
	if config.IsNull() || !config.IsKnown() {
		return nil
	}
	var set []string
	for name, a := range block.Attributes {
		if a.Computed && !a.Optional && !config.GetAttr(name).IsNull() {
			set = append(set, name)
		}
	}
	slices.Sort(set)
	var diags diag.List
	for _, name := range set {
		diags = append(diags, diag.Diagnostic{
			Summary: "Read-only attribute", Detail: fmt.Sprintf("The attribute %q is set by the provider and cannot be configured. Remove it.", name),
			Path: cty.GetAttrPath(name),
		})
	}
	return diags
}

// GenerateConfig implements provider.Reader; Catalog does not offer it.
func (*builtin) GenerateConfig(_ context.Context, req provider.GenerateRequest) (cty.Value, diag.List) {
	return cty.NilVal, unsupported("The built-in provider does not write configuration for %s.", req.Type)
}

// ConfiguredFunctions implements provider.Reader: the functions do not depend on the configuration.
func (*builtin) ConfiguredFunctions(context.Context) (map[string]*schema.Function, diag.List) {
	return Catalog().Functions()
}

// OpenEphemeral implements provider.Reader.
func (*builtin) OpenEphemeral(_ context.Context, typeName string, _ cty.Value) (provider.OpenResponse, diag.List) {
	return provider.OpenResponse{}, unknownType(addr.Ephemeral, typeName)
}

// RenewEphemeral implements provider.Reader.
func (*builtin) RenewEphemeral(_ context.Context, typeName string, _ []byte) (provider.RenewResponse, diag.List) {
	return provider.RenewResponse{}, unknownType(addr.Ephemeral, typeName)
}

// CloseEphemeral implements provider.Reader.
func (*builtin) CloseEphemeral(_ context.Context, typeName string, _ []byte) diag.List {
	return unknownType(addr.Ephemeral, typeName)
}

// Stop implements provider.Reader: reads of remote states end. Other operations take no time worth
// interrupting.
func (b *builtin) Stop(context.Context) error {
	b.end()
	return nil
}

// Close implements provider.Reader.
func (b *builtin) Close() error {
	b.end()
	return nil
}

// unknownType returns the error for a type that the provider lacks in a mode.
func unknownType(mode addr.Mode, typeName string) diag.List {
	kind := map[addr.Mode]string{addr.Managed: "resource", addr.Data: "data source", addr.Ephemeral: "ephemeral resource"}[mode]
	return diag.Errorf("Unknown "+kind+" type", "The built-in provider has no %s type %q. It has the resource type %s and the data source %s.",
		kind, typeName, dataType, remoteStateType)
}

// blockOf returns the schema of a type, or an error if there is no such type.
func blockOf(mode addr.Mode, typeName string) (*schema.Block, diag.List) {
	s, _ := catalog{}.Resource(mode, typeName)
	if s == nil {
		return nil, unknownType(mode, typeName)
	}
	return s.Block, nil
}

// checkObject rejects values that do not have the schema's type, which would otherwise fail deep inside
// cty.
func checkObject(block *schema.Block, what string, v cty.Value) diag.List {
	if v == cty.NilVal || !block.Conforms(v) {
		return unprepared(what)
	}
	return nil
}

// unprepared returns the error for a request with a value that no caller should send. It is checked because
// the provider works on values directly, where cty would panic.
func unprepared(what string) diag.List {
	return diag.Errorf("Invalid request to provider", "The %s was not prepared for the schema of the built-in provider. This is a bug in the program "+
		"that uses it: report it to its developers.", what)
}

// unsupported returns the error for an operation that the provider does not have.
func unsupported(format string, args ...any) diag.List {
	return diag.Errorf("Operation not supported by provider", "%s", fmt.Sprintf(format, args...))
}

// Echo returns, for a managed type, the argument that a result attribute repeats: parts that are sensitive
// in the argument are sensitive in the result. ok is false if there is none.
func Echo(typeName string) (argument, result string, ok bool) {
	return "input", "output", typeName == dataType
}
