// Package given hashes the evaluated configurations of objects, so that a later plan can tell, without the
// provider, that it would be given the same as before (docs/adr/041).
//
// It may import addr, future, object, eval, schema, value, fingerprint and state. It must not know plans, or
// how a state is stored.
package given

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Hasher hashes the configurations of one plan or apply. A nil *Hasher hashes nothing. It is safe for
// concurrent use.
type Hasher struct {
	key     []byte
	version func(addr.Provider) (string, bool)
	secrets *secrets

	mu        sync.Mutex
	providers map[*eval.ProviderObject]state.Hash // of their configurations; zero for none
}

// New returns a Hasher with the key of a workspace, nil if there is none. Version returns the version of a
// provider; false for one under development.
func New(key []byte, version func(addr.Provider) (string, bool)) *Hasher {
	if key == nil {
		return nil
	}
	return &Hasher{key: key, version: version, secrets: newSecrets(key, mostSecrets), providers: map[*eval.ProviderObject]state.Hash{}}
}

// ForRun returns a Hasher for another run of the evaluator, with the same key. Both have slow hashes
// together.
func (h *Hasher) ForRun() *Hasher {
	if h == nil {
		return nil
	}
	return &Hasher{key: h.key, version: h.version, secrets: h.secrets, providers: map[*eval.ProviderObject]state.Hash{}}
}

// Of returns the hash of all that the provider of an instance is given with a configuration, apart from the
// prior object; zero for none. Everything that the configuration refers to was prepared. meta returns the
// provider_meta, cty.NilVal for none.
//
// There is none if a part is unknown or ephemeral, with ephemeral attributes, and with write-only arguments:
// providers are free to compare the value of one with a hash of their own. Nor is there one for a provider
// under development, or if too many sensitive values would have to be hashed.
func (h *Hasher) Of(t *future.Task, in *eval.Instance, op *object.Op, c object.Config, meta func() cty.Value) state.Hash {
	if h == nil || len(in.Resource.Block.Withheld) > 0 || c.Ephemeral || len(c.Computed) > 0 || !schema.WhollyKnown(c.Value) || len(op.Block().WriteOnlyPaths(c.Value)) > 0 {
		return state.Hash{}
	}
	provider := h.provider(t, in.Provider(t))
	if !provider.Known() {
		return state.Hash{}
	}
	w := writer{hash: hmac.New(sha256.New, h.key)}
	w.text("object")
	w.text(in.Addr().String())
	w.bytes(provider[:])
	w.number(op.Schema.Version)
	lifecycle := &in.Config().Lifecycle
	w.flag(lifecycle.IgnoreAll)
	w.number(int64(len(lifecycle.IgnoreChanges)))
	for _, ignored := range lifecycle.IgnoreChanges {
		w.traversal(ignored)
	}
	w.number(int64(len(c.Sensitive)))
	for _, path := range sorted(c.Sensitive) {
		w.text(schema.PathString(path))
	}
	m := meta()
	w.flag(m != cty.NilVal)
	if m != cty.NilVal && !w.value(m, m.Type(), nil) {
		return state.Hash{}
	}
	if !h.secret(&w, in.Addr().String(), op.Block(), c.Value, slices.Concat(c.Sensitive, op.Block().SensitivePaths(c.Value))) {
		return state.Hash{}
	}
	return w.sum()
}

// provider returns the hash of the configuration of a provider, and of its version. Ephemeral parts are left
// out.
func (h *Hasher) provider(t *future.Task, po *eval.ProviderObject) state.Hash {
	if po == nil {
		return state.Hash{}
	}
	h.mu.Lock()
	hash, is := h.providers[po]
	h.mu.Unlock()
	if !is { // two tasks may find the same
		hash = h.ofProvider(t, po)
		h.mu.Lock()
		h.providers[po] = hash
		h.mu.Unlock()
	}
	return hash
}

func (h *Hasher) ofProvider(t *future.Task, po *eval.ProviderObject) state.Hash {
	version, released := h.version(po.Addr.Provider)
	if !released || po.Borrows() {
		return state.Hash{}
	}
	marked, diags := po.EvalBody(t, eval.NewOpened(nil))
	if diags.HasErrors() {
		return state.Hash{} // which is reported when it is configured
	}
	ephemeral, sensitive := value.PathsWith(marked, value.Ephemeral), value.PathsWith(marked, value.Sensitive)
	v, _ := marked.UnmarkDeep()
	v = po.Block().NullAt(v, ephemeral)
	if !v.IsWhollyKnown() {
		return state.Hash{}
	}
	w := writer{hash: hmac.New(sha256.New, h.key)}
	w.text("provider")
	w.text(po.Addr.Provider.String())
	w.text(version)
	w.number(int64(len(ephemeral)))
	for _, path := range sorted(ephemeral) {
		w.text(schema.PathString(path))
	}
	if !h.secret(&w, "provider "+po.Addr.Provider.String(), po.Block(), v, slices.Concat(sensitive, po.Block().SensitivePaths(v))) {
		return state.Hash{}
	}
	return w.sum()
}

// secret writes a value whose parts at some paths are sensitive: they enter through slow hashes. It returns
// false if that can't be done.
func (h *Hasher) secret(w *writer, of string, b *schema.Block, v cty.Value, paths []cty.Path) bool {
	var done []cty.Path
	for _, path := range sorted(paths) {
		if slices.ContainsFunc(done, path.HasPrefix) {
			continue
		}
		part, err := path.Apply(v)
		if err != nil || part.IsNull() {
			continue
		}
		done = append(done, path)
		name := schema.PathString(path)
		sum, ok := h.secrets.sum(part, "given "+of+" "+name)
		if !ok {
			return false
		}
		w.text(name)
		w.bytes(sum)
	}
	return w.value(b.NullAt(v, done), b.Type(), b)
}

// sorted returns paths in an order that does not depend on how they were found, outer ones first.
func sorted(paths []cty.Path) []cty.Path {
	return slices.SortedStableFunc(slices.Values(paths), func(a, b cty.Path) int { return strings.Compare(schema.PathString(a), schema.PathString(b)) })
}

// writer hashes parts, each with a length or of a fixed size, so that no two sequences of parts look alike.
type writer struct{ hash hash.Hash }

func (w *writer) number(n int64) {
	_, _ = w.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func (w *writer) bytes(b []byte) {
	w.number(int64(len(b)))
	_, _ = w.hash.Write(b)
}

func (w *writer) text(s string) { w.bytes([]byte(s)) }

func (w *writer) flag(b bool) {
	n := int64(0)
	if b {
		n = 1
	}
	w.number(n)
}

func (w *writer) traversal(t hcl.Traversal) {
	w.number(int64(len(t)))
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			w.text("." + step.Name)
		case hcl.TraverseAttr:
			w.text("." + step.Name)
		case hcl.TraverseIndex:
			w.text("[" + step.Key.GoString())
		}
	}
}

// value writes a value of a type, without marks. It returns false if it can't be encoded.
func (w *writer) value(v cty.Value, ty cty.Type, b *schema.Block) bool {
	packed, err := value.Pack(v, ty, b)
	w.bytes(packed)
	return err == nil
}

func (w *writer) sum() state.Hash { return state.Hash(w.hash.Sum(nil)) }
