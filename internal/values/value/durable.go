package value

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Durable is a value in the only form that plans and states accept: encoded, with the paths of its sensitive
// parts beside it. It cannot contain an ephemeral value or a write-only argument, because Seal, its only
// constructor from live values, refuses them. The zero value is "no value". A Durable is immutable and safe
// for concurrent use, and a word in size: plans have several for each object, most of them without a value.
type Durable struct{ *sealed }

// sealed is the content of a Durable: the msgpack form of the value against ty, which has no room for
// marks, and the paths that were marked as sensitive.
type sealed struct {
	ty        cty.Type
	packed    []byte
	sensitive []cty.Path
}

// ErrSecret is returned by Seal for values that must not be stored. The message carries a path but never the
// value.
var ErrSecret = errors.New("an ephemeral value cannot be stored")

// Seal encodes v, which may have unknown parts and sensitive marks, for plan and state. ty is the type to
// encode against (the schema's type for resource objects; v.Type() for outputs). block may be nil for values
// that no schema describes. Seal fails with ErrSecret if v carries an ephemeral mark or a non-null write-only
// attribute of block, and with the error of a Fault if a part of v cannot be stored. A sealed value is read
// as it was: see Storable. Deprecation marks are dropped, and so are refinements of unknown parts, except
// that they are not null: a provider may have put anything into a prefix. cty.NilVal gives the zero Durable.
func Seal(v cty.Value, ty cty.Type, block *schema.Block) (Durable, error) {
	if v == cty.NilVal {
		return Durable{}, nil
	}
	if err := typeFault(v.Type(), MaxDepth); err != nil {
		return Durable{}, err
	}
	var sensitive []cty.Path
	var err error
	if !plain(v, true) {
		if v, sensitive, err = unmarked(v); err == nil {
			v, err = stored(v, ty)
		}
		if err != nil {
			return Durable{}, err
		}
	}
	packed, err := Pack(v, ty, block)
	if errors.Is(err, errMarked) {
		if v, sensitive, err = unmarked(v); err != nil {
			return Durable{}, err
		}
		packed, err = Pack(v, ty, block)
	}
	if block != nil && block.HasWriteOnly() {
		if paths := block.WriteOnlyPaths(v); len(paths) > 0 {
			return Durable{}, fmt.Errorf("%w: write-only attribute %s is not null", ErrSecret, schema.PathString(paths[0]))
		}
		if nulled, changed := block.DropWriteOnly(v); changed { // a null may have a type that tells of a value
			v = nulled
			packed, err = Pack(v, ty, block)
		}
	}
	if err != nil {
		return Durable{}, fmt.Errorf("encoding a value: %w", err)
	}
	return Durable{&sealed{ty: ty, packed: packed, sensitive: sensitive}}, nil
}

// stored returns v as it is stored, and an error about the first part that cannot be.
func stored(v cty.Value, ty cty.Type) (cty.Value, error) {
	s := &storing{refined: true}
	v = s.value(v, ty, nil, MaxDepth)
	if len(s.faults) == 0 {
		return v, nil
	}
	f := s.faults[0]
	if len(f.Path) == 0 {
		return v, f.Err
	}
	return v, fmt.Errorf("%w: at %s", f.Err, where(f.Path))
}

// unmarked returns a value without its marks, and the paths of the sensitive ones. It fails with ErrSecret if
// there is an ephemeral one.
func unmarked(v cty.Value) (raw cty.Value, sensitive []cty.Path, err error) {
	raw, pvm := v.UnmarkDeepWithPaths()
	for _, pm := range pvm {
		for _, m := range []Mark{Ephemeral, EphemeralType, EphemeralKnown} {
			if _, ok := pm.Marks[m]; ok {
				return raw, nil, fmt.Errorf("%w: at %s", ErrSecret, where(pm.Path))
			}
		}
		if _, ok := pm.Marks[Sensitive]; ok {
			sensitive = append(sensitive, pm.Path)
		}
	}
	return raw, sensitive, nil
}

// where names a path in a message. The empty path, which is the value itself, would otherwise be an empty
// word.
func where(p cty.Path) string {
	if len(p) == 0 {
		return "the value as a whole"
	}
	return schema.PathString(p)
}

// Restore rebuilds a Durable from its parts, as read back from a plan file. packed must be the msgpack form
// against ty.
func Restore(ty cty.Type, packed []byte, sensitive []cty.Path) Durable {
	return Durable{&sealed{ty: ty, packed: packed, sensitive: sensitive}}
}

// IsZero reports whether d has no value at all, not even null.
func (d Durable) IsZero() bool { return d.sealed == nil || d.packed == nil }

// Same reports whether d and o have the same encoding and sensitive parts, which takes no decoding. Values
// that are not the same may still be equal.
func (d Durable) Same(o Durable) bool {
	return d.sealed == o.sealed || d.SameValue(o) && slices.EqualFunc(d.Sensitive(), o.Sensitive(), cty.Path.Equals)
}

// SameValue is Same for the values without their marks.
func (d Durable) SameValue(o Durable) bool {
	return !d.IsZero() && !o.IsZero() && bytes.Equal(d.packed, o.packed) && d.ty.Equals(o.ty)
}

// Equals reports whether both have the same value. The encodings, and the sensitive parts, may differ.
func (d Durable) Equals(o Durable) bool { return d.SameValue(o) || d.decodesTo(o) }

func (d Durable) decodesTo(o Durable) bool {
	x, errX := d.Unmarked()
	y, errY := o.Unmarked()
	return errX == nil && errY == nil && x != cty.NilVal && x.RawEquals(y)
}

// Type returns the type that d was sealed against.
func (d Durable) Type() cty.Type {
	if d.sealed == nil {
		return cty.NilType
	}
	return d.ty
}

// Packed returns the msgpack encoding. The caller must not change it.
func (d Durable) Packed() []byte {
	if d.sealed == nil {
		return nil
	}
	return d.packed
}

// Sensitive returns the paths of the sensitive parts. The caller must not change them.
func (d Durable) Sensitive() []cty.Path {
	if d.sealed == nil {
		return nil
	}
	return d.sensitive
}

// Live decodes d with its sensitive marks restored. The zero Durable gives cty.NilVal.
func (d Durable) Live() (cty.Value, error) {
	v, err := d.Unmarked()
	if err != nil || v == cty.NilVal {
		return v, err
	}
	return MarkPaths(v, d.sensitive, Sensitive), nil
}

// Unmarked decodes d without marks. The zero Durable gives cty.NilVal.
func (d Durable) Unmarked() (cty.Value, error) {
	if d.IsZero() {
		return cty.NilVal, nil
	}
	v, err := Unpack(d.packed, d.ty)
	if err != nil {
		return cty.NilVal, fmt.Errorf("decoding a stored value: %w", err)
	}
	return v, nil
}

// IsNull reports whether d is a null value or has none.
func (d Durable) IsNull() bool {
	if d.IsZero() || len(d.packed) == 1 && d.packed[0] == 0xc0 {
		return true
	}
	if d.ty != cty.DynamicPseudoType {
		return false
	}
	v, err := d.Unmarked() // the encoding has the null's type too
	return err == nil && v.IsNull()
}
