package leak

import (
	"hash/maphash"
	"iter"
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
	return g.firstOf(s, func(m Match) bool { return g.isHidden(m.of) })
}

// FindBytes is Find for bytes, which it does not keep.
func (g *Guard) FindBytes(b []byte) (Match, bool) { return g.Find(asText(b)) }

// FindOf is Find, but also finds values of a source that are in the open.
func (g *Guard) FindOf(own Source, s string) (Match, bool) {
	return g.firstOf(s, func(m Match) bool { return m.From(own) || g.isHidden(m.of) })
}

func (g *Guard) firstOf(s string, wanted func(Match) bool) (Match, bool) {
	for m := range g.Matches(s) {
		if wanted(m) {
			return m, true
		}
	}
	return Match{}, false
}

// Matches returns every value that is remembered and stands in s, in the order of their beginnings. They may
// overlap, and one may contain another.
func (g *Guard) Matches(s string) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		if !g.Knows() {
			return
		}
		g.mu.RLock()
		across := g.acrossLines(s)
		g.mu.RUnlock()
		for start := 0; ; start++ {
			var found []form
			g.mu.RLock()
			start, found = g.nextLocked(s, start)
			g.mu.RUnlock()
			for ; len(across) > 0 && (len(found) == 0 || across[0].Start <= start); across = across[1:] {
				if !yield(across[0]) {
					return
				}
			}
			if len(found) == 0 {
				return
			}
			for _, f := range found {
				if !yield(g.match(f, start, start+f.length)) {
					return
				}
			}
		}
	}
}

func (g *Guard) match(f form, start, end int) Match {
	return Match{Start: start, End: end, Confidential: f.of.confidential, of: f.of, guard: g}
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
	return len(found) > 0 || len(g.acrossLines(s)) > 0
}

// nextLocked returns the first place in s, at start or later, where values begin that are remembered, and all
// their forms there; none if there is no such place. The caller has the lock. The loop rolls the hash of
// MinLength bytes over the text. At nearly all places the filter says that no value begins with them.
func (g *Guard) nextLocked(s string, start int) (at int, found []form) {
	if start+MinLength > len(s) {
		return 0, nil
	}
	h := g.first(s[start:])
	filter, shift := g.filter, g.shift&63 // the compiler need not load them again, nor check the shift
	for {
		bit := h >> shift
		if filter[bit/64]>>(bit%64)&1 != 0 && g.may(h) {
			if found = g.at(h, s[start:]); found != nil {
				return start, found
			}
		}
		end := start + MinLength
		if end >= len(s) {
			return 0, nil
		}
		h = bits.RotateLeft64(h, 1) ^ bits.RotateLeft64(g.table[s[start]], MinLength) ^ g.table[s[end]]
		start++
	}
}

// at returns the forms with a hash that s begins with.
func (g *Guard) at(h uint64, s string) (found []form) {
	for _, f := range g.starts[h] {
		if f.length <= len(s) && g.first(s[f.length-MinLength:]) == f.end && maphash.String(g.seed, s[:f.length]) == f.sum {
			found = append(found, f)
		}
	}
	return found
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
			for m := range g.Matches(asText(text)) {
				m.of.state.Store(open)
			}
		}
	}
	for _, s := range fresh {
		s.state.CompareAndSwap(unchecked, hidden)
	}
}

// asText returns b as a text that is valid as long as b does not change.
func asText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
