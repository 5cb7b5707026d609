package schema

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// patterns finds out which elements of a set correspond to which elements of another. The elements of the
// one set are patterns: some of their parts are free and may differ. Elements are looked up by a hash of
// the parts that are not free, so the work grows with the size of the sets times the number of different
// shapes of patterns, which is small, and not with the square of the size. Elements of sets have no keys,
// so correspondence is a question of content: a provider fills in the computed parts of an element, and the
// result must be recognized as the same one.
type patterns struct {
	// shape tells the free parts of a pattern: patterns with equal shapes have the same free parts. Each is
	// one "*" in the text.
	shape func(pattern cty.Value) string
	// blank returns v without the free parts of pattern. Elements that fit a pattern have the same blanked
	// form as the pattern itself, but not necessarily the other way round.
	blank func(pattern, v cty.Value) cty.Value
	// fits decides.
	fits func(pattern, v cty.Value) bool
}

// each calls f for each of all, those with the fewest free parts first, with the indexes of the elements that
// might fit.
func (p patterns) each(all, elems []cty.Value, f func(pattern int, candidates *[]int)) {
	groups := map[string][]int{}
	for i, pattern := range all {
		shape := p.shape(pattern)
		groups[shape] = append(groups[shape], i)
	}
	shapes := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "*"), strings.Count(b, "*")), cmp.Compare(a, b))
	})
	for _, shape := range shapes {
		group := groups[shape]
		buckets := map[int]*[]int{}
		for j, elem := range elems {
			hash := p.blank(all[group[0]], elem).Hash()
			if buckets[hash] == nil {
				buckets[hash] = &[]int{}
			}
			*buckets[hash] = append(*buckets[hash], j)
		}
		for _, i := range group {
			candidates := buckets[p.blank(all[i], all[i]).Hash()]
			if candidates == nil {
				candidates = &[]int{}
			}
			f(i, candidates)
		}
	}
}

// assign returns for each pattern the index of an element that fits, each element at most once, or -1. An
// element that fits several patterns goes to the one with the fewest free parts, since the others have more
// to choose from.
func (p patterns) assign(all, elems []cty.Value) []int {
	assigned := make([]int, len(all))
	taken := make([]bool, len(elems))
	p.each(all, elems, func(i int, candidates *[]int) {
		*candidates = slices.DeleteFunc(*candidates, func(j int) bool { return taken[j] })
		assigned[i] = -1
		for at, j := range *candidates {
			if p.fits(all[i], elems[j]) {
				assigned[i], taken[j] = j, true
				*candidates = slices.Delete(*candidates, at, at+1)
				break
			}
		}
	})
	return assigned
}

// cover returns the patterns that no element fits and the elements that fit no pattern. An element may fit
// several patterns here, and a pattern several elements.
func (p patterns) cover(all, elems []cty.Value) (lonely, stray []cty.Value) {
	fitting := make([]bool, len(elems))
	done := map[int][]cover{}
	p.each(all, elems, func(i int, candidates *[]int) {
		hash := all[i].Hash()
		for _, earlier := range done[hash] {
			if earlier.pattern.RawEquals(all[i]) { // sets may have equal elements that are not wholly known
				if !earlier.found {
					lonely = append(lonely, all[i])
				}
				return
			}
		}
		found := false
		for _, j := range *candidates {
			if p.fits(all[i], elems[j]) {
				found, fitting[j] = true, true
			}
		}
		done[hash] = append(done[hash], cover{all[i], found})
		if !found {
			lonely = append(lonely, all[i])
		}
	})
	for j, elem := range elems {
		if !fitting[j] {
			stray = append(stray, elem)
		}
	}
	return lonely, stray
}

// cover is a pattern that was looked up, and whether an element fits it.
type cover struct {
	pattern cty.Value
	found   bool
}

// configPatterns are configured objects: computed attributes that are not set are free, and so are write-only
// ones.
func configPatterns(c content) patterns {
	return patterns{
		shape: func(config cty.Value) string {
			var sb strings.Builder
			writeShape(&sb, c, config)
			return sb.String()
		},
		blank: func(config, v cty.Value) cty.Value { return blankFree(c, config, v) },
		fits:  func(config, v cty.Value) bool { return agree(c, config, v) },
	}
}

// isFree reports whether the provider may choose the attribute's value.
func (a *Attribute) isFree(config cty.Value) bool {
	return a.WriteOnly || a.Computed && config.IsNull()
}

// hasFree reports whether any attribute could be free.
func (c content) hasFree() bool {
	for _, attr := range c.attrs {
		if attr.Computed || attr.WriteOnly || attr.Nested != nil && attr.Nested.content().hasFree() {
			return true
		}
	}
	for _, nested := range c.blocks {
		if nested.content().hasFree() {
			return true
		}
	}
	return false
}

// nestedContent returns the content and nesting of the objects in a part, if they need to be looked at one by
// one.
func (c content) nestedContent(name string) (content, Nesting, bool) {
	if nested := c.blocks[name]; nested != nil {
		return nested.content(), nested.Nesting, true
	}
	if attr := c.attrs[name]; attr != nil && attr.Nested != nil {
		return attr.Nested.content(), attr.Nested.Nesting, true
	}
	return content{}, NestingInvalid, false
}

// writeShape writes the pattern of the parts of config that the provider may choose. Configured elements
// with the same pattern are grouped, so that matching need not compare each of them with each planned
// element.
func writeShape(sb *strings.Builder, c content, config cty.Value) {
	if !isOpen(config) {
		sb.WriteByte('-')
		return
	}
	for it := config.ElementIterator(); it.Next(); {
		key, v := it.Element()
		name := key.AsString()
		if attr := c.attrs[name]; attr != nil && attr.isFree(v) {
			sb.WriteByte('*')
			continue
		}
		sb.WriteByte('.')
		inner, nesting, ok := c.nestedContent(name)
		if !ok || !isOpen(v) || nesting == Set || !inner.hasFree() {
			continue
		}
		sb.WriteByte('(')
		if nesting == Single || nesting == Group {
			writeShape(sb, inner, v)
		} else {
			for it := v.ElementIterator(); it.Next(); {
				key, one := it.Element()
				if nesting == Map {
					sb.WriteString(strconv.Quote(strings.ReplaceAll(key.AsString(), "*", "+")))
				}
				writeShape(sb, inner, one)
			}
		}
		sb.WriteByte(')')
	}
}

// blank takes the place of free parts.
var blank = cty.NullVal(cty.DynamicPseudoType)

// blankFree returns v without its free parts. The result is only good for taking its hash.
func blankFree(c content, config, v cty.Value) cty.Value {
	if !isOpen(config) || !isOpen(v) || !v.Type().IsObjectType() {
		return v
	}
	values := v.AsValueMap()
	for name, value := range values {
		configured := part(config, name)
		if configured == cty.NilVal {
			continue
		}
		if attr := c.attrs[name]; attr != nil && attr.isFree(configured) {
			values[name] = blank
		} else if inner, nesting, ok := c.nestedContent(name); ok && inner.hasFree() {
			values[name] = blankEach(inner, nesting, configured, value)
		}
	}
	return cty.ObjectVal(values)
}

// blankEach is blankFree for the objects of a nested attribute or of blocks. A set as a whole is free,
// since its elements can't be distinguished before they are matched.
func blankEach(c content, nesting Nesting, config, v cty.Value) cty.Value {
	switch nesting {
	case Set:
		return blank
	case List:
		configs, values := elements(config), elements(v)
		for i := range min(len(configs), len(values)) {
			values[i] = blankFree(c, configs[i], values[i])
		}
		return cty.TupleVal(values)
	case Map:
		configs, values := entries(config), entries(v)
		for key, value := range values {
			values[key] = blankFree(c, configs[key], value)
		}
		return cty.ObjectVal(values)
	default:
		return blankFree(c, config, v)
	}
}

// agree reports whether v has all that config sets.
func agree(c content, config, v cty.Value) bool {
	if !isOpen(config) || !isOpen(v) || !config.Type().IsObjectType() {
		return equal(config, v)
	}
	for it := config.ElementIterator(); it.Next(); {
		key, configured := it.Element()
		name := key.AsString()
		value := part(v, name)
		if value == cty.NilVal {
			return false
		}
		if attr := c.attrs[name]; attr != nil && attr.isFree(configured) || equal(configured, value) {
			continue
		}
		inner, nesting, ok := c.nestedContent(name)
		if !ok || !agreeEach(inner, nesting, configured, value) {
			return false
		}
	}
	return true
}

// agreeEach is agree for the objects of a nested attribute or of blocks.
func agreeEach(c content, nesting Nesting, config, v cty.Value) bool {
	if !isOpen(config) || !isOpen(v) {
		return false
	}
	switch nesting {
	case Set:
		configs, values := elements(config), elements(v)
		return len(configs) == len(values) && !slices.Contains(configPatterns(c).assign(configs, values), -1)
	case List:
		return slices.EqualFunc(elements(config), elements(v), func(a, b cty.Value) bool { return agree(c, a, b) })
	case Map:
		configs, values := entries(config), entries(v)
		for key, one := range configs {
			if value, ok := values[key]; !ok || !agree(c, one, value) {
				return false
			}
		}
		return len(configs) == len(values)
	default:
		return agree(c, config, v)
	}
}
