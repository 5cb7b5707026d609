package blockhash

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// writer is a text to be hashed. Each part has a length or a fixed size, so that no two sequences of parts
// look alike.
type writer []byte

func (w *writer) number(n int) { *w = binary.BigEndian.AppendUint64(*w, uint64(n)) }

func (w *writer) text(s string) {
	w.number(len(s))
	*w = append(*w, s...)
}

func (w *writer) bytes(b []byte) {
	w.number(len(b))
	*w = append(*w, b...)
}

func (w *writer) flag(b bool) {
	if b {
		*w = append(*w, 1)
	} else {
		*w = append(*w, 0)
	}
}

// typ writes a type, with its optional attributes.
func (w *writer) typ(ty cty.Type) error {
	if ty == cty.NilType {
		w.text("")
		return nil
	}
	b, err := ctyjson.MarshalType(ty)
	w.bytes(b)
	return err
}

// value writes a value without marks, with its type.
func (w *writer) value(v cty.Value) error {
	if v == cty.NilVal {
		w.text("")
		return nil
	}
	if err := w.typ(v.Type()); err != nil {
		return err
	}
	b, err := msgpack.Marshal(v, v.Type())
	w.bytes(b)
	return err
}

// defaults writes the default values of optional attributes.
func (w *writer) defaults(d *typeexpr.Defaults) error {
	w.flag(d != nil)
	if d == nil {
		return nil
	}
	w.number(len(d.DefaultValues))
	for _, name := range slices.Sorted(maps.Keys(d.DefaultValues)) {
		w.text(name)
		if err := w.value(d.DefaultValues[name]); err != nil {
			return err
		}
	}
	w.number(len(d.Children))
	for _, name := range slices.Sorted(maps.Keys(d.Children)) {
		w.text(name)
		if err := w.defaults(d.Children[name]); err != nil {
			return err
		}
	}
	return nil
}

// traversal writes the steps of a traversal.
func (w *writer) traversal(t hcl.Traversal) {
	w.number(len(t))
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			w.text("." + step.Name)
		case hcl.TraverseAttr:
			w.text("." + step.Name)
		case hcl.TraverseIndex:
			w.text("[" + step.Key.GoString())
		case hcl.TraverseSplat:
			w.text("*")
		}
	}
}
