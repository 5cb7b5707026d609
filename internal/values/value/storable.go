package value

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// Reasons why a part of a value cannot be stored, besides bounds.ErrWritten.
var (
	// ErrInfinite is returned for infinite numbers, such as the result of 1/0: the JSON of a state has no way
	// to write them.
	ErrInfinite = bounds.ErrInfinite
	// ErrTooDeep is returned for values that exceed MaxDepth.
	ErrTooDeep = fmt.Errorf("values that are nested more than %d levels deep cannot be written to a state", MaxDepth)
	// ErrText is returned for strings and keys that JSON would alter.
	ErrText = errors.New("text that is not valid UTF-8 cannot be written to a state")
)

// MaxDepth is how deep collections and objects of a stored value may nest in each other. Reading takes the
// cube of it, since a state indents values and types by their level, and decoders look through a type once a
// level.
const MaxDepth = 200

// Fault is a part of a value that cannot be stored.
type Fault struct {
	Path cty.Path // ends at a set, if the part is in one
	Err  error    // ErrInfinite, bounds.ErrWritten, ErrText or ErrTooDeep
}

// Storable returns v as it will be read after it was stored, and the parts of it that cannot be stored. These
// are null in the result: single numbers and strings, and whole values whose own type cannot be stored. An
// element whose key cannot be stored is left out. ty is the type of the schema, v.Type() if there is none; v
// must conform to it. Numbers have the precision with which they are read. Marks and unknown parts stay. The
// cost is linear in the size of v; for values that are stored as they are, nearly all, it is small.
func Storable(v cty.Value, ty cty.Type) (cty.Value, []Fault) {
	if v == cty.NilVal || typeFault(v.Type(), MaxDepth) == nil && plain(v, false) {
		return v, nil
	}
	s := &storing{}
	v = s.value(v, ty, nil, MaxDepth)
	return v, s.faults
}

// typeFault returns why values of a type cannot be stored: ErrTooDeep if it has more levels than are given,
// as its values then do, or ErrText for the name of an attribute.
func typeFault(ty cty.Type, levels int) error {
	if ty.IsPrimitiveType() || ty == cty.DynamicPseudoType {
		return nil
	}
	if levels == 0 {
		return ErrTooDeep
	}
	levels--
	switch {
	case ty.IsCollectionType():
		return typeFault(ty.ElementType(), levels)
	case ty.IsTupleType():
		for _, e := range ty.TupleElementTypes() {
			if err := typeFault(e, levels); err != nil {
				return err
			}
		}
	case ty.IsObjectType():
		for name, e := range ty.AttributeTypes() {
			if !utf8.ValidString(name) {
				return ErrText
			}
			if err := typeFault(e, levels); err != nil {
				return err
			}
		}
	}
	return nil
}

// plain reports whether a value, whose type can be stored, is stored as it is. It allocates little, since it
// is asked about every value that is stored. With refined, refinements of unknown values count too.
func plain(v cty.Value, refined bool) bool {
	if v.IsMarked() {
		v, _ = v.Unmark()
	}
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return !refined || v.RawEquals(withoutRange(v))
	case v.IsNull():
		return true
	case ty == cty.String:
		return utf8.ValidString(v.AsString())
	case ty == cty.Number:
		n := v.AsBigFloat()
		read, err := bounds.Written(n)
		return err == nil && read == n
	case ty.IsObjectType():
		for name := range ty.AttributeTypes() {
			if !plain(v.GetAttr(name), refined) {
				return false
			}
		}
	case ty.IsCollectionType() || ty.IsTupleType():
		for it := v.ElementIterator(); it.Next(); {
			if k, e := it.Element(); !plain(e, refined) || ty.IsMapType() && !utf8.ValidString(k.AsString()) {
				return false
			}
		}
	}
	return true
}

// withoutRange returns an unknown value of which at most is known that it is not null.
func withoutRange(v cty.Value) cty.Value {
	if ty := v.Type(); ty == cty.String && v.Range().DefinitelyNotNull() {
		return unknownText
	} else if v.Range().DefinitelyNotNull() {
		return cty.UnknownVal(ty).RefineNotNull()
	} else {
		return cty.UnknownVal(ty)
	}
}

// storing makes a value storable.
type storing struct {
	refined bool // refinements are dropped
	faults  []Fault
}

func (s *storing) fault(path cty.Path, err error) {
	s.faults = append(s.faults, Fault{path.Copy(), err})
}

// value makes a value storable that has so many levels left.
func (s *storing) value(v cty.Value, ty cty.Type, path cty.Path, levels int) cty.Value {
	if v.IsMarked() {
		raw, marks := v.Unmark()
		return s.value(raw, ty, path, levels).WithMarks(marks)
	}
	if !ty.IsObjectType() && !ty.IsTupleType() && ty.HasDynamicTypes() { // it tells its type itself
		if err := typeFault(v.Type(), levels); err != nil {
			s.fault(path, err)
			return cty.NullVal(ty)
		}
		ty = v.Type()
	}
	switch {
	case !v.IsKnown():
		if s.refined {
			return withoutRange(v)
		}
	case v.IsNull():
	case ty == cty.String:
		if !utf8.ValidString(v.AsString()) {
			s.fault(path, ErrText)
			return cty.NullVal(ty)
		}
	case ty == cty.Number:
		n := v.AsBigFloat()
		read, err := bounds.Written(n)
		switch {
		case err != nil:
			s.fault(path, err)
			return cty.NullVal(ty)
		case read != n:
			return cty.NumberVal(read)
		}
	case ty.IsObjectType():
		return s.object(v, ty, path, levels-1)
	case ty.IsMapType():
		return s.mapping(v, ty, path, levels-1)
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		return s.sequence(v, ty, path, levels-1)
	}
	return v
}

// object makes the attributes of an object storable.
func (s *storing) object(v cty.Value, ty cty.Type, path cty.Path, levels int) cty.Value {
	attrs := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		attrs[name] = s.value(attrs[name], ty.AttributeType(name), path.GetAttr(name), levels)
	}
	return cty.ObjectVal(attrs)
}

// mapping makes the elements of a map storable.
func (s *storing) mapping(v cty.Value, ty cty.Type, path cty.Path, levels int) cty.Value {
	elems := map[string]cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		key := k.AsString()
		if !utf8.ValidString(key) {
			s.fault(path, ErrText)
			continue
		}
		elems[key] = s.value(e, ty.ElementType(), path.Index(k), levels)
	}
	if len(elems) == 0 {
		return cty.MapValEmpty(v.Type().ElementType())
	}
	return cty.MapVal(elems)
}

// sequence makes the elements of a list, set or tuple storable.
func (s *storing) sequence(v cty.Value, ty cty.Type, path cty.Path, levels int) cty.Value {
	elems := v.AsValueSlice()
	for i, e := range elems {
		switch {
		case ty.IsTupleType():
			elems[i] = s.value(e, ty.TupleElementType(i), path.IndexInt(i), levels)
		case ty.IsListType():
			elems[i] = s.value(e, ty.ElementType(), path.IndexInt(i), levels)
		default: // the keys of a set are its elements
			elems[i] = s.inSet(e, ty.ElementType(), path, levels)
		}
	}
	switch {
	case ty.IsTupleType():
		return cty.TupleVal(elems)
	case len(elems) == 0:
		return v
	case ty.IsSetType():
		return cty.SetVal(elems)
	default:
		return cty.ListVal(elems)
	}
}

// inSet makes an element of a set storable. All its faults are at the set.
func (s *storing) inSet(e cty.Value, ty cty.Type, set cty.Path, levels int) cty.Value {
	first := len(s.faults)
	e = s.value(e, ty, nil, levels)
	for i := range s.faults[first:] {
		s.faults[first+i].Path = set.Copy()
	}
	return e
}
