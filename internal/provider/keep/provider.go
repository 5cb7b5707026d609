package keep

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/store"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Address is the provider's source address.
const Address = "mayfly.dev/mayfly/keep"

// defaultPath is where the store is unless it is configured, relative to Options.Dir.
const defaultPath = "keep.age"

// Options say where a provider works.
type Options struct {
	// Dir is where the store is made if no path is given; the working directory if empty. Paths that are
	// given, also in the environment, are relative to the working directory in any case.
	Dir string
}

// New returns a provider for one configuration.
func New(opt Options) provider.Provider { return newProvider(opt, time.Now) }

func newProvider(opt Options, now func() time.Time) *keepProvider {
	p := &keepProvider{opt: opt, now: now}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// keepProvider is the provider.
type keepProvider struct {
	provider.NoLists
	provider.NoActions
	opt Options
	now func() time.Time

	mu      sync.Mutex
	session *session        // nil before Configure
	holding map[string]held // by ID, until they are closed
	life    context.Context // of the operations under way; ends with Stop or Close
	end     context.CancelFunc
}

var _ provider.Provider = (*keepProvider)(nil)

// configured returns the session; nil before Configure.
func (p *keepProvider) configured() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// during returns a context for an operation, which Stop ends. The operation ends with done.
func (p *keepProvider) during(ctx context.Context) (_ context.Context, done func()) {
	p.mu.Lock()
	life := p.life
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	unwatch := context.AfterFunc(life, cancel)
	return ctx, func() {
		unwatch()
		cancel()
	}
}

// Stop implements provider.Reader. Operations that begin later, such as closing open instances, are not
// stopped.
func (p *keepProvider) Stop(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.life, p.end = context.WithCancel(context.Background())
	return nil
}

// Close implements provider.Reader.
func (p *keepProvider) Close() error {
	p.mu.Lock()
	p.end()
	p.mu.Unlock()
	p.abandon()
	return nil
}

// Catalog implements provider.Reader.
func (p *keepProvider) Catalog(context.Context) (provider.Catalog, diag.List) { return catalog{}, nil }

// ValidateConfig implements provider.Reader.
func (p *keepProvider) ValidateConfig(_ context.Context, config cty.Value) diag.List {
	if !providerSchema.Block.Conforms(config) || config.IsNull() || !config.IsKnown() {
		return unprepared()
	}
	var diags diag.List
	c := config.AsValueMap()
	if !c["key_file"].IsNull() && !c["passphrase"].IsNull() {
		diags = append(diags, attributeError("passphrase", "Two ways to open the store",
			"Both passphrase and key_file are set, but a store is opened by one of them. Remove one."))
	}
	for _, name := range arguments {
		if v := c[name]; !v.IsNull() && v.IsKnown() && v.AsString() == "" {
			diags = append(diags, attributeError(name, "Empty argument",
				"The argument "+name+" is an empty string. Give it a value, or leave it out (null) for the default."))
		}
	}
	return diags
}

// arguments are the arguments of the provider configuration, in the order in which errors name them.
var arguments = []string{"path", "key_file", "passphrase", "token"}

// Configure implements provider.Reader. With unknown arguments, it makes a session without a store. A token
// is checked here, so that an expired one is reported once and not by every resource.
func (p *keepProvider) Configure(ctx context.Context, config cty.Value) diag.List {
	if diags := p.ValidateConfig(ctx, config); diags.HasErrors() {
		return diags
	}
	ctx, done := p.during(ctx)
	defer done()
	c := config.AsValueMap()
	s := &session{unknown: slices.DeleteFunc(slices.Clone(arguments), func(name string) bool { return c[name].IsKnown() })}
	if len(s.unknown) == 0 {
		o, diags := p.storeOptions(c)
		if diags.HasErrors() {
			return diags
		}
		o.Now = p.now
		kept, err := store.Open(o)
		if err == nil {
			err = kept.Check(ctx) // a store that cannot be opened is reported here once, not by each object
		}
		if err != nil {
			return explainStore(err, c)
		}
		s.store = kept
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session = s
	return nil
}

// storeOptions combines arguments, environment and defaults. Arguments take precedence over the environment,
// also between key_file and passphrase.
func (p *keepProvider) storeOptions(c map[string]cty.Value) (store.Options, diag.List) {
	o := store.Options{Path: text(c["path"]), KeyFile: text(c["key_file"]), Passphrase: text(c["passphrase"]), Token: text(c["token"])}
	if o.Path != "" { // which may be ephemeral
		o.Name, o.KeyName = "that the argument path names", "beside the store (the same name and .key)"
	}
	if o.KeyFile != "" {
		o.KeyName = "that the argument key_file names"
	}
	o.Path = cmp.Or(o.Path, os.Getenv("KEEP_PATH"), filepath.Join(p.opt.Dir, defaultPath))
	if o.KeyFile == "" && o.Passphrase == "" {
		o.KeyFile, o.Passphrase = os.Getenv("KEEP_KEY_FILE"), os.Getenv("KEEP_PASSPHRASE")
		if o.KeyFile != "" && o.Passphrase != "" {
			return o, diag.Errorf("Two ways to open the store",
				"Both environment variables KEEP_KEY_FILE and KEEP_PASSPHRASE are set, but a store is opened by one of them. "+
					"Unset one, or set key_file or passphrase in the provider block.")
		}
	}
	return o, nil
}

// UpgradeIdentity implements provider.Reader.
func (p *keepProvider) UpgradeIdentity(context.Context, provider.UpgradeRequest) (cty.Value, diag.List) {
	return cty.NilVal, unsupported("Objects of the keep provider have no identity.")
}

// MoveResource implements provider.Reader.
func (p *keepProvider) MoveResource(_ context.Context, req provider.MoveRequest) (provider.MoveResponse, diag.List) {
	return provider.MoveResponse{}, unsupported("A %s cannot become a %s.", req.SourceType, req.TargetType)
}

// GenerateConfig implements provider.Reader; the catalog does not offer it.
func (p *keepProvider) GenerateConfig(_ context.Context, req provider.GenerateRequest) (cty.Value, diag.List) {
	return cty.NilVal, unsupported("The keep provider does not write configuration for %s.", req.Type)
}

// CallFunction implements provider.Reader.
func (p *keepProvider) CallFunction(_ context.Context, name string, _ []cty.Value) (cty.Value, error) {
	return cty.NilVal, fmt.Errorf("the keep provider has no function %q", name)
}

// ConfiguredFunctions implements provider.Reader.
func (p *keepProvider) ConfiguredFunctions(context.Context) (map[string]*schema.Function, diag.List) {
	return nil, nil
}

// ValidateResource implements provider.Reader.
func (p *keepProvider) ValidateResource(_ context.Context, mode addr.Mode, typeName string, config cty.Value) diag.List {
	block, diags := blockOf(mode, typeName)
	switch {
	case diags.HasErrors():
		return diags
	case !block.Conforms(config) || config.IsNull() || !config.IsKnown():
		return unprepared()
	}
	c := config.AsValueMap()
	if diags := checkNumbers(block, c); diags.HasErrors() {
		return diags
	}
	switch {
	case mode == addr.Managed:
		return checkName(c["name"], "")
	case mode == addr.Ephemeral && typeName == secretType:
		return checkName(c["name"], secretIDPrefix)
	case mode == addr.Ephemeral && typeName == leaseType:
		return checkTTL(c["ttl"])
	case mode == addr.Ephemeral && typeName == tunnelType:
		return checkTunnel(c)
	case mode == addr.Ephemeral && typeName == commandType:
		return checkCommand(c)
	case mode == addr.Ephemeral && typeName == passwordType && config.IsWhollyKnown(): // arguments depend on each other
		_, diags := recipeOf(c)
		return diags
	}
	return nil
}

func unsupported(format string, args ...any) diag.List {
	return diag.Errorf("Operation not supported by provider", format, args...)
}
