package encryption

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Options are the input of a Set.
type Options struct {
	Config *config.Encryption // nil for none
	// Evaluate returns the known value of an expression without marks. If it is going to be stored in clear,
	// it must be neither sensitive nor ephemeral.
	Evaluate func(expr hcl.Expression, stored bool) (cty.Value, diag.List)
	// Environ has the environment variables by name, which key management services are found with, and Env
	// in the form for commands that are run.
	Environ  map[string]string
	Env      []string
	Client   *http.Client   // for requests to OpenBao; it follows no redirects
	Services cloud.Services // for requests to clouds
	Random   io.Reader      // of keys, salts and nonces
	Leaks    *leak.Guard    // remembers secret arguments and keys; nil for nothing
}

// Set has the codecs for all kinds of files. Codecs are nil for files that are not encrypted. The encryption
// of saved plans and of states is independent of each other.
type Set struct {
	State, Plan *Codec
	remotes     map[string]*Codec
}

// Remote returns the codec for the states that a data source reads, with the name that
// remote_state_data_source gives it; nil for none. The default of the configuration applies to data sources
// that have no block of their own.
func (s *Set) Remote(name string) *Codec {
	if c := s.remotes[name]; c != nil {
		return c
	}
	return s.remotes[""]
}

// New evaluates a configuration. It obtains no keys: this happens when they are needed. Interrupts, which
// cancel ctx, do not end requests for keys, since results are stored after them. Blocks that no target uses
// are not evaluated.
func New(ctx context.Context, o Options) (*Set, diag.List) {
	set := &Set{remotes: map[string]*Codec{}}
	if o.Config == nil {
		return set, nil
	}
	b := &builder{
		Options: o, ctx: context.WithoutCancel(ctx), methods: map[config.EncryptionName]*method{},
		keyrings: map[config.EncryptionName]*keyring{}, pending: map[config.EncryptionName]bool{},
	}
	set.State = b.codec("state", o.Config.State)
	set.Plan = b.codec("plan", o.Config.Plan)
	for _, name := range slices.Sorted(maps.Keys(o.Config.Remotes)) {
		set.remotes[name] = b.codec("remote_state_data_sources", o.Config.Remotes[name])
	}
	return set, b.diags
}

// builder makes the objects of the blocks that files use, once each.
type builder struct {
	Options
	ctx      context.Context
	methods  map[config.EncryptionName]*method
	keyrings map[config.EncryptionName]*keyring
	pending  map[config.EncryptionName]bool // key providers that are being made
	diags    diag.List
}

func (b *builder) errorAt(rng hcl.Range, summary, format string, args ...any) {
	b.diags = append(b.diags, diag.At(rng, summary, format, args...)...)
}

// codec returns the codec of a target; nil for none, or after an error.
func (b *builder) codec(block string, t *config.EncryptionTarget) *Codec {
	if t == nil {
		return nil
	}
	c := &Codec{block: block}
	enforced := b.enforced(t)
	for at := t; at != nil; at = at.Fallback {
		attr := at.Attrs["method"]
		if attr == nil {
			b.errorAt(at.Range, "Missing encryption method",
				"This %s block needs the argument \"method\", such as method.aes_gcm.NAME. It can also be given in the environment variable TF_ENCRYPTION, which is not set or lacks it.", block)
			return nil
		}
		m := b.method(attr)
		if m == nil {
			return nil
		}
		if m.plain && enforced {
			b.errorAt(attr.NameRange, "Unencrypted method is forbidden", "The %s block has enforced = true, so files must not be unencrypted. Remove this method, or enforced.", block)
			return nil
		}
		if m.plain {
			b.diags = append(b.diags, diag.At(attr.NameRange, "Unencrypted method configured",
				"The %s block allows unencrypted files, which anybody may have written. Remove this method when all files are encrypted.", block).AsWarnings()...)
		}
		c.methods = append(c.methods, m)
	}
	return c
}

// enforced evaluates the argument that forbids unencrypted files; false if it is absent.
func (b *builder) enforced(t *config.EncryptionTarget) bool {
	attr := t.Attrs["enforced"]
	if attr == nil {
		return false
	}
	v, ok := b.evaluate(attr, argument{ty: cty.Bool}, t.Range)
	return ok && !v.IsNull() && v.True()
}

// reference returns the block that an expression names, as "root.type.name".
func (b *builder) reference(expr hcl.Expression, root string) (config.EncryptionName, bool) {
	t, hd := hcl.AbsTraversalForExpr(expr)
	if !hd.HasErrors() && len(t) == 3 && t.RootName() == root {
		kind, ok1 := t[1].(hcl.TraverseAttr)
		name, ok2 := t[2].(hcl.TraverseAttr)
		if ok1 && ok2 {
			return config.EncryptionName{Type: kind.Name, Name: name.Name}, true
		}
	}
	form := root + ".TYPE.NAME"
	if hcljson.IsJSONExpression(expr) {
		form = `"` + form + `"`
	}
	b.errorAt(expr.Range(), "Invalid encryption reference", "Write the block that is meant as %s.", form)
	return config.EncryptionName{}, false
}

// method returns the method that an argument names; nil after an error.
func (b *builder) method(attr *hcl.Attribute) *method {
	name, ok := b.reference(attr.Expr, methods.root)
	if !ok {
		return nil
	}
	if m, made := b.methods[name]; made {
		return m
	}
	var m *method
	if n, ok := declared(b, methods, b.Config.Methods, name, attr); ok {
		m = &method{EncryptionName: n.name, make: n.opened, ctx: b.ctx, boxes: map[string]box{}}
		m.plain = n.opened == nil
		if len(n.refs) > 0 {
			m.keys = n.refs[0]
		}
	}
	b.methods[name] = m
	return m
}

// keyring returns the key provider that an argument names; nil after an error.
func (b *builder) keyring(attr *hcl.Attribute) *keyring {
	name, ok := b.reference(attr.Expr, keyProviders.root)
	if !ok {
		return nil
	}
	if b.pending[name] {
		b.errorAt(attr.Expr.Range(), "Cycle of key providers", "The key provider %q %q gets its key from itself. Remove one of the references that lead back to it.", name.Type, name.Name)
		return nil
	}
	if k, made := b.keyrings[name]; made {
		return k
	}
	b.pending[name] = true
	var k *keyring
	if n, ok := declared(b, keyProviders, b.Config.KeyProviders, name, attr); ok {
		k = &keyring{EncryptionName: n.name, provider: n.opened, chain: n.refs, leaks: b.Leaks}
		k.alias = n.args.text(aliasArgument, k.String())
	}
	delete(b.pending, name)
	b.keyrings[name] = k
	return k
}

// opening is a method or a key provider that a block declares.
type opening[T any] struct {
	name   config.EncryptionName
	args   arguments
	refs   []*keyring // the key providers that it names
	opened T
}

// declared opens the block that a reference names, and before it the key providers that it refers to; false
// after an error. attr has the reference.
func declared[T any](b *builder, s family[T], blocks map[config.EncryptionName]*config.EncryptionBlock, name config.EncryptionName, attr *hcl.Attribute) (out opening[T], ok bool) {
	block, types := blocks[name], keys(s.types)
	if other := misspelledKind(name, blocks, types); block == nil && other.Name != "" {
		name, block = other, blocks[other] // whose type is an error below
	}
	if block == nil {
		b.errorAt(attr.Expr.Range(), "Reference to undeclared "+s.noun, "There is no block %s %q %q.%s", s.root, name.Type, name.Name, similar(name, blocks))
		return out, false
	}
	t, ok := s.types[name.Type]
	if !ok {
		b.errorAt(block.Range, "Unsupported "+s.noun, "There is no %s of the type %q.%s %s: %s.", s.noun, name.Type, diag.DidYouMean(name.Type, types), s.list, diag.Names(types))
		return out, false
	}
	known := maps.Clone(s.common)
	maps.Copy(known, t.arguments)
	out.name = name
	if out.args, out.refs, ok = b.arguments(block, known); !ok || t.open == nil {
		return out, ok
	}
	var err error
	if out.opened, err = t.open(b.ctx, out.args, b.Options); err != nil {
		b.errorAt(block.Range, "Invalid "+s.noun, "In %s %q %q, %s.", s.root, name.Type, name.Name, err)
	}
	return out, err == nil
}

// arguments evaluates the arguments of a block. refs are the key providers that it names, in the order of the
// arguments' names.
func (b *builder) arguments(block *config.EncryptionBlock, known map[string]argument) (out arguments, refs []*keyring, ok bool) {
	out, ok = arguments{}, true
	for _, name := range slices.Sorted(maps.Keys(block.Attrs)) {
		if _, exists := known[name]; !exists {
			b.errorAt(block.Attrs[name].NameRange, "Unsupported argument", "%q has no argument %q.%s", block.Type, name, diag.DidYouMean(name, keys(known)))
			ok = false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		attr, arg := block.Attrs[name], known[name]
		switch {
		case attr == nil && arg.required:
			b.errorAt(block.Range, "Missing required argument", "%q needs the argument %q.", block.Type, name)
			ok = false
		case attr == nil:
		case arg.ty == cty.NilType:
			k := b.keyring(attr)
			refs, ok = append(refs, k), ok && k != nil
			out[name] = cty.True
		default:
			v, valid := b.evaluate(attr, arg, block.Range)
			if valid && arg.secret {
				b.Leaks.Remember(source(block.EncryptionName), v.Mark(value.Sensitive), arg.ty)
			}
			if out[name] = v; !valid || v.IsNull() {
				delete(out, name)
			}
			ok = ok && valid
		}
	}
	return out, refs, ok
}

// evaluate returns the value of an argument. If its type is wrong, the error is at rng: the line of the
// argument may show a key.
func (b *builder) evaluate(attr *hcl.Attribute, arg argument, rng hcl.Range) (cty.Value, bool) {
	v, diags := b.Evaluate(attr.Expr, arg.stored)
	if b.diags = append(b.diags, diags...); diags.HasErrors() {
		return cty.NilVal, false
	}
	v, err := convert.Convert(v, arg.ty)
	if err != nil || !v.IsWhollyKnown() {
		b.errorAt(rng, "Invalid argument", "The argument %q must be a %s.", attr.Name, arg.ty.FriendlyName())
		return cty.NilVal, false
	}
	return v, true
}

// keys returns the keys of a table in order, for messages.
func keys[T any](table map[string]T) []string { return slices.Sorted(maps.Keys(table)) }

// misspelledKind returns the name of a block that is probably meant by a reference, and whose type does not
// exist, while the type of the reference does; the zero value if there is none.
func misspelledKind(name config.EncryptionName, declared map[config.EncryptionName]*config.EncryptionBlock, kinds []string) (found config.EncryptionName) {
	if !slices.Contains(kinds, name.Type) {
		return found
	}
	for other := range declared {
		near := other.Name == name.Name && !slices.Contains(kinds, other.Type) && diag.Nearest(other.Type, []string{name.Type}) != ""
		if near && (found.Type == "" || other.Type < found.Type) {
			found = other
		}
	}
	return found
}

// similar suggests the name of another block of the same type.
func similar(name config.EncryptionName, declared map[config.EncryptionName]*config.EncryptionBlock) string {
	var names []string
	for other := range declared {
		names = append(names, other.Type+"."+other.Name)
	}
	slices.Sort(names)
	return diag.DidYouMean(name.Type+"."+name.Name, names)
}
