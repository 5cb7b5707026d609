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
	Start, End int // its place in the text, in bytes

	of    *secret
	guard *Guard
}

// From reports whether the value has the source, and whether it is confidential there.
func (m Match) From(s Source) (confidential, ok bool) {
	m.guard.mu.RLock()
	defer m.guard.mu.RUnlock()
	confidential, ok = m.of.sources[s]
	return confidential, ok
}

// OfRun returns a source of the value that was known before the run called its first provider, and whether
// the value is confidential there. If it has several, the confidential ones come first. ok is false if it has
// none.
func (m Match) OfRun() (from Source, confidential, ok bool) {
	m.guard.mu.RLock()
	defer m.guard.mu.RUnlock()
	for s, is := range m.of.sources {
		if !s.Kind.OfRun() || ok && (confidential && !is || confidential == is && s.Address >= from.Address) {
			continue
		}
		from, confidential, ok = s, is, true
	}
	return from, confidential, ok
}

// Value identifies the value of a match among all that the guard knows; it says nothing about its text.
func (m Match) Value() any { return m.of }

// Published reports whether the value stands in one of the texts that were given to Publish.
func (m Match) Published() bool { return m.guard.exposure(m.of) == published }

// isHidden reports whether the value must not be shown.
func (m Match) isHidden() bool {
	switch m.guard.exposure(m.of) {
	case published:
		return false
	case stored:
		return m.isConfidential()
	default:
		return true
	}
}

// isConfidential reports whether any source of the value says so.
func (m Match) isConfidential() bool {
	m.guard.mu.RLock()
	defer m.guard.mu.RUnlock()
	return m.of.confidential()
}

// isEphemeral reports whether the value is ephemeral by mark.
func (m Match) isEphemeral() bool {
	m.guard.mu.RLock()
	defer m.guard.mu.RUnlock()
	return m.of.ephemeral
}

// Matches returns every value that is remembered and stands in s, in the order of their beginnings. They may
// overlap, and one may contain another.
func (g *Guard) Matches(s string) iter.Seq[Match] { return g.matches(s, false) }

// matches is Matches; with lines set, also for single lines of values that are written in several.
func (g *Guard) matches(s string, lines bool) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		if !g.Knows() {
			return
		}
		g.mu.RLock()
		across := g.acrossLines(s, lines)
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
				if (lines || !f.line) && !yield(g.match(f, start, start+f.length)) {
					return
				}
			}
		}
	}
}

func (g *Guard) match(f form, start, end int) Match {
	return Match{Start: start, End: end, of: f.of, guard: g}
}

// Contains reports whether s contains a value that is remembered.
func (g *Guard) Contains(s string) bool {
	for range g.Matches(s) {
		return true
	}
	return false
}

// MatchesBytes is Matches for bytes, which must not change meanwhile.
func (g *Guard) MatchesBytes(b []byte) iter.Seq[Match] { return g.Matches(asText(b)) }

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
	if !v.IsKnown() || v.IsNull() {
		return g.inType(v.Type())
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

// inType is holds for a value that is null or unknown. Its type may tell something.
func (g *Guard) inType(ty cty.Type) bool {
	switch {
	case ty.IsCollectionType():
		return g.inType(ty.ElementType())
	case ty.IsTupleType():
		return slices.ContainsFunc(ty.TupleElementTypes(), g.inType)
	case ty.IsObjectType():
		for name, e := range ty.AttributeTypes() {
			if g.in(name) || g.inType(e) {
				return true
			}
		}
	}
	return false
}

func (g *Guard) in(s string) bool {
	_, found := g.nextLocked(s, 0)
	return len(found) > 0 || len(g.acrossLines(s, false)) > 0
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
			if found = g.at(h, s, start); found != nil {
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

// at returns the forms with a hash that stand at a place in a text. Keys and documents begin alike, so that
// many forms may have the hash: the hashes to compare with are computed once for each length.
func (g *Guard) at(h uint64, text string, start int) (found []form) {
	s := text[start:]
	var end, sum uint64
	length, summed := 0, false
	for _, f := range g.starts[h] {
		if f.length > len(s) {
			break
		}
		if f.length != length {
			length, summed = f.length, false
			end = g.first(s[length-MinLength:])
		}
		if f.end != end {
			continue
		}
		if !summed {
			sum, summed = maphash.String(g.seed, s[:length]), true
		}
		if f.sum == sum && f.next.fit(text, start, start+length) {
			found = append(found, f)
		}
	}
	return found
}

// exposure returns where a value stands in the open.
func (g *Guard) exposure(s *secret) exposure {
	g.mu.RLock()
	changes := g.changes
	g.mu.RUnlock()
	if c := s.checked.Load(); c != nil && c.changes == changes {
		return c.exposure
	}
	g.check()
	return s.checked.Load().exposure
}

// check finds out which values stand in the open, for all that are remembered and were not checked since that
// has changed: so many values do not read the same texts again and again.
func (g *Guard) check() {
	g.mu.RLock()
	changes, texts := g.changes, maps.Clone(g.exposed)
	fresh := map[*secret]exposure{}
	for _, s := range g.secrets {
		if c := s.checked.Load(); c == nil || c.changes != changes {
			fresh[s] = hidden
		}
	}
	g.mu.RUnlock()
	for list, as := range texts {
		for text := range *list {
			for m := range g.MatchesBytes(text) {
				if was, ok := fresh[m.of]; ok {
					fresh[m.of] = max(was, as)
				}
			}
		}
	}
	for s, e := range fresh {
		s.checked.Store(&checked{exposure: e, changes: changes})
	}
}

// asText returns b as a text that is valid as long as b does not change.
func asText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
