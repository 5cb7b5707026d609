package blockhash

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/component"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Format is the version of the form of hashes. It changes with the version of the tables that keep hashes,
// because another one makes all blocks differ.
const Format = 1

// Hash is the hash of a block.
type Hash [sha256.Size]byte

// Inputs are everything that hashes depend on besides the configuration.
type Inputs struct {
	Key       []byte                       // random, of the workspace
	Variables map[string]cty.Value         // of the root module, converted, unmarked; absent ones take their default
	Functions map[string]function.Function // of the language, for those that read files
	Workspace string
	RootDir   string // for path.root
	WorkDir   string // for path.cwd, absolute
	// Version returns the version of a provider; false for one under development.
	Version func(addr.Provider) (string, bool)
	// Slow hashes a sensitive value at a cost that keeps it from being guessed.
	Slow func(cty.Value) ([]byte, error)
	// Interrupted ends the computation when it is closed, as it ends reading files; nil for never.
	Interrupted <-chan struct{}
}

// Set has the hashes of a configuration.
type Set struct {
	nodes   []node
	index   map[key]int32
	hashes  []Hash
	known   []bool
	modules []Module
}

// Module has the hashes of the blocks of a module in all its instances.
type Module struct {
	Path    addr.Module
	Entries []Entry // in the order of their names
	Digest  Hash    // of the entries
}

// Entry is the hash of a block. The name is the block's address within its module, with the word resource
// before a managed one. A call stands for its repetition; the repetition of a resource is an entry of its
// own.
type Entry struct {
	Name  string
	Hash  Hash
	Known bool // false if the block looks at the world
}

// Of hashes all blocks of a configuration that compiled without errors.
func Of(cfg *blocks.Config, in Inputs) (*Set, error) {
	return of(cfg, in, func() hash.Hash { return hmac.New(sha256.New, in.Key) })
}

// of is Of with a function that begins a keyed hash.
func of(cfg *blocks.Config, in Inputs, begin func() hash.Hash) (*Set, error) {
	b := newBuilder(cfg, in)
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("hashing the configuration: %w", err)
	}
	select {
	case <-in.Interrupted: // files may have been read in part
		return nil, bounds.ErrInterrupted
	default:
	}
	s := &Set{nodes: b.nodes, index: b.index, hashes: make([]Hash, len(b.nodes)), known: make([]bool, len(b.nodes))}
	s.hash(begin)
	s.group(cfg, begin)
	return s, nil
}

// hash computes the hashes, component by component, each after those that it leads to.
func (s *Set) hash(begin func() hash.Hash) {
	order, of := component.Find(s.links(), func(to int32) int32 { return to })
	for len(order) > 0 {
		n := 1
		for n < len(order) && of[order[n]] == of[order[0]] {
			n++
		}
		s.hashComponent(begin, of, order[:n:n])
		order = order[n:]
	}
}

func (s *Set) links() [][]int32 {
	links := make([][]int32, len(s.nodes))
	for i := range s.nodes {
		links[i] = s.nodes[i].links
	}
	return links
}

// hashComponent hashes the contents of nodes that lead to each other, in the order of their names, and the
// hashes of the other nodes that they lead to. Each has a hash of its own.
func (s *Set) hashComponent(begin func() hash.Hash, of []int32, members []int32) {
	slices.SortFunc(members, s.byName)
	var outside []int32
	for _, i := range members {
		if s.nodes[i].world {
			return
		}
		for _, to := range s.nodes[i].links {
			if of[to] == of[i] {
				continue
			}
			if !s.known[to] {
				return
			}
			outside = append(outside, to)
		}
	}
	slices.SortFunc(outside, s.byName)
	var w writer
	w.number(Format)
	w.number(len(members))
	for _, i := range members {
		w.text(s.nodes[i].name)
		w.bytes(s.nodes[i].content)
	}
	for _, to := range slices.Compact(outside) {
		w.text(s.nodes[to].name)
		w.bytes(s.hashes[to][:])
	}
	whole := sum(begin, w)
	for _, i := range members {
		s.hashes[i], s.known[i] = whole, true
		if len(members) > 1 {
			var own writer
			own.text(s.nodes[i].name)
			own.bytes(whole[:])
			s.hashes[i] = sum(begin, own)
		}
	}
}

func (s *Set) byName(a, b int32) int { return strings.Compare(s.nodes[a].name, s.nodes[b].name) }

func sum(begin func() hash.Hash, w writer) Hash {
	h := begin()
	h.Write(w)
	return Hash(h.Sum(nil))
}

// group collects the entries of each module.
func (s *Set) group(cfg *blocks.Config, begin func() hash.Hash) {
	entries := map[*blocks.Module][]Entry{}
	for i := range s.nodes {
		if n := &s.nodes[i]; n.entry != "" {
			entries[n.module] = append(entries[n.module], Entry{Name: n.entry, Hash: s.hashes[i], Known: s.known[i]})
		}
	}
	for _, m := range cfg.SortedModules() {
		out := Module{Path: m.Config.Path, Entries: entries[m]}
		slices.SortFunc(out.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
		var w writer
		for _, e := range out.Entries {
			w.text(e.Name)
			w.flag(e.Known)
			w.bytes(e.Hash[:])
		}
		out.Digest = sum(begin, w)
		s.modules = append(s.modules, out)
	}
}

// Block returns the hash of a block; false if it looks at the world.
func (s *Set) Block(n blocks.Node) (Hash, bool) { return s.at(key{node: n}) }

// Repetition returns the hash of the repetition of a resource; false if it looks at the world, or if the
// resource isn't repeated. The hash of a call is the hash of its repetition.
func (s *Set) Repetition(r *blocks.Resource) (Hash, bool) {
	return s.at(key{node: r, part: repetition})
}

func (s *Set) at(k key) (Hash, bool) {
	i, ok := s.index[k]
	if !ok {
		return Hash{}, false
	}
	return s.hashes[i], s.known[i]
}

// Modules returns the hashes of all blocks, for each module of the tree in the order of their paths.
func (s *Set) Modules() []Module { return s.modules }
