package workdir

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state/store"
)

// backendKind is one kind of backend: what differs between them. Everything else, such as recording a backend
// and moving states from one to another, works on the value of its configuration.
type backendKind struct {
	// arguments are those of its block. In the value of a configuration, an absent one is null, and so is an
	// empty string.
	arguments map[string]cty.Type
	// open opens the store, which encrypts with c unless that is nil. files are for a kind that keeps states
	// in files of this machine; others have no use for them.
	open func(cfg cty.Value, files StateFiles, c store.Cipher) (store.Store, error)
	// place says for a message where the state of the default workspace is.
	place func(cfg cty.Value) string
	// identity returns a text that is the same for configurations that keep states in the same places,
	// however they write it.
	identity func(cfg cty.Value) string
}

// backendKinds has every kind of backend by the name that blocks give it. A new one is one more entry here,
// for a store that passes storetest. The data source terraform_remote_state has a reader of its own, in
// provider/builtin.
var backendKinds = map[string]backendKind{defaultBackend: localBackend}

// defaultBackend is the kind that keeps the states of a configuration without a backend block.
const defaultBackend = "local"

// StateFiles name files that replace those of the local backend, for whatever workspace.
type StateFiles struct {
	State  string // to read; the one of the workspace if empty
	Out    string // to write; the one that is read if empty
	Backup string // for the previous state; the one that is written with ".backup" if empty, none if "-"
	Stamp  string // if not empty, stands in the usual name of the backup, so that it replaces no other
}

// backend says where states are: a backend block, or its absence.
type backend struct {
	kind backendKind
	name string    // of the kind
	cfg  cty.Value // an object of all arguments of the kind; cty.NilVal without a block
}

// backendOf returns the backend of a kind with the arguments that are not null.
func (d *Dir) backendOf(name string, arguments map[string]cty.Value) backend {
	b := backend{kind: d.kinds[name], name: name}
	attrs := map[string]cty.Value{}
	for arg, ty := range b.kind.arguments {
		attrs[arg] = cty.NullVal(ty)
		if v, ok := arguments[arg]; ok && !(ty == cty.String && !v.IsNull() && v.AsString() == "") {
			attrs[arg] = v
		}
	}
	b.cfg = cty.ObjectVal(attrs)
	return b
}

// undeclaredBackend is the backend of a configuration without a block.
func (d *Dir) undeclaredBackend() backend {
	return backend{kind: d.kinds[defaultBackend], name: defaultBackend}
}

func (b backend) declared() bool { return b.cfg != cty.NilVal }

// config returns the arguments, all of them null without a block.
func (b backend) config() cty.Value {
	if b.declared() {
		return b.cfg
	}
	return cty.NullVal(cty.Object(b.kind.arguments))
}

func (b backend) place() string { return b.kind.place(b.config()) }

func (b backend) equal(other backend) bool {
	return b.declared() == other.declared() && b.name == other.name && (!b.declared() || b.cfg.RawEquals(other.cfg))
}

// samePlace reports whether two backends keep states in the same places.
func (b backend) samePlace(other backend) bool {
	return b.name == other.name && b.kind.identity(b.config()) == other.kind.identity(other.config())
}

// coveredBy reports whether other has everything that b says, and perhaps more.
func (b backend) coveredBy(other backend) bool {
	if !other.declared() || b.name != other.name {
		return false
	}
	for name, v := range b.cfg.AsValueMap() {
		if !v.IsNull() && !v.RawEquals(other.cfg.GetAttr(name)) {
			return false
		}
	}
	return true
}

// hash identifies what a backend block says, with the same number in all engines; 0 without one.
func (b backend) hash() uint64 {
	if !b.declared() {
		return 0
	}
	return uint64(cty.TupleVal([]cty.Value{cty.StringVal(b.name), b.cfg}).Hash())
}

func (b backend) open(files StateFiles, c store.Cipher) (store.Store, diag.List) {
	s, err := b.kind.open(b.config(), files, c)
	if err != nil {
		return nil, diag.Errorf("Error loading the backend", "%s", diag.Sentence(err))
	}
	return s, nil
}

// declaredBackend evaluates the backend block of a root module, with settings over it: arguments of the form
// name=value, and names of files that give values to arguments.
func (d *Dir) declaredBackend(root *config.Module, settings []string) (backend, diag.List) {
	none := d.undeclaredBackend()
	if root == nil || root.Backend == nil {
		if len(settings) > 0 {
			return none, diag.Warnf("Missing backend configuration", "-backend-config was used without a \"backend\" block in the configuration, so it has no effect.")
		}
		return none, nil
	}
	block := root.Backend
	kind, ok := d.kinds[block.Type]
	if !ok {
		return none, diag.At(block.Range, "Unsupported backend type", "This version of Mayfly does not support the backend %q.%s Supported backends: %s.", block.Type, diag.DidYouMean(block.Type, slices.Collect(maps.Keys(d.kinds))), names(d.kinds))
	}
	in := &arguments{kind: kind, name: block.Type, values: map[string]cty.Value{}}
	attrs, hd := block.Body.JustAttributes()
	diags := diag.FromHCL(hd)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		diags = append(diags, in.set(attrs[name])...)
	}
	for _, text := range settings {
		diags = append(diags, in.override(text)...)
	}
	return d.backendOf(block.Type, in.values), diags
}

// arguments collects the arguments of a backend.
type arguments struct {
	kind   backendKind
	name   string // of the kind
	values map[string]cty.Value
}

func (a *arguments) set(attr *hcl.Attribute) diag.List {
	val, hd := attr.Expr.Value(nil)
	if hd.HasErrors() {
		return diag.FromHCL(hd)
	}
	ty, ok := a.kind.arguments[attr.Name]
	if !ok {
		return diag.At(attr.NameRange, "Unsupported argument", "The backend %q has no argument %q.%s It has %s.", a.name, attr.Name, a.similar(attr.Name), names(a.kind.arguments))
	}
	val, err := convert.Convert(val, ty)
	if err != nil || !val.IsWhollyKnown() {
		return diag.At(attr.Expr.Range(), "Invalid backend configuration", "The argument %q must be a %s.", attr.Name, ty.FriendlyName())
	}
	a.values[attr.Name] = val
	return nil
}

// override applies one setting.
func (a *arguments) override(text string) diag.List {
	if name, val, ok := strings.Cut(text, "="); ok {
		return a.setText(strings.TrimSpace(name), strings.TrimSpace(val))
	}
	declared := map[string]*config.Variable{}
	for name := range a.kind.arguments {
		declared[name] = &config.Variable{Name: name}
	}
	file, diags := config.LoadVarsFile(config.OSFS{Pipes: true}, text, declared)
	if diags.HasErrors() {
		return diags
	}
	for _, name := range slices.Sorted(maps.Keys(file.Values)) {
		v := file.Values[name]
		diags = append(diags, a.set(&hcl.Attribute{Name: name, Expr: v.Expr, NameRange: v.NameRange, Range: v.Range})...)
	}
	return diags.WithSource(text, file.Source)
}

func (a *arguments) setText(name, text string) diag.List {
	ty, ok := a.kind.arguments[name]
	if !ok {
		return diag.Errorf("Invalid backend configuration argument", "An option -backend-config sets the argument %q, which the backend %q does not have.%s It has %s.",
			name, a.name, a.similar(name), names(a.kind.arguments))
	}
	val, err := convert.Convert(cty.StringVal(text), ty)
	if err != nil {
		return diag.Errorf("Invalid backend configuration argument", "An option -backend-config sets the argument %q, which must be a %s.", name, ty.FriendlyName())
	}
	a.values[name] = val
	return nil
}

func (a *arguments) similar(name string) string {
	return diag.DidYouMean(name, slices.Collect(maps.Keys(a.kind.arguments)))
}

// names lists the keys of a table for a sentence.
func names[T any](table map[string]T) string { return diag.Names(slices.Collect(maps.Keys(table))) }
