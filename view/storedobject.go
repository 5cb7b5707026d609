package view

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/value"
)

// storedObject is one object of a state, decoded, with its schema.
type storedObject struct {
	addr     addr.Object
	provider addr.Provider
	object   *state.Object
	schema   *schema.Schema // nil if unknown
	value    cty.Value      // with sensitive marks
}

// objectsOf returns the objects of an instance, the current one first.
func objectsOf(a addr.Instance, inst *state.Instance, s Schemas) ([]storedObject, error) {
	var out []storedObject
	add := func(key addr.Deposed, obj *state.Object) error {
		so := storedObject{addr: addr.Object{Instance: a, Deposed: key}, provider: inst.Provider.Provider, object: obj}
		if s != nil {
			so.schema = s.Resource(so.provider, a.Resource.Mode, a.Resource.Type)
		}
		var err error
		if so.value, err = so.decode(); err != nil {
			return fmt.Errorf("%s: %w", so.addr, err)
		}
		out = append(out, so)
		return nil
	}
	if inst.Current != nil {
		if err := add(addr.Current, inst.Current); err != nil {
			return nil, err
		}
	}
	for _, key := range inst.DeposedKeys() {
		if err := add(key, inst.Deposed[key]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decode decodes the value by the schema. If the schema does not fit, because an older or newer provider
// wrote the object, the type follows from the stored text alone.
func (so *storedObject) decode() (cty.Value, error) {
	if so.schema != nil && so.schema.Version == so.object.SchemaVersion {
		if v, err := so.object.Decode(so.schema.Block.Type()); err == nil {
			return markSchema(so.schema.Block.NullWriteOnly(v), so.schema.Block), nil
		}
	}
	so.schema = nil
	if so.object.JSON() == nil {
		flat := map[string]cty.Value{}
		for k, v := range so.object.Flatmap {
			flat[k] = cty.StringVal(v)
		}
		return cty.ObjectVal(flat), nil
	}
	ty, err := ctyjson.ImpliedType(so.object.JSON())
	if err != nil {
		return cty.NilVal, fmt.Errorf("the stored attributes are not valid: %w", err)
	}
	return so.object.Decode(ty)
}

// markSchema marks the parts that the schema declares sensitive.
func markSchema(v cty.Value, b *schema.Block) cty.Value {
	if b == nil || !b.HasSensitive() || v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return v
	}
	raw, marks := v.UnmarkDeepWithPaths()
	return value.MarkPaths(raw.MarkWithPaths(marks), b.SensitivePaths(raw), value.Sensitive)
}

// providerName returns the source address, "" for the zero Provider.
func providerName(p addr.Provider) string {
	if p.IsZero() {
		return ""
	}
	return p.String()
}
