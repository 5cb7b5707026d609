package leak

import (
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/zclconf/go-cty/cty"
)

// Match is a value that was found in a text.
type Match struct {
	Start, End   int // its place in the text, in bytes
	Confidential bool

	of    *secret
	guard *Guard
}

// From reports whether the value has the source.
func (m Match) From(s Source) bool {
	m.guard.mu.RLock()
	defer m.guard.mu.RUnlock()
	_, ok := m.of.sources[s]
	return ok
}

// Sources returns where the value comes from and what it was given to, in no particular order.
func (m Match) Sources() []Source {
	m.guard.mu.RLock()
	defer m.guard.mu.RUnlock()
	return slices.Collect(maps.Keys(m.of.sources))
}

// Permit takes the value for one that is in the open from now on, since it was decided to store it.
func (m Match) Permit() { m.of.state.Store(open) }

// Find returns the first value in s that is remembered and not in the open, and whether there is one.
func (g *Guard) Find(s string) (Match, bool) {
	return g.findFrom(s, 0, func(m Match) bool { return g.isHidden(m.of) })
}

// FindBytes is Find for bytes, which it does not keep.
func (g *Guard) FindBytes(b []byte) (Match, bool) { return g.Find(asText(b)) }

// FindOf is Find, but also finds values of a source that are in the open.
func (g *Guard) FindOf(own Source, s string) (Match, bool) {
	return g.findFrom(s, 0, func(m Match) bool { return m.From(own) || g.isHidden(m.of) })
}

// Holds reports whether v, which has no marks, holds a value that is remembered, in the open or not: as a
// text, number, key of a map or name of an attribute. Most values do not, and need no closer look.
func (g *Guard) Holds(v cty.Value) bool {
	if !g.Knows() {
		return false
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.holds(v)
}

// holds is Holds without the lock, which the caller has. It is on the path of every object that a provider
// returns: so it makes no iterator for an object's attributes.
func (g *Guard) holds(v cty.Value) bool {
	v, _ = v.Unmark()
	if v == cty.NilVal || !v.IsKnown() || v.IsNull() {
		return false
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		return g.in(v.AsString())
	case ty == cty.Number:
		return g.in(Number(v))
	case ty.IsObjectType():
		for name := range ty.AttributeTypes() {
			if g.in(name) || g.holds(v.GetAttr(name)) {
				return true
			}
		}
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			if ty.IsMapType() && g.in(k.AsString()) || g.holds(e) {
				return true
			}
		}
	}
	return false
}

func (g *Guard) in(s string) bool {
	_, found := g.nextLocked(s, 0)
	return found
}

// findFrom returns the first value in s that is remembered, begins at start or later, and is wanted.
func (g *Guard) findFrom(s string, start int, wanted func(Match) bool) (Match, bool) {
	if !g.Knows() {
		return Match{}, false
	}
	for {
		m, ok := g.next(s, start)
		if !ok {
			return Match{}, false
		}
		if wanted(m) {
			return m, true
		}
		start = m.Start + 1
	}
}

// next returns the first value in s that is remembered, in the open or not, and begins at start or later;
// the longest, if several begin there. The loop rolls the hash of MinLength bytes over the text. At nearly
// all places the filter says that no value begins with them.
func (g *Guard) next(s string, start int) (Match, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.nextLocked(s, start)
}

// nextLocked is next for a caller that has the lock.
func (g *Guard) nextLocked(s string, start int) (Match, bool) {
	if start+MinLength > len(s) {
		return Match{}, false
	}
	h := g.first(s[start:])
	for {
		if g.may(h) {
			if f := g.longest(h, s[start:]); f.of != nil {
				return Match{Start: start, End: start + f.length, Confidential: f.of.confidential, of: f.of, guard: g}, true
			}
		}
		end := start + MinLength
		if end >= len(s) {
			return Match{}, false
		}
		h = bits.RotateLeft64(h, 1) ^ bits.RotateLeft64(g.table[s[start]], MinLength) ^ g.table[s[end]]
		start++
	}
}

// longest returns the longest form with a hash that s begins with; none if there is none.
func (g *Guard) longest(h uint64, s string) (best form) {
	for _, f := range g.starts[h] {
		if f.length > best.length && f.length <= len(s) && maphash.String(g.seed, s[:f.length]) == f.sum {
			best = f
		}
	}
	return best
}

// isHidden reports whether a value stands nowhere in the open.
func (g *Guard) isHidden(s *secret) bool {
	if s.state.Load() == unchecked {
		g.check()
	}
	return s.state.Load() == hidden
}

// check finds out which values stand in the open, for all that were remembered since the last time: so many
// values do not read the same texts again and again.
func (g *Guard) check() {
	g.mu.RLock()
	var fresh []*secret
	for _, s := range g.secrets {
		if s.state.Load() == unchecked {
			fresh = append(fresh, s)
		}
	}
	texts := slices.Collect(maps.Keys(g.exposed))
	g.mu.RUnlock()
	for _, list := range texts {
		for text := range *list {
			for start := 0; ; {
				m, ok := g.next(asText(text), start)
				if !ok {
					break
				}
				m.of.state.Store(open)
				start = m.Start + 1
			}
		}
	}
	for _, s := range fresh {
		s.state.CompareAndSwap(unchecked, hidden)
	}
}

// asText returns b as a text that is valid as long as b does not change.
func asText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
