// Package given hashes the evaluated configurations of objects, so that a later plan can tell, without the
// provider, that it would be given the same as before (docs/adr/041).
//
// It may import addr, future, object, config, eval, schema, value, fingerprint and state. It must not know
// plans, or how a state is stored.
package given

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/config"
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
	var packed []byte // empty for none: the encoding of a value never is
	if m := meta(); m != cty.NilVal {
		var err error
		if packed, err = value.Pack(m, m.Type(), nil); err != nil || !m.IsWhollyKnown() {
			return state.Hash{}
		}
	}
	var w writer
	w.text(in.Addr().String())
	w.bytes(provider[:])
	w.text(strconv.FormatInt(op.Schema.Version, 10))
	w.list(ignored(&in.Config().Lifecycle))
	w.list(names(c.Sensitive))
	w.bytes(packed)
	return h.sum(&w, in.Addr().String(), op.Block(), c.Value, c.Sensitive)
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
	var w writer
	w.text(po.Addr.Provider.String())
	w.text(version)
	w.list(names(ephemeral))
	return h.sum(&w, "provider "+po.Addr.Provider.String(), po.Block(), v, sensitive)
}

// sum returns the hash of the parts that were written and of a value; zero if there is none. Parts of the
// value at some paths are sensitive, besides those that its schema says.
func (h *Hasher) sum(w *writer, of string, b *schema.Block, v cty.Value, paths []cty.Path) state.Hash {
	if !h.value(w, of, b, v, slices.Concat(paths, b.SensitivePaths(v))) {
		return state.Hash{}
	}
	mac := hmac.New(sha256.New, h.key)
	mac.Write(*w)
	return state.Hash(mac.Sum(nil))
}

// value writes a value whose parts at some paths are sensitive: they enter through slow hashes. It returns
// false if that can't be done.
func (h *Hasher) value(w *writer, of string, b *schema.Block, v cty.Value, paths []cty.Path) bool {
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
		sum, ok := h.secrets.sum(part, "given "+of+" "+schema.PathString(path))
		if !ok {
			return false
		}
		w.bytes(sum)
	}
	packed, err := value.Pack(b.NullAt(v, done), b.Type(), b)
	w.bytes(packed)
	return err == nil
}

// sorted returns paths in an order that does not depend on how they were found, outer ones first.
func sorted(paths []cty.Path) []cty.Path {
	return slices.SortedStableFunc(slices.Values(paths), func(a, b cty.Path) int { return strings.Compare(schema.PathString(a), schema.PathString(b)) })
}

// names returns the texts of paths in order.
func names(paths []cty.Path) (out []string) {
	for _, path := range sorted(paths) {
		out = append(out, schema.PathString(path))
	}
	return out
}

// ignored returns texts for the attributes whose changes are ignored. The steps of each follow an empty text.
func ignored(l *config.Lifecycle) (out []string) {
	if l.IgnoreAll {
		out = append(out, "all")
	}
	for _, t := range l.IgnoreChanges {
		out = append(out, "")
		for _, step := range t {
			switch step := step.(type) {
			case hcl.TraverseRoot:
				out = append(out, "."+step.Name)
			case hcl.TraverseAttr:
				out = append(out, "."+step.Name)
			case hcl.TraverseIndex:
				out = append(out, "["+step.Key.GoString())
			}
		}
	}
	return out
}

// writer is a text to be hashed. Each part has its length, so that no two sequences of parts look alike.
type writer []byte

func (w *writer) bytes(b []byte) {
	*w = binary.BigEndian.AppendUint64(*w, uint64(len(b)))
	*w = append(*w, b...)
}

func (w *writer) text(s string) { w.bytes([]byte(s)) }

// list writes texts as one part.
func (w *writer) list(texts []string) {
	var all writer
	for _, s := range texts {
		all.text(s)
	}
	w.bytes(all)
}
