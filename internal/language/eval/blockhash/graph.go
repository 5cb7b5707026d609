package blockhash

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// part is the part of a block that a node stands for.
type part uint8

const (
	whole      part = iota // of a call, its repetition
	repetition             // of a resource
	around                 // of a call: its depends_on, for which everything in the module waits
)

// key identifies a node. A node of the graph of blocks may have several parts.
type key struct {
	node blocks.Node
	part part
}

// node is a part of the configuration that is hashed as a whole.
type node struct {
	key     key
	name    string // unique
	entry   string // the name among the entries of its module; "" for a node that is none
	module  *blocks.Module
	content []byte
	world   bool    // it looks at the world
	links   []int32 // to nodes whose hashes enter its own
	waits   []int32 // to nodes that are planned first
}

// builder turns the graph of blocks into nodes. Groups of blocks become nodes when something refers to
// them.
type builder struct {
	cfg   *blocks.Config
	in    Inputs
	nodes []node
	index map[key]int32
	files map[string]fileResult
	forms map[*blocks.Module]string

	importing map[*blocks.Resource][]importBlock
}

// importBlock is an import block for objects of a resource, and the module that it is in.
type importBlock struct {
	in    *blocks.Module
	block *config.Import
}

func newBuilder(cfg *blocks.Config, in Inputs) *builder {
	return &builder{cfg: cfg, in: in, index: map[key]int32{}, files: map[string]fileResult{}, forms: map[*blocks.Module]string{}, importing: map[*blocks.Resource][]importBlock{}}
}

func (b *builder) build() error {
	b.collectImports()
	for n := range b.cfg.EachBlock {
		b.id(key{node: n})
	}
	for i := int32(0); int(i) < len(b.nodes); i++ { // filling a node may add others
		if err := b.fill(i); err != nil {
			return err
		}
	}
	return nil
}

// collectImports finds the resources that import blocks name.
func (b *builder) collectImports() {
	for _, m := range b.cfg.SortedModules() {
		for _, im := range m.Config.Imports {
			to, err := addr.TargetFromTraversal(im.To.Steps)
			if err != nil || to.Resource == nil {
				continue // package config reports it
			}
			in := m
			for _, name := range to.Module.Module().Calls() {
				if call := in.Calls[name]; call != nil && call.Child != nil {
					in = call.Child
				}
			}
			if r := in.Resources[*to.Resource]; r != nil {
				b.importing[r] = append(b.importing[r], importBlock{m, im})
			}
		}
	}
}

// id returns the number of a node, which it adds if it is new.
func (b *builder) id(k key) int32 {
	if i, ok := b.index[k]; ok {
		return i
	}
	i := int32(len(b.nodes))
	b.index[k] = i
	n := node{key: k}
	n.module, n.entry = place(k.node)
	switch {
	case k.part == repetition:
		n.entry = "repetition." + n.entry
	case k.part == around:
		n.name, n.entry = "around "+k.node.Address(), ""
	case n.entry == "":
		_, inside := blocks.Grouped(k.node)
		n.name = "outputs of " + k.node.Address()
		if inside {
			n.name = "content of " + k.node.Address()
		}
	}
	if n.entry != "" {
		n.name = n.module.Config.Path.Join(n.entry)
	}
	b.nodes = append(b.nodes, n)
	return i
}

// place returns the module of a block and its name there, which is unique among all kinds of blocks.
func place(n blocks.Node) (*blocks.Module, string) {
	switch n := n.(type) {
	case *blocks.Resource:
		name := n.Config.Addr.String()
		if n.Config.Addr.Mode == addr.Managed {
			name = "resource." + name
		}
		return n.Module, name
	case *blocks.Value:
		return n.Module, n.LocalName()
	case *blocks.Provider:
		return n.Module, "provider." + n.Config.Ref().String()
	case *blocks.Call:
		return n.Module, "module." + n.Config.Name
	case *blocks.Check:
		return n.Module, "check." + n.Config.Name
	}
	m, _ := blocks.Grouped(n)
	return m, ""
}

// fill computes the content of a node and its links.
func (b *builder) fill(i int32) error {
	k := b.nodes[i].key
	f := &filler{builder: b, self: k, m: b.nodes[i].module}
	switch n := k.node.(type) {
	case *blocks.Resource:
		f.resource(n)
	case *blocks.Value:
		f.value(n)
	case *blocks.Provider:
		f.provider(n)
	case *blocks.Call:
		f.call(n)
	case *blocks.Check:
		f.check(n)
	default:
		f.follow(blocks.Edges(n))
		m, inside := blocks.Grouped(n)
		for _, name := range slices.Sorted(maps.Keys(m.Variables)) { // their conditions are evaluated with the rest
			if v := m.Variables[name]; inside && len(v.Conditions) > 0 {
				f.waits = append(f.waits, b.id(key{node: v}))
			}
		}
	}
	n := &b.nodes[i]
	slices.Sort(f.formsRead)
	for _, form := range slices.Compact(f.formsRead) {
		f.text(form)
	}
	n.content, n.world, n.links, n.waits = f.writer, f.world, f.links, f.waits
	return f.err
}

// filler collects the content and the links of one node.
type filler struct {
	writer
	*builder
	self      key
	m         *blocks.Module // where the node is declared
	world     bool
	links     []int32
	waits     []int32
	formsRead []string // of resources and calls that are referred to
	leftOut   ranges   // expressions that are not hashed
	err       error
}

func (f *filler) link(k key) { f.links = append(f.links, f.id(k)) }

// follow adds the edges of a node: links to the nodes whose hashes enter its own, and the forms of
// resources, whose values are stored, and calls.
func (f *filler) follow(edges func(func(blocks.Edge) bool)) {
	for e := range edges {
		if e.Role&blocks.Triggering == 0 {
			f.waits = append(f.waits, f.id(key{node: e.To}))
		}
		if e.Role == blocks.AroundIt {
			f.waits = append(f.waits, f.id(key{node: e.To, part: around}))
		}
		if !f.skips(e) {
			f.enter(e)
		}
	}
}

// enter has the target of an edge enter the hash.
func (f *filler) enter(e blocks.Edge) {
	switch to := e.To.(type) {
	case *blocks.Resource:
		if to.Config.Addr.Mode == addr.Ephemeral && e.Ref != nil {
			f.link(key{node: to})
			return
		}
		f.readForm(to.Address(), to.Repeat)
	case *blocks.Call:
		if e.Role == blocks.AroundIt {
			f.link(key{node: to, part: around})
			return
		}
		f.link(key{node: to}) // which instances there are is not among the objects that are read
		f.readForm(to.Address(), to.Repeat)
	default:
		f.link(key{node: e.To})
	}
}

func (f *filler) readForm(address string, r blocks.Repetition) {
	f.formsRead = append(f.formsRead, address+" "+string('0'+rune(blocks.FormOf(r))))
}

// skips reports whether an edge is one of an expression that is not hashed, or of a repetition, which is a
// node of its own.
func (f *filler) skips(e blocks.Edge) bool {
	if e.Role == blocks.InElement || f.self.part == whole && e.Role&blocks.InRepetition != 0 && ownRepetition(f.self.node) {
		return true
	}
	return e.Expr != nil && f.leftOut.cover(e.Expr.Source.Range()) || e.Ref != nil && f.leftOut.cover(e.Ref.Range)
}

// ownRepetition reports whether the repetition of a block is a node beside the block.
func ownRepetition(n blocks.Node) bool {
	_, ok := n.(*blocks.Resource)
	return ok
}

// imports has the resource wait for the blocks to which import blocks for its objects refer. They enter no
// hash: only an object that is not there yet is imported.
func (f *filler) imports(r *blocks.Resource) {
	for _, im := range f.importing[r] {
		for _, e := range slices.Concat([]hcl.Expression{im.block.ForEach, im.block.ID, im.block.Identity}, slices.Collect(maps.Values(im.block.To.Keys))) {
			if e == nil {
				continue
			}
			x, _ := lang.Compile(e) // evaluating it reports mistakes
			for to := range blocks.ExprEdges(im.in, x) {
				f.waits = append(f.waits, f.id(key{node: to.To}))
			}
		}
	}
}

// ranges are sorted by where they start, and don't overlap.
type ranges []hcl.Range

// cover reports whether a range lies in one of them.
func (r ranges) cover(rng hcl.Range) bool {
	i, _ := slices.BinarySearchFunc(r, rng, compareStart)
	for _, at := range []int{i, i - 1} { // the one that starts with it, or the last one before it
		if at >= 0 && at < len(r) && contains(r[at], rng) {
			return true
		}
	}
	return false
}

func contains(outer, inner hcl.Range) bool {
	return outer.Filename == inner.Filename && outer.Start.Byte <= inner.Start.Byte && inner.End.Byte <= outer.End.Byte
}

// elements links the node to a repetition if expressions refer to its elements.
func (f *filler) elements(k key, exprs func(func(blocks.Role, *lang.Expr) bool) bool) {
	exprs(func(_ blocks.Role, x *lang.Expr) bool {
		for _, ref := range x.Refs {
			if blocks.IsElement(ref) && !f.leftOut.cover(x.Source.Range()) && !f.leftOut.cover(ref.Range) {
				f.link(k)
				f.waits = append(f.waits, f.id(k))
				return false
			}
		}
		return true
	})
}

// formsAround returns how the calls around a module are repeated.
func (b *builder) formsAround(m *blocks.Module) string {
	call := blocks.CallOf(m)
	if call == nil {
		return ""
	}
	forms, ok := b.forms[m]
	if !ok {
		forms = b.formsAround(m.Parent) + string('0'+rune(blocks.FormOf(call.Repeat)))
		b.forms[m] = forms
	}
	return forms
}
