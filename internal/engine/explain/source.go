package explain

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

const (
	maxChains = 8  // followed from one expression
	maxHops   = 12 // of one chain
)

// chain is one way of a value, from the reference in an expression to its origin.
type chain struct {
	hops []Hop
	from hcl.Range   // of the first reference
	end  blocks.Node // the last block
	last blocks.Link // that led to it
	// public and lasting say that a function on the way takes the mark of sensitive or ephemeral values away.
	public, lasting bool
}

// chains follows the references of a block's arguments, or of the part of a value's expression that rest
// leads to.
func chains(n blocks.Node, rest hcl.Traversal) []chain {
	var out []chain
	add := func(l blocks.Link) bool {
		if l.Purpose == blocks.ForArgument && l.Ref != nil {
			out = append(out, chain{}.follow(l)...)
		}
		return len(out) < maxChains
	}
	if v, ok := n.(*blocks.Value); ok {
		v.Passed(rest, add)
	} else {
		blocks.Links(n, add)
	}
	return out
}

// follow goes on from the way along a reference, over values to where these are from. There is at least one
// result. A value within itself ends at the limit of a chain.
func (way chain) follow(l blocks.Link) []chain {
	if len(way.hops) == 0 {
		way.from = l.Range
	}
	way.hops = append(way.hops[:len(way.hops):len(way.hops)], Hop{Name: refText(l), Place: placeOf(definition(l.To))})
	way.end, way.last = l.To, l
	way.public, way.lasting = way.public || l.In("nonsensitive") || l.In("fingerprint"), way.lasting || l.In("ephemeralasnull") || l.In("fingerprint")
	v, ok := l.To.(*blocks.Value)
	if !ok || len(way.hops) == maxHops {
		return []chain{way}
	}
	var out []chain
	v.Passed(l.Ref.Rest, func(next blocks.Link) bool {
		out = append(out, way.follow(next)...)
		return len(out) < maxChains
	})
	if len(out) == 0 {
		return []chain{way}
	}
	return out
}

// definition returns where a block is declared, or where the call of a module sets a variable.
func definition(n blocks.Node) hcl.Range {
	if v, ok := n.(*blocks.Value); ok {
		return v.Range
	}
	return blocks.Declared(n)
}

// refText returns the name of the target of a reference, with the attribute that it reads.
func refText(l blocks.Link) string {
	name := nameOf(l.To)
	if l.Ref == nil {
		return name
	}
	if r, ok := l.To.(*blocks.Resource); ok && l.Ref.Index != nil && l.Ref.Index.Expr == nil {
		name = r.Address() + l.Ref.Index.Key.String()
	}
	path, _ := pathOf(l.Ref.Rest)
	if len(path) == 0 {
		return name
	}
	if _, ok := path[0].(cty.IndexStep); ok {
		return name + schema.PathString(path)
	}
	return name + "." + schema.PathString(path)
}

// firstChain returns the way of the value that a block refers to for a purpose, nil if there is none.
func firstChain(n blocks.Node, p blocks.Purpose) (hops []Hop) {
	blocks.Links(n, func(l blocks.Link) bool {
		if l.Purpose != p || l.Ref == nil {
			return true
		}
		hops = chain{}.follow(l)[0].hops
		return false
	})
	return hops
}

// wayTo returns how a block comes to depend on an instance: the place of the reference, and the way of the
// value if it is one.
func (e *Explainer) wayTo(b *blocks.Resource, to addr.Instance) (place *Place, hops []Hop) {
	target := e.block(to)
	blocks.Links(b, func(l blocks.Link) bool {
		if l.Purpose == blocks.ForDependsOn {
			if call, ok := l.To.(*blocks.Call); l.To == blocks.Node(target) || ok && call.Child != nil && target != nil && within(target.Module, call.Child) {
				place, hops = placeOf(l.Range), nil
				return false
			}
		}
		if l.Ref == nil || l.Purpose == blocks.ForDependsOn {
			return true
		}
		for _, way := range (chain{}).follow(l) {
			if way.end == blocks.Node(target) {
				place, hops = placeOf(l.Range), way.hops
				return false
			}
		}
		return true
	})
	return place, hops
}

// within reports whether m is the module outer or below it.
func within(m, outer *blocks.Module) bool {
	for ; m != nil; m = m.Parent {
		if m == outer {
			return true
		}
	}
	return false
}

// from returns where the values of a subject come from: each argument that refers to something, or the one
// that is asked about.
func (e *Explainer) from(s subject) []Point {
	switch b := s.block.(type) {
	case *blocks.Value:
		return e.valueFrom(b, s.rest)
	case *blocks.Resource:
		return e.argumentsFrom(b, s)
	}
	var out []Point
	blocks.Links(s.block, func(l blocks.Link) bool {
		if l.Ref != nil && l.Purpose != blocks.ForModule {
			text := string(l.Purpose)
			if l.Argument != "" {
				text = l.Argument
			}
			for _, way := range (chain{}).follow(l) {
				out = append(out, Point{Kind: string(l.Purpose), Attribute: l.Argument, Address: nameOf(way.end), Text: text, Place: placeOf(l.Range), Chain: way.hops})
			}
		}
		return true
	})
	return out
}

// valueFrom returns where a variable, local value or output comes from.
func (e *Explainer) valueFrom(v *blocks.Value, rest hcl.Traversal) []Point {
	if v.Given() {
		if _, set := e.plan.Variables[v.Name]; set {
			return []Point{{Kind: "given", Text: "given when the plan was made, by an option, a file or the environment"}}
		}
		if v.Variable.Ephemeral {
			return []Point{{Kind: "given", Text: "given for each command anew, since it is ephemeral"}}
		}
		return []Point{{Kind: "default", Text: "its default", Place: placeOf(v.Range)}}
	}
	var out []Point
	for _, way := range chains(v, rest) {
		out = append(out, Point{Kind: string(blocks.ForArgument), Address: nameOf(way.end), Text: "value", Place: placeOf(way.from), Chain: way.hops})
	}
	switch {
	case len(out) > 0:
	case v.Expr != nil:
		out = append(out, Point{Kind: "constant", Text: "written there, without a reference to anything", Place: placeOf(v.Expr.Range())})
	default:
		out = append(out, Point{Kind: "default", Text: "its default: the call of the module does not set it", Place: placeOf(v.Range)})
	}
	return out
}

// argumentsFrom returns where the arguments of a resource come from.
func (e *Explainer) argumentsFrom(b *blocks.Resource, s subject) []Point {
	var only []blocks.Place
	if len(s.path) > 0 {
		only = blocks.Places(b.Config.Body, s.path, cty.NilVal)
		if len(only) == 0 {
			if !e.computed(b, s.path) {
				return []Point{{Kind: "unset", Attribute: schema.PathString(s.path), Text: "the configuration does not set it"}}
			}
			return []Point{{Kind: "computed", Attribute: schema.PathString(s.path), Text: "the configuration does not set it: the provider decides it"}}
		}
	}
	var out []Point
	blocks.Links(b, func(l blocks.Link) bool {
		if l.Ref == nil || l.Purpose != blocks.ForArgument && l.Purpose != blocks.ForRepetition || len(s.path) > 0 && !anyOverlaps(only, l.Range) {
			return true
		}
		name := l.Argument
		if l.Purpose == blocks.ForRepetition {
			name = b.Repeat.Argument()
		}
		for _, way := range (chain{}).follow(l) {
			out = append(out, Point{Kind: string(l.Purpose), Attribute: name, Address: nameOf(way.end), Text: name, Place: placeOf(l.Range), Chain: way.hops})
		}
		return true
	})
	if len(out) == 0 && len(only) > 0 {
		out = append(out, Point{Kind: "constant", Attribute: schema.PathString(s.path), Text: "written there, without a reference to anything", Place: placeOf(only[0].Expr.Range())})
	}
	return out
}

func anyOverlaps(places []blocks.Place, r hcl.Range) bool {
	return slices.ContainsFunc(places, func(p blocks.Place) bool { return p.Expr.Range().Overlaps(r) })
}
