// Package leak finds ephemeral values in data that are about to leave the process: objects that providers
// return, messages, logs, files. A Guard remembers the values of a run as keyed hashes, so that it contains
// no secret itself, and recognizes them wherever they stand, as they are or in the usual spellings (see
// forms).
//
// It may import cty and value, for the marks. It must not know the uses of values, nor decide about a leak:
// that is up to the caller, as are the words for it.
package leak

import (
	"cmp"
	"hash/maphash"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// MinLength is the length in bytes from which a value is recognized. Shorter ones stand in other texts by
// chance.
const MinLength = 8

// minKinds is the number of different bytes that a value needs in order to be recognized: "00000000" is no
// secret.
const minKinds = 4

// Policy is the treatment of an ephemeral value that a provider returns where it would be stored.
type Policy uint8

// The policies.
const (
	Standard Policy = iota // confidential ones are withheld and an error, the others are kept with a warning
	Strict                 // all are withheld and an error
	Lenient                // all are kept with a warning
)

// Policies has the policies by the names that users give them.
var Policies = map[string]Policy{"standard": Standard, "strict": Strict, "warn": Lenient}

// String returns the name of the policy.
func (p Policy) String() string {
	for name, known := range Policies {
		if known == p {
			return name
		}
	}
	return "unknown"
}

// Kind is the kind of a source.
type Kind uint8

// The kinds of sources.
const (
	Variable      Kind = iota // an ephemeral variable of the root module
	Credential                // a key, a passphrase or a credential of a backend
	Result                    // an attribute of an ephemeral instance
	WriteOnly                 // a write-only argument of a resource instance
	Configuration             // an ephemeral value in the configuration of a provider
	Other                     // any other expression, such as one in a provisioner
)

// OfRun reports whether values of the kind are known before a run calls its first provider.
func (k Kind) OfRun() bool { return k == Variable || k == Credential }

// Source is the origin of a value, or its receiver.
type Source struct {
	Kind    Kind
	Address string // of the variable, instance or provider configuration
	// Use tells apart the values that one address was given at different times, such as while planning and
	// applying. It is a result of Guard.NewUse, 0 where that makes no difference.
	Use int64
}

// String describes the source as the subject of a message.
func (s Source) String() string {
	switch s.Kind {
	case WriteOnly:
		return "the value of a write-only argument of " + s.Address
	case Configuration:
		return "an ephemeral value that " + s.Address + " was configured with"
	case Other:
		return "an ephemeral value that " + s.Address + " uses"
	case Credential:
		return "a secret of " + s.Address
	default:
		return "an ephemeral value of " + s.Address
	}
}

// Guard remembers values and finds them. The zero value is not usable; a nil Guard remembers and finds
// nothing. All methods may be called concurrently.
type Guard struct {
	seed  maphash.Seed
	table [256]uint64  // of the rolling hash, random for each Guard
	count atomic.Int64 // of secrets
	uses  atomic.Int64 // so far

	awaited awaited

	mu      sync.RWMutex // protects all below
	secrets map[uint64]*secret
	starts  map[uint64][]form // by the rolling hash of the first MinLength bytes, the shortest first
	filter  []uint64          // two bits for each hash in starts, by its highest and its middle bits
	shift   int               // of a hash, to get the number of its bit
	exposed map[*iter.Seq[[]byte]]exposure
	ended   *iter.Seq[[]byte] // in exposed until the next Publish; nil if there is none
	changes int64             // of exposed, so far
}

// secret is a value that is remembered.
type secret struct {
	sources   map[Source]bool // whether it is confidential there
	ephemeral bool            // marked so by a source, or an ephemeral value by itself
	// checked is where the value stands in the open, and how often that had changed when it was checked.
	checked atomic.Pointer[checked]
}

// checked is the result of comparing a value with the texts in the open.
type checked struct {
	exposure exposure
	changes  int64
}

// confidential reports whether any source says so. The caller holds the lock.
func (s *secret) confidential() bool {
	for _, is := range s.sources {
		if is {
			return true
		}
	}
	return false
}

// exposure is where a value stands in the open.
type exposure int32

// The exposures. A value that has several has the last of them.
const (
	hidden    exposure = iota // nowhere
	stored                    // in the state only
	published                 // in the configuration
)

// form is one spelling of a secret.
type form struct {
	sum    uint64
	end    uint64 // the rolling hash of the last MinLength bytes, which differs sooner
	length int
	of     *secret
	next   edges
	line   bool // it is only a line of the value
}

// New returns a Guard that knows no values yet.
func New() *Guard {
	g := &Guard{
		seed: maphash.MakeSeed(), secrets: map[uint64]*secret{}, starts: map[uint64][]form{}, exposed: map[*iter.Seq[[]byte]]exposure{},
	}
	for i := range g.table {
		g.table[i] = rand.Uint64()
	}
	g.resize(1 << 13)
	return g
}

// resize makes a filter of n bits, a power of two, for the hashes in starts.
func (g *Guard) resize(n int) {
	g.filter, g.shift = make([]uint64, n/64), 64-bits.TrailingZeros(uint(n))
	for h := range g.starts {
		g.set(h)
	}
}

func (g *Guard) set(h uint64) {
	for _, bit := range []uint64{h >> g.shift, bits.RotateLeft64(h, 32) >> g.shift} {
		g.filter[bit/64] |= 1 << (bit % 64)
	}
}

// may reports whether a hash may be in starts.
func (g *Guard) may(h uint64) bool {
	bit := h >> g.shift
	if g.filter[bit/64]>>(bit%64)&1 == 0 {
		return false
	}
	bit = bits.RotateLeft64(h, 32) >> g.shift
	return g.filter[bit/64]>>(bit%64)&1 != 0
}

// NewUse returns a number for Source.Use that no other source has.
func (g *Guard) NewUse() int64 {
	if g == nil {
		return 0
	}
	return g.uses.Add(1)
}

// Knows reports whether any value is remembered, so that callers can save work.
func (g *Guard) Knows() bool { return g != nil && g.count.Load() > 0 }

// Remember remembers the texts, numbers and keys in v, which is ephemeral as a whole. Values with a sensitive
// mark are confidential. Of other values, plain words such as the name of a region are not remembered;
// neither are texts that except has, which went into v in the open. The names of attributes are remembered
// where ty, the type that v was declared with, leaves them to the value.
func (g *Guard) Remember(from Source, v cty.Value, ty cty.Type, except ...cty.Value) {
	if g == nil {
		return
	}
	known := map[string]struct{}{}
	for _, e := range except {
		each(e, ty, func(t text) bool {
			if !t.ephemeral {
				known[t.text] = struct{}{}
			}
			return true
		})
	}
	each(v, ty, func(t text) bool {
		if _, ok := known[t.text]; !ok && t.isValue() {
			g.remember(from, t.text, t.sensitive, true)
		}
		return true
	})
}

// Reveal returns v without marks, as a provider or program gets it, and remembers the ephemeral values in it:
// values leave the engine by this way only. ty is the type that v was declared with, as in Remember.
func (g *Guard) Reveal(from Source, v cty.Value, ty cty.Type) cty.Value {
	if !value.IsMarked(v) {
		return v
	}
	if g != nil {
		each(v, ty, func(t text) bool {
			if t.ephemeral && t.isValue() {
				g.remember(from, t.text, t.sensitive, true)
			}
			return true
		})
	}
	v, _ = v.UnmarkDeep()
	return v
}

// RememberOwn remembers a write-only argument, which may have marks or none. A value with one, of either
// kind, is confidential. Of the rest, keys are left out: they are names.
func (g *Guard) RememberOwn(from Source, v cty.Value, ty cty.Type) {
	if g == nil {
		return
	}
	each(v, ty, func(t text) bool {
		marked := t.ephemeral || t.sensitive
		if t.isValue() && (marked || !t.key) {
			g.remember(from, t.text, marked, t.ephemeral)
		}
		return true
	})
}

// RememberBytes remembers a key, confidential, as it is and as documents and messages show bytes: in base64
// and in hexadecimal. It keeps and leaves behind no copy of the key.
func (g *Guard) RememberBytes(from Source, key []byte) {
	if g == nil || len(key) < MinLength {
		return
	}
	one := &secret{sources: map[Source]bool{from: true}, ephemeral: true}
	id := maphash.Bytes(g.seed, key)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.secrets[id] != nil {
		return
	}
	g.secrets[id] = one
	if isSecret(asText(key)) {
		g.add(spelling{text: asText(key)}, one)
	}
	codes(key, func(text []byte, next edges) { g.add(spelling{text: asText(text), next: next}, one) })
	g.count.Add(1)
}

// remember remembers one text in all its spellings, and the parts of it that are recognized alone. Plain
// words are remembered only if they are confidential.
func (g *Guard) remember(from Source, s string, confidential, ephemeral bool) {
	if !confidential && isWord(s) {
		return
	}
	g.rememberText(from, s, confidential, ephemeral)
	for _, part := range parts(s, confidential) {
		g.rememberText(from, part, confidential, ephemeral)
	}
}

func (g *Guard) rememberText(from Source, s string, confidential, ephemeral bool) {
	if !isSecret(s) {
		return
	}
	sum := maphash.String(g.seed, s)
	g.mu.RLock()
	one, has := g.secrets[sum], false
	if one != nil {
		already, is := one.sources[from]
		has = is && (already || !confidential) && (one.ephemeral || !ephemeral)
	}
	g.mu.RUnlock()
	if has {
		return
	}
	var spellings []spelling
	if one == nil {
		spellings = forms(s) // without the lock, since it takes its time
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if one = g.secrets[sum]; one == nil {
		one = &secret{sources: map[Source]bool{}}
		g.secrets[sum] = one
		for _, f := range spellings {
			g.add(f, one)
		}
		g.count.Add(1)
	}
	one.sources[from] = one.sources[from] || confidential
	one.ephemeral = one.ephemeral || ephemeral
}

// add adds a spelling of a secret. The caller holds the lock.
func (g *Guard) add(as spelling, of *secret) {
	s := as.text
	h := g.first(s)
	all := g.starts[h]
	at, _ := slices.BinarySearchFunc(all, len(s), func(f form, length int) int { return cmp.Compare(f.length, length) })
	g.starts[h] = slices.Insert(all, at, form{sum: maphash.String(g.seed, s), end: g.first(s[len(s)-MinLength:]), length: len(s), of: of, next: as.next, line: as.line})
	if bits := 64 * len(g.filter); len(g.starts)*64 > bits {
		g.resize(2 * bits)
	}
	g.set(h)
}

// first returns the rolling hash of the first bytes of s.
func (g *Guard) first(s string) (h uint64) {
	for i := range MinLength {
		h = bits.RotateLeft64(h, 1) ^ g.table[s[i]]
	}
	return h
}

// Publish declares texts as public, such as the files of the configuration: a value that stands in one of
// them cannot be hidden. The texts are read when they are needed, and must not change while they count: until
// end was called and Publish is called again.
func (g *Guard) Publish(texts iter.Seq[[]byte]) (end func()) {
	if g == nil {
		return func() {}
	}
	g.expose(&texts, published)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.forgetEnded()
		g.ended = &texts
	}
}

// Stored is for texts that readers of the state may see anyway: they expose only values that are not
// confidential. They count, and must not change, until the returned function is called.
func (g *Guard) Stored(texts iter.Seq[[]byte]) (end func()) {
	if g == nil {
		return func() {}
	}
	g.expose(&texts, stored)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.exposed, &texts)
		g.changes++
	}
}

// expose adds public texts. With published ones, texts whose end was called no longer count.
func (g *Guard) expose(texts *iter.Seq[[]byte], as exposure) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if as == published {
		g.forgetEnded()
	}
	g.exposed[texts] = as
	g.changes++
}

// forgetEnded drops the published texts whose end was called. The caller holds the lock.
func (g *Guard) forgetEnded() {
	if g.ended != nil {
		delete(g.exposed, g.ended)
		g.ended = nil
		g.changes++
	}
}
