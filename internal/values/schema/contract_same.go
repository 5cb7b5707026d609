package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// AssertSecondPlan checks a plan made during apply against the one that was approved: known values must be
// the same, unknown ones may become anything that their type and refinements allow. The values have no marks.
// The errors are cty.PathErrors without values. The replacement of an unknown value may be unknown again, but
// less so.
func AssertSecondPlan(b *Block, first, second cty.Value) []error {
	return assertKept(b, "the second plan", first, second)
}

// AssertApplyResult checks the result of apply against the plan, like AssertSecondPlan. That the result has
// no unknown values is for AssertWhollyKnown to check. The values have no marks. The errors are
// cty.PathErrors without values.
func AssertApplyResult(b *Block, planned, actual cty.Value) []error {
	return assertKept(b, "the result", planned, actual)
}

// assertKept returns the errors in actual, which must keep the promises of planned. The values are compared
// only if actual conforms to the schema; otherwise one wrong type would lead to many errors.
func assertKept(b *Block, what string, planned, actual cty.Value) []error {
	switch {
	case actual == cty.NilVal || !actual.IsKnown():
		return []error{cty.Path(nil).NewErrorf("%s is unknown as a whole", what)}
	case planned.IsNull() && actual.IsNull():
		return nil
	case planned.IsNull():
		return []error{cty.Path(nil).NewErrorf("%s is not null, but no object was planned", what)}
	case actual.IsNull():
		return []error{cty.Path(nil).NewErrorf("%s is null, but an object was planned", what)}
	}
	errs, conforms := assertObject(b, actual)
	if !conforms {
		return errs
	}
	check := sameCheck{faults{what: what, errs: errs}}
	check.value(nil, planned, actual)
	return check.errs
}

// sameCheck compares values with the ones that were planned. Paths are valid during the call only: errors
// copy them.
type sameCheck struct{ faults }

// value compares one part of an object: first the properties that decide without looking inside, then its
// content.
func (c *sameCheck) value(path cty.Path, planned, actual cty.Value) {
	switch {
	case !planned.IsKnown():
		c.promise(path, planned, actual)
	case planned.IsNull() && actual.IsKnown() && actual.IsNull():
	case !actual.IsKnown():
		c.fail(path, "is unknown, but was known in the plan")
	case planned.IsNull():
		c.fail(path, "has a value, but null was planned")
	case actual.IsNull():
		c.fail(path, "is null, but a value was planned")
	default:
		c.content(path, planned, actual)
	}
}

// promise checks a value that the plan left open.
func (c *sameCheck) promise(path cty.Path, planned, actual cty.Value) {
	if !actual.IsKnown() {
		return
	}
	if within := planned.Range().Includes(actual); within.IsKnown() && within.False() {
		c.fail(path, "is outside of the range that was planned for it")
	}
}

// content compares known values.
func (c *sameCheck) content(path cty.Path, planned, actual cty.Value) {
	was, is := planned.Type(), actual.Type()
	switch {
	case was.IsObjectType() && is.IsObjectType(), was.IsMapType() && is.IsMapType():
		c.keyed(path, planned, actual)
	case was.IsSetType() && is.IsSetType():
		if !planned.RawEquals(actual) {
			c.set(path, elements(planned), elements(actual))
		}
	case was.IsListType() && is.IsListType(), was.IsTupleType() && is.IsTupleType():
		before, after := elements(planned), elements(actual)
		if len(before) != len(after) {
			c.fail(path, "has %d elements, but %d were planned", len(after), len(before))
			return
		}
		for i := range before {
			c.value(append(path, cty.IndexStep{Key: cty.NumberIntVal(int64(i))}), before[i], after[i])
		}
	case !was.Equals(is):
		c.fail(path, "has another type than planned")
	case !planned.RawEquals(actual):
		c.fail(path, "differs from the planned one")
	}
}

// keyed compares objects and maps. In objects of the same type, only the attributes that differ are
// visited.
func (c *sameCheck) keyed(path cty.Path, planned, actual cty.Value) {
	if names, ok := unlike(planned, actual); ok {
		for _, name := range names {
			c.value(append(path, cty.GetAttrStep{Name: name}), planned.GetAttr(name), actual.GetAttr(name))
		}
		return
	}
	after := entries(actual)
	planned.ForEachElement(func(key, one cty.Value) bool {
		path := append(path, stepTo(planned.Type(), key))
		if now, ok := after[key.AsString()]; ok {
			c.value(path, one, now)
			delete(after, key.AsString())
		} else {
			c.fail(path, "lacks this element, which was planned")
		}
		return false
	})
	if len(after) == 0 {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		c.fail(append(path, stepTo(actual.Type(), cty.StringVal(key))), "has this element, which was not planned")
	}
}

// unlike returns the names of the attributes in which two objects differ, in order. ok is false unless both
// have the same attributes. Comparing two attributes takes much less time than visiting them.
func unlike(planned, actual cty.Value) (names []string, ok bool) {
	was, is := planned.Type(), actual.Type()
	if !was.IsObjectType() || !is.IsObjectType() || len(was.AttributeTypes()) != len(is.AttributeTypes()) {
		return nil, false
	}
	for name := range was.AttributeTypes() {
		if !has(actual, name) {
			return nil, false
		}
		if !planned.GetAttr(name).RawEquals(actual.GetAttr(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, true
}

// set compares sets. Elements that were not wholly known may have become equal, so there may be fewer than
// planned.
func (c *sameCheck) set(path cty.Path, planned, actual []cty.Value) {
	lonely, stray := plannedPatterns.cover(planned, actual)
	switch {
	case len(stray) > 0:
		c.fail(path, "has an element that corresponds to none in the plan")
	case len(lonely) > 0:
		c.fail(path, "has no element that corresponds to one in the plan")
	case len(actual) > len(planned):
		c.fail(path, "has %d elements, but %d were planned", len(actual), len(planned))
	}
}

// plannedPatterns are planned values: unknown parts are free.
var plannedPatterns patterns

// init is needed because plannedPatterns and sameCheck refer to each other.
func init() {
	plannedPatterns = patterns{
		shape: func(planned cty.Value) string {
			var sb strings.Builder
			writeUnknowns(&sb, planned)
			return sb.String()
		},
		blank: blankUnknown,
		fits: func(planned, v cty.Value) bool {
			check := sameCheck{}
			check.value(nil, planned, v)
			return len(check.errs) == 0
		},
	}
}

// writeUnknowns writes the pattern of unknown parts of v. Values with the same pattern leave the same parts
// open. An element of a set has no place that two values could share, so a set with any unknown part counts
// as unknown.
func writeUnknowns(sb *strings.Builder, v cty.Value) {
	switch {
	case !v.IsKnown():
		sb.WriteByte('*')
	case v.IsWhollyKnown():
		sb.WriteByte('.')
	case v.Type().IsSetType():
		sb.WriteByte('*')
	default:
		sb.WriteByte('(')
		for it := v.ElementIterator(); it.Next(); {
			_, one := it.Element()
			writeUnknowns(sb, one)
		}
		sb.WriteByte(')')
	}
}

// blankUnknown returns v without the parts that are unknown in planned. The result is only good for taking
// its hash.
func blankUnknown(planned, v cty.Value) cty.Value {
	switch {
	case !planned.IsKnown():
		return blank
	case planned.IsWhollyKnown() || !isOpen(v):
		return v
	case planned.Type().IsSetType():
		return blank
	case v.Type().IsMapType() || v.Type().IsObjectType():
		before, values := entries(planned), entries(v)
		for key, value := range values {
			if one, ok := before[key]; ok {
				values[key] = blankUnknown(one, value)
			}
		}
		return cty.ObjectVal(values)
	default:
		before, values := elements(planned), elements(v)
		for i := range min(len(before), len(values)) {
			values[i] = blankUnknown(before[i], values[i])
		}
		return cty.TupleVal(values)
	}
}
