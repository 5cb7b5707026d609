package workdir

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/encryption"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/state/store"
)

// StateFiles name files that replace the files of the local backend, for whatever workspace.
type StateFiles = backend.StateFiles

// Backend is where the states of a working directory are. It belongs to the goroutine of its Dir.
type Backend struct {
	dir       *Dir
	locations *locations
	encrypted *encryption.Set // encryption of the loaded configuration, once it was needed
}

// locations are where states may be: the kinds of backends, and the record of the one that was chosen.
type locations struct {
	files  *files
	kinds  map[string]*backend.Kind
	stores *stateStores
}

// location says where states are: a backend block, or its absence.
type location struct {
	kind *backend.Kind
	cfg  cty.Value // an object of all arguments of the kind, some with marks; cty.NilVal without a block
	// sealed has encrypted secrets of a recorded location that are not in cfg; nil for none.
	sealed *sealedArguments
}

// locationOf returns the location of a kind with the arguments that are not null.
func locationOf(kind *backend.Kind, arguments map[string]cty.Value) location {
	return location{kind: kind, cfg: kind.Object(arguments)}
}

// undeclared is the location of a configuration without a block.
func (ls *locations) undeclared() location { return location{kind: ls.kinds[backend.Local]} }

func (l location) declared() bool { return l.cfg != cty.NilVal }

// config returns the arguments, all of them null without a block.
func (l location) config() cty.Value {
	if l.declared() {
		return l.cfg
	}
	return l.kind.Block.Empty()
}

// public returns the location without arguments that must not be written to files.
func (l location) public() location {
	if l.declared() {
		l.cfg = l.kind.Public(l.cfg)
	}
	return l
}

// equal reports whether two locations are the same but for their secrets.
func (l location) equal(other location) bool {
	return l.declared() == other.declared() && backend.Same(l.kind, other.kind) &&
		(!l.declared() || l.public().cfg.RawEquals(other.public().cfg))
}

// coveredBy reports whether other has everything that l says but for its secrets, and perhaps more.
func (l location) coveredBy(other location) bool {
	if !other.declared() || !backend.Same(l.kind, other.kind) {
		return false
	}
	for name, v := range l.public().cfg.AsValueMap() {
		if !v.IsNull() && !v.RawEquals(other.cfg.GetAttr(name)) {
			return false
		}
	}
	return true
}

// hash identifies the content of a backend block, but for its secrets, with the same number in all engines; 0
// without one.
func (l location) hash() uint64 { return l.public().fullHash() }

// fullHash is hash with the secrets, as other engines compute it.
func (l location) fullHash() uint64 {
	if !l.declared() {
		return 0
	}
	cfg, _ := l.cfg.UnmarkDeep()
	return uint64(cty.TupleVal([]cty.Value{cty.StringVal(l.kind.Name), cfg}).Hash())
}

func (f *files) lookup(name string) string { return f.vars[name] }

// filled returns the arguments of a location, completed from the encrypted part of the record, if it can be
// read, and from the environment.
func (ls *locations) filled(l location) cty.Value {
	if l.kind.Provided == nil { // places in providers are compared without secrets
		if opened, diags := ls.unseal(l); !diags.HasErrors() {
			l = opened
		}
	}
	cfg, err := l.kind.FromEnvironment(l.config(), ls.files.lookup)
	if err != nil {
		return l.config() // opening the store reports it
	}
	return cfg
}

// placeOf says for a message where the state of the default workspace is.
func (ls *locations) placeOf(l location) string { return l.kind.Place(ls.filled(l)) }

// samePlace reports whether two locations keep states in the same places.
func (ls *locations) samePlace(a, b location) bool {
	return backend.Same(a.kind, b.kind) && a.kind.Identity(ls.filled(a)) == b.kind.Identity(ls.filled(b))
}

// openLocation opens the store of a location.
func (b *Backend) openLocation(ctx context.Context, l location, files StateFiles, c store.Cipher) (store.Store, diag.List) {
	l, diags := b.locations.unseal(l)
	if diags.HasErrors() {
		return nil, diags
	}
	cfg, err := l.kind.Complete(l.config(), b.dir.files.lookup)
	var s store.Store
	if err == nil {
		for _, text := range l.kind.Credentials(cfg) {
			b.dir.opt.Leaks.Remember(leak.Source{Kind: leak.Credential, Address: "the " + l.kind.String()}, cty.StringVal(text), cty.String)
		}
		s, err = l.kind.Open(ctx, cfg, backend.Env{Files: files, Cipher: c, Lookup: b.dir.files.lookup, Version: b.dir.opt.Version, JournalDir: b.dir.files.journalDir(), Host: b.dir.Packages.host})
	}
	if err != nil {
		return nil, diag.Errorf("Error loading the backend", "%s", diag.Sentence(err))
	}
	return s, nil
}

// declaredLocation evaluates the backend or state_store block of a root module, with settings over it:
// arguments of the form name=value, and names of files that give values to arguments.
func (ls *locations) declaredLocation(ctx context.Context, root *config.Module, settings []string) (location, diag.List) {
	none := ls.undeclared()
	if root == nil || root.Backend == nil {
		if len(settings) > 0 {
			return none, diag.Warnf("Missing backend configuration", "-backend-config was used without a \"backend\" block in the configuration, so it has no effect.")
		}
		return none, nil
	}
	block := root.Backend
	kind, diags := ls.kindOf(ctx, block)
	if diags.HasErrors() {
		return none, diags
	}
	values, ds := kind.Decode(block.Body)
	if diags = append(diags, ds...); block.Store != nil {
		config, ds := kind.Provided.DecodeProvider(block.Store.Body)
		diags = append(diags, ds...)
		values[backend.ProviderArgument] = config
	}
	for _, text := range settings {
		diags = append(diags, override(kind, values, text)...)
	}
	return locationOf(kind, values), diags
}

// kindOf returns the kind of a block.
func (ls *locations) kindOf(ctx context.Context, block *config.Backend) (*backend.Kind, diag.List) {
	if block.Store != nil {
		return ls.stores.declared(ctx, block)
	}
	kind, ok := ls.kinds[block.Type]
	if !ok || kind.Name == backend.Cloud && !block.Cloud {
		return nil, unknownKind(block, ls.kinds)
	}
	return kind, nil
}

// otherBackendNames are names that people know the services behind backends by.
var otherBackendNames = map[string]string{
	"postgresql": "postgres", "aws": "s3", "gcp": "gcs", "google": "gcs", "azure": "azurerm", "k8s": "kubernetes", "file": "local",
}

func unknownKind(block *config.Backend, kinds map[string]*backend.Kind) diag.List {
	usable := backend.Usable(kinds)
	hint := diag.DidYouMean(block.Type, usable)
	if name := otherBackendNames[block.Type]; name != "" {
		hint = fmt.Sprintf(" Did you mean %q?", name)
	}
	if hint == "" && strings.Contains(block.Type, "_") { // as in names of types of providers
		hint = " For a state store of a provider, write a \"state_store\" block."
	}
	return diag.At(block.Range, "Unsupported backend type", "This version of Mayfly does not support the backend %q.%s Supported backends: %s.", block.Type, hint, diag.Series("and", usable))
}

// override applies one setting to the values of arguments.
func override(kind *backend.Kind, values map[string]cty.Value, text string) diag.List {
	if name, val, ok := strings.Cut(text, "="); ok {
		name = strings.TrimSpace(name)
		v, diags := kind.SetText(name, strings.TrimSpace(val))
		if !diags.HasErrors() {
			values[name] = v
		}
		return diags
	}
	body, source, diags := config.LoadBackendFile(config.OSFS{Pipes: true}, text, kind.Shown())
	if diags.HasErrors() {
		return diags
	}
	set, ds := kind.Decode(body)
	maps.Copy(values, set)
	return append(diags, ds...).WithSource(text, source)
}

// usable fails if a location is of a kind that this program cannot open.
func (b *Backend) usable(l location) diag.List {
	if l.kind.Usable() {
		return nil
	}
	detail := fmt.Sprintf("This version of Mayfly knows the arguments of the backend %q, but cannot use it. Use another backend, or none to keep the state in a file. Backends that it can use: %s.", l.kind.Name, diag.Series("and", backend.Usable(b.locations.kinds)))
	if b.dir.root != nil && b.dir.root.Backend != nil {
		return diag.At(b.dir.root.Backend.Range, "Unsupported backend type", "%s", detail)
	}
	return diag.Errorf("Unsupported backend type", "%s", detail)
}
