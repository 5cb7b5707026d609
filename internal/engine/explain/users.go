package explain

import (
	"fmt"
	"slices"

	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// user is a block that refers to another one.
type user struct {
	of   blocks.Node
	link blocks.Link
}

// usersFound returns the blocks that refer to a block, in the order of the configuration.
func (e *Explainer) usersFound(n blocks.Node) []user {
	if e.users == nil {
		e.users = map[blocks.Node][]user{}
		e.config.EachBlock(func(of blocks.Node) bool {
			blocks.Links(of, func(l blocks.Link) bool {
				if l.Purpose != blocks.ForModule {
					e.users[l.To] = append(e.users[l.To], user{of, l})
				}
				return true
			})
			return true
		})
	}
	return e.users[n]
}

// usersOf returns who depends on a subject. Values are followed to who uses these.
func (e *Explainer) usersOf(s subject) []Point {
	seen := map[blocks.Node]bool{s.block: true}
	var out []Point
	var add func(n blocks.Node, via []Hop)
	add = func(n blocks.Node, via []Hop) {
		for _, u := range e.usersFound(n) {
			if n == s.block && !e.reads(u.link, s) || seen[u.of] {
				continue
			}
			seen[u.of] = true
			out = append(out, Point{Kind: string(u.link.Purpose), Address: nameOf(u.of), Attribute: u.link.Argument, Text: useText(u), Place: placeOf(u.link.Range), Chain: via})
			if v, ok := u.of.(*blocks.Value); ok {
				add(v, append(via[:len(via):len(via)], Hop{Name: nameOf(v), Place: placeOf(v.Range)}))
			}
		}
	}
	if call, ok := s.block.(*blocks.Call); ok && call.Child != nil {
		for _, n := range e.outputsOf(call.Child) {
			add(n, nil)
		}
	}
	add(s.block, nil)
	return out
}

// outputsOf returns the outputs of a module, in the order of the configuration.
func (e *Explainer) outputsOf(m *blocks.Module) []blocks.Node {
	var out []blocks.Node
	e.config.EachBlock(func(n blocks.Node) bool {
		if v, ok := n.(*blocks.Value); ok && v.Kind == blocks.OutputValue && v.Module == m {
			out = append(out, n)
		}
		return true
	})
	return out
}

// reads reports whether a reference reads the attribute that the question is about.
func (e *Explainer) reads(l blocks.Link, s subject) bool {
	if len(s.path) == 0 || l.Ref == nil {
		return true
	}
	path, _ := pathOf(l.Ref.Rest)
	return overlap(path, s.path)
}

// useText describes the purpose for which a block uses another one.
func useText(u user) string {
	name := nameOf(u.of)
	switch u.link.Purpose {
	case blocks.ForArgument:
		if u.link.Argument != "" {
			return fmt.Sprintf("%s, in its argument %s", name, u.link.Argument)
		}
		return name
	case blocks.ForRepetition:
		return name + ", which it repeats"
	case blocks.ForCondition:
		return name + ", in a condition"
	case blocks.ForProvisioner:
		return name + ", in a provisioner"
	case blocks.ForProvider:
		return name + ", whose provider it is"
	default:
		return fmt.Sprintf("%s, in %s", name, u.link.Purpose)
	}
}

// marks returns the sensitive, ephemeral and write-only parts of a subject, with reasons.
func (e *Explainer) marks(s subject) []Point {
	switch b := s.block.(type) {
	case *blocks.Value:
		return e.valueMarks(b, s)
	case *blocks.Resource:
		return e.resourceMarks(b, s)
	}
	return nil
}

// valueMarks says why a value is sensitive or ephemeral: by its own block, or by the way from where it
// comes.
func (e *Explainer) valueMarks(v *blocks.Value, s subject) []Point {
	var out []Point
	if v.Secret() {
		out = append(out, Point{Kind: "sensitive", Text: "sensitive: its block says so", Place: placeOf(v.Range)})
	} else {
		out = e.sensitiveWays(chains(v, s.rest), "")
	}
	if v.Kind == blocks.VariableValue && v.Variable.Ephemeral || v.Kind == blocks.OutputValue && v.Output.Ephemeral {
		return append(out, Point{Kind: "ephemeral", Text: "ephemeral: its block says so", Place: placeOf(v.Range)})
	}
	if v.Kind == blocks.LocalValue {
		out = append(out, e.ephemeralWays(chains(v, s.rest), "")...)
	}
	return out
}

// resourceMarks goes by the type's schema and the references of the arguments.
func (e *Explainer) resourceMarks(b *blocks.Resource, s subject) []Point {
	var out []Point
	if kindOf(b) == "ephemeral" {
		out = append(out, Point{Kind: "ephemeral", Text: "ephemeral: all that it returns is, because the block is an ephemeral resource", Place: placeOf(b.Config.Range)})
	}
	set := map[string]bool{}
	for _, x := range b.Schema.Block.Expressions(b.Config.Body) {
		set[x.Argument] = true
	}
	for _, name := range b.Schema.Block.Names() {
		attr := b.Schema.Block.Attributes[name]
		if attr == nil || len(s.path) > 0 && named(s.path) != name {
			continue
		}
		if len(s.path) == 0 && !set[name] {
			continue // nothing is in it that the configuration has to do with
		}
		if attr.Sensitive {
			out = append(out, Point{Kind: "sensitive", Attribute: name, Text: name + " is sensitive: the provider's schema says so"})
		}
		if attr.WriteOnly {
			out = append(out, Point{Kind: "write_only", Attribute: name, Text: name + " is write-only: the provider is sent it, and it is stored nowhere"})
		}
	}
	for _, pattern := range b.Withheld {
		if len(s.path) == 0 || named(s.path) == named(pattern) {
			name := schema.PatternString(pattern)
			seen := "references to it give null"
			if slices.ContainsFunc(b.Computed, pattern.Equals) {
				seen = "only the run that makes it has it, as an ephemeral value"
			}
			out = append(out, Point{Kind: "withheld", Attribute: name, Text: name + " is an ephemeral attribute: its value is kept out of the state, and " + seen})
		}
	}
	byArgument := map[string][]chain{}
	var order []string
	blocks.Links(b, func(l blocks.Link) bool {
		if l.Purpose != blocks.ForArgument || l.Ref == nil || len(s.path) > 0 && named(s.path) != l.Argument {
			return true
		}
		if byArgument[l.Argument] == nil {
			order = append(order, l.Argument)
		}
		byArgument[l.Argument] = append(byArgument[l.Argument], chain{}.follow(l)...)
		return true
	})
	for _, name := range order {
		out = append(out, e.sensitiveWays(byArgument[name], name)...)
		out = append(out, e.ephemeralWays(byArgument[name], name)...)
	}
	return out
}

// sensitiveWays returns the ways by which an expression becomes sensitive. argument is where the expression
// is, "" for a value's own.
func (e *Explainer) sensitiveWays(ways []chain, argument string) []Point {
	var out []Point
	seen := map[blocks.Node]bool{}
	for _, way := range ways {
		if seen[way.end] || way.public || !sensitiveEnd(way) {
			continue
		}
		seen[way.end] = true
		out = append(out, marked("sensitive", argument, way))
	}
	return out
}

// sensitiveEnd reports whether a way begins at something sensitive.
func sensitiveEnd(way chain) bool {
	switch b := way.end.(type) {
	case *blocks.Value:
		return b.Secret()
	case *blocks.Resource:
		path, _ := pathOf(way.last.Ref.Rest)
		attr := b.Schema.Block.AttributeAt(path)
		return attr != nil && attr.Sensitive
	}
	return false
}

// ephemeralWays is like sensitiveWays for ephemeral values.
func (e *Explainer) ephemeralWays(ways []chain, argument string) []Point {
	var out []Point
	seen := map[blocks.Node]bool{}
	for _, way := range ways {
		v, value := way.end.(*blocks.Value)
		if seen[way.end] || way.lasting || kindOf(way.end) != "ephemeral" && !(value && v.Kind == blocks.VariableValue && v.Variable.Ephemeral) {
			continue
		}
		seen[way.end] = true
		out = append(out, marked("ephemeral", argument, way))
	}
	return out
}

// marked returns the point that something has a mark because of where its value is from.
func marked(kind, argument string, way chain) Point {
	text := kind + ", because of " + nameOf(way.end)
	if argument != "" {
		text = argument + " is " + text
	}
	return Point{Kind: kind, Attribute: argument, Address: nameOf(way.end), Text: text, Place: placeOf(way.from), Chain: way.hops}
}
