package object

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/provider/builtin"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Mark returns v, as references to it see it, with the sensitive marks that the schema and the configuration
// ask for, and without values that are not stored, except computed ones. of is the configuration that v was
// made for, without a value if that is not known; records are the state's records of the object.
func (op *Op) Mark(v cty.Value, of Config, records []state.Withheld) cty.Value {
	if v.IsNull() {
		return v
	}
	w := &op.Withheld
	if !v.IsKnown() {
		return Unknown(w, v.Type())
	}
	bySchema := op.Schema.Block.SensitivePaths(v)
	shown := w.Hide(v)
	var seen schema.Patterns
	for _, c := range withheld.ComputedValues(w, v, of.Value, records) {
		m := computedMark(w, c.Path)
		if c.Past && op.Kept != nil {
			if kept, ok := op.Kept(op.Obj, c.Path); ok {
				c.Now, c.Past = kept, false
			}
		}
		m.Type = value.TypeName(c.Now.Type())
		if m.Past = c.Past; c.Record != nil {
			m.Version, m.Number = c.Record.Value(), c.Record.Number
		}
		seen = append(seen, c.Path)
		shown = schema.Put(shown, c.Path, c.Now.Mark(value.Ephemeral).Mark(m))
	}
	visible := func(paths []cty.Path) []cty.Path {
		return slices.DeleteFunc(slices.Clone(paths), func(p cty.Path) bool { return w.Names.Matches(p) && !seen.Matches(p) })
	}
	shown = value.MarkPaths(shown, visible(bySchema), value.Sensitive)
	return value.MarkPaths(shown, op.mirrorSensitivity(shown, visible(of.Sensitive)), value.Sensitive)
}

// computedMark returns the mark of a computed attribute.
func computedMark(w *withheld.Attributes, path cty.Path) value.Computed {
	return value.Computed{By: w.Object.Instance.String() + "." + schema.PatternString(path), ByPolicy: w.ByPolicy.Matches(path)}
}

// Unknown returns an object of a type of which nothing is known, as references see it. If it has computed
// attributes that are not stored, its attributes are unknown one by one, so that those can be ephemeral.
func Unknown(w *withheld.Attributes, ty cty.Type) cty.Value {
	if len(w.Computed) == 0 || !ty.IsObjectType() {
		return cty.UnknownVal(ty)
	}
	attrs := map[string]cty.Value{}
	for name, of := range ty.AttributeTypes() {
		attrs[name] = cty.UnknownVal(of)
	}
	for _, path := range w.Computed {
		name, ok := path[0].(cty.GetAttrStep)
		if _, has := attrs[name.Name]; !ok || !has || len(path) > 1 {
			continue // the elements that it is in are not known
		}
		m := computedMark(w, path)
		m.Type = value.TypeName(attrs[name.Name].Type())
		attrs[name.Name] = attrs[name.Name].Mark(value.Ephemeral).Mark(m)
	}
	return cty.ObjectVal(attrs)
}

// mirrorSensitivity adds paths to the sensitive paths of an object for results in which the built-in
// provider repeats an argument. An unknown result is sensitive only if the whole argument is: it has no
// parts to mark yet, and its other parts may be shown.
func (op *Op) mirrorSensitivity(v cty.Value, paths []cty.Path) []cty.Path {
	from, to, ok := builtin.Echo(op.TypeName())
	if !ok || op.Source != addr.BuiltinProvider || v.IsNull() || !v.IsKnown() {
		return paths
	}
	bare, _ := v.Unmark()
	result, _ := bare.GetAttr(to).Unmark()
	out := slices.Clip(paths)
	for _, p := range paths {
		if !p.HasPrefix(cty.GetAttrPath(from)) {
			continue
		}
		if len(p) == 1 || result.IsWhollyKnown() {
			out = append(out, append(cty.GetAttrPath(to), p[1:]...))
		}
	}
	return out
}

// DropMirrored removes from stored paths those that mirrorSensitivity adds, since a state may have been
// written without them.
func (op *Op) DropMirrored(paths []cty.Path) []cty.Path {
	_, result, ok := builtin.Echo(op.TypeName())
	if !ok || op.Source != addr.BuiltinProvider {
		return paths
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p cty.Path) bool { return p.HasPrefix(cty.GetAttrPath(result)) })
}

// Seal seals v, with the given paths as sensitive ones. It returns false if v must not be stored, which was
// reported.
func (op *Op) Seal(v cty.Value, paths []cty.Path) (value.Durable, bool) {
	return seal(op, op.Withheld.Hide(v), op.Withheld.Names.Outside(paths))
}

// seal is Seal for a value from which nothing has to be taken.
func seal(op *Op, v cty.Value, paths []cty.Path) (value.Durable, bool) {
	d, err := value.Seal(value.MarkPaths(v, op.mirrorSensitivity(v, paths), value.Sensitive), op.Schema.Block.Type(), op.Schema.Block)
	if err != nil {
		op.Report(diag.Errorf("Object cannot be stored", "The object of %s cannot be stored: %s.", op.Obj, err))
		return value.Durable{}, false
	}
	return d, true
}

// SealIdentity seals an identity; absent ones give the zero value.
func (op *Op) SealIdentity(id cty.Value) value.Durable {
	if id.IsNull() {
		return value.Durable{}
	}
	d, err := value.Seal(id, id.Type(), nil)
	if err != nil {
		op.Report(diag.Errorf("Identity cannot be stored", "The identity of %s cannot be stored: %s.", op.Obj, err))
	}
	return d
}

// identityVersion returns the version of the type's identity schema, 0 if it has none.
func (op *Op) identityVersion() int64 {
	c, diags := op.Providers.Catalog(op.Ctx, op.Source)
	if diags.HasErrors() {
		return 0
	}
	if id, _ := c.Identity(op.TypeName()); id != nil {
		return id.Version
	}
	return 0
}

// StateObject makes the state object for v, which must be wholly known, with the state's records of the
// object like, unless that is nil. It returns nil if v must not be stored, which was reported.
func (op *Op) StateObject(v cty.Value, paths []cty.Path, private []byte, identity cty.Value, like *state.Object) *state.Object {
	whole := v
	v = op.Withheld.HideStored(v, like)
	d, ok := seal(op, v, op.Withheld.Names.Outside(paths))
	if !ok {
		return nil
	}
	o, err := state.ObjectFrom(d, Additions(op.Source)...)
	if err != nil {
		op.Report(diag.Errorf("Object cannot be stored", "The object of %s cannot be stored: %s.", op.Obj, err))
		return nil
	}
	if like != nil {
		o.Tainted, o.Dependencies, o.CreateBeforeDestroy, o.SkipDestroy = like.Tainted, like.Dependencies, like.CreateBeforeDestroy, like.SkipDestroy
	}
	o.Withheld = slices.DeleteFunc(op.Withheld.Records(whole, cty.NilVal, like), func(w state.Withheld) bool {
		kept, err := w.Path.Apply(v)
		return err == nil && !kept.IsNull()
	})
	o.SchemaVersion, o.Private, o.Hidden = op.Schema.Version, private, op.hidden(v)
	if id := op.SealIdentity(identity); !id.IsZero() {
		if o.Identity, err = state.IdentityFrom(id); err != nil {
			op.Report(diag.Errorf("Identity cannot be stored", "The identity of %s cannot be stored: %s.", op.Obj, err))
		}
		o.IdentityVersion = op.identityVersion()
	}
	return o
}

// hidden returns the paths of attributes that the schema calls sensitive, not nil if there are none, and of
// those with content of another state.
func (op *Op) hidden(v cty.Value) []cty.Path {
	out := []cty.Path{}
	if op.Schema.Block.HasSensitive() {
		out = append(out, op.Schema.Block.SensitivePaths(v)...)
	}
	if op.Source == addr.BuiltinProvider {
		for _, name := range builtin.Foreign(op.TypeName()) {
			out = append(out, cty.GetAttrPath(name))
		}
	}
	return out
}

// KeepIdentity has a new record of an object keep the identity of the earlier one, in the version that it has
// there, if nothing took its place: it could not be upgraded, or must not be stored as it was upgraded.
func (op *Op) KeepIdentity(n, earlier *state.Object) {
	if n == nil || earlier == nil || len(n.Identity) > 0 || len(earlier.Identity) == 0 {
		return
	}
	if c, diags := op.Providers.Catalog(op.Ctx, op.Source); !diags.HasErrors() {
		if id, _ := c.Identity(op.TypeName()); id == nil {
			return // the provider has identified objects of the type once
		}
	}
	n.Identity, n.IdentityVersion = earlier.Identity, earlier.IdentityVersion
}

// Additions returns the arguments of the built-in provider that other engines do not know, which stored
// objects omit as long as they are null. Other providers have none.
func Additions(p addr.Provider) []string {
	if p != addr.BuiltinProvider {
		return nil
	}
	return builtin.Additions
}

// HasNewIdentity reports whether refreshing returned an identity that differs from the stored one, or uses
// another version of the identity schema.
func (op *Op) HasNewIdentity(before, after Prior) bool {
	switch {
	case after.Identity.IsNull():
		return false
	case len(before.Object.Identity) == 0:
		return true
	}
	return before.Object.IdentityVersion != op.identityVersion() || !before.Identity.RawEquals(after.Identity)
}

// StorableConfig returns the configuration with numbers in the precision that is stored, since later values
// are compared with it. It returns false if a part outside of write-only arguments cannot be stored, which
// was reported: nothing may be made of it.
func (op *Op) StorableConfig(cfg cty.Value) (cty.Value, bool) {
	ty := op.Block().Type()
	whole, faults := value.Storable(cfg, ty)
	if len(faults) == 0 {
		return whole, true
	}
	var diags diag.List
	_, faults = value.Storable(op.Block().NullWriteOnly(cfg), ty)
	for _, f := range faults {
		diags = append(diags, diag.Diagnostic{
			Summary: "Value cannot be stored", Path: f.Path,
			Detail: fmt.Sprintf("The argument %s of %s has a value that cannot be stored: %s.", schema.PathIn(cfg.Type(), f.Path), op.Obj, f.Err),
		})
	}
	op.Report(diags)
	return cfg, len(faults) == 0
}
