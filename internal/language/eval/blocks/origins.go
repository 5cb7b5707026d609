package blocks

import (
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// origin is one way by which an expression becomes ephemeral: the reference, and where its value came from. A
// value has one origin for each source.
type origin struct {
	name     string  // as it would be written in the root module, with the module before it elsewhere
	from     *origin // nil at the source
	source   string
	applying bool // the source is terraform.applying, which is not secret
}

const (
	maxOrigins = 4 // listed for one expression
	maxHops    = 6 // listed for one origin
)

// String returns the chain for messages. The middle of a long one is left out.
func (o *origin) String() string {
	var names []string
	for ; o != nil; o = o.from {
		names = append(names, o.name)
	}
	if len(names) > maxHops {
		names = slices.Concat(names[:maxHops-3], []string{"…"}, names[len(names)-2:])
	}
	return strings.Join(names, " ← ")
}

// because says in a sentence why the references lead to something ephemeral; "" if no source is found.
func (m *Module) because(refs []lang.Ref) string { return because(m.Origins(refs)) }

// because returns a sentence on why the references lead to an ephemeral value, "" if no source was found.
func because(found []*origin) string {
	switch len(found) {
	case 0:
		return ""
	case 1:
		return "\n\nThe value is ephemeral because of " + found[0].String() + "."
	}
	var sb strings.Builder
	sb.WriteString("\n\nThe value is ephemeral because of")
	for i, o := range found {
		if i == maxOrigins {
			sb.WriteString("\n  and others")
			break
		}
		sb.WriteString("\n  " + o.String())
	}
	return sb.String()
}

// OnlyApplying reports whether terraform.applying is the one ephemeral source of the expression.
func (m *Module) OnlyApplying(x *lang.Expr) bool {
	found := m.Origins(refsIn(x, x.Expression))
	return len(found) > 0 && !slices.ContainsFunc(found, func(o *origin) bool { return !o.applying })
}

// Origins finds the ephemeral sources of references of the module without evaluating anything, at most one
// more than messages list.
func (m *Module) Origins(refs []lang.Ref) []*origin {
	root := m
	for root.Parent != nil {
		root = root.Parent
	}
	root.provenance.mu.Lock()
	defer root.provenance.mu.Unlock()
	if root.provenance.known == nil {
		root.provenance.known = map[valuePart][]*origin{}
	}
	return m.originsOf(refs, &root.provenance)
}

// provenance remembers the origins of values, so that each is looked into once in all.
type provenance struct {
	mu    sync.Mutex
	known map[valuePart][]*origin
}

// valuePart is a value or a literal part of one.
type valuePart struct {
	v        *Value
	from, to int // bytes of the expression
}

func (m *Module) originsOf(refs []lang.Ref, p *provenance) []*origin {
	var out []*origin
	for i := range refs {
		out = mergeOrigins(out, m.originsOfRef(&refs[i], p))
	}
	return out
}

// mergeOrigins adds the origins whose sources are not there yet, as long as there is room.
func mergeOrigins(out, more []*origin) []*origin {
	for _, o := range more {
		if len(out) <= maxOrigins && !slices.ContainsFunc(out, func(have *origin) bool { return have.source == o.source }) {
			out = append(out, o)
		}
	}
	return out
}

// originsOfRef returns the origins of one reference. An ephemeral resource and terraform.applying are
// sources; values and outputs are followed to theirs.
func (m *Module) originsOfRef(ref *lang.Ref, p *provenance) []*origin {
	if ref.Kind == lang.Terraform && ref.Name == "applying" {
		return source(ref.Root+".applying", true)
	}
	var out []*origin
	for to := range m.targets(ref) {
		switch b := to.(type) {
		case *Resource:
			if isEphemeral(b) {
				out = source(b.Address(), false)
			}
		case *Value:
			out = b.origins(ref.Rest, p)
		case outputsOf:
			for _, o := range diag.InOrder(b.Outputs) {
				out = mergeOrigins(out, o.origins(ref.Rest, p))
			}
		}
	}
	return out
}

func source(name string, applying bool) []*origin {
	return []*origin{{name: name, source: name, applying: applying}}
}

// origins follows a value, or the part of it that rest leads to, to the sources of its expression. A variable
// or output has no origins unless it is declared ephemeral, and is a source itself if it has no other.
func (v *Value) origins(rest hcl.Traversal, p *provenance) []*origin {
	name := v.Address()
	switch {
	case v.Kind == VariableValue && !v.Variable.Ephemeral, v.Kind == OutputValue && !v.Output.Ephemeral:
		return nil
	case v.Kind == OutputValue:
		name = v.Module.OutputAddr(v.Name)
	}
	key := valuePart{v: v}
	var refs []lang.Ref
	if v.Expr != nil {
		e := lang.Descend(v.Expr.Expression, rest)
		key.from, key.to = e.Range().Start.Byte, e.Range().End.Byte
		refs = refsIn(v.Expr, e)
	}
	if known, ok := p.known[key]; ok {
		return known
	}
	p.known[key] = nil // within a cycle
	var out []*origin
	for _, o := range v.writtenIn().originsOf(refs, p) {
		out = append(out, &origin{name: name, from: o, source: o.source, applying: o.applying})
	}
	if len(out) == 0 && v.Kind != LocalValue {
		out = source(name, false)
	}
	p.known[key] = out
	return out
}

// refsIn returns the references of x in its part e, except those that make nothing of it ephemeral.
func refsIn(x *lang.Expr, e hcl.Expression) []lang.Ref {
	cleared := append(callRanges(e, "ephemeralasnull"), callRanges(e, "fingerprint")...)
	if e == x.Expression && len(cleared) == 0 {
		return x.Refs
	}
	return slices.DeleteFunc(slices.Clone(x.Refs), func(ref lang.Ref) bool {
		return !e.Range().Overlaps(ref.Range) || slices.ContainsFunc(cleared, ref.Range.Overlaps)
	})
}

// callRanges returns the ranges of the calls of a function in an expression. ephemeralasnull and nonsensitive
// keep a mark of their arguments from the result of the expression.
func callRanges(e hcl.Expression, function string) []hcl.Range {
	native, ok := e.(hclsyntax.Node)
	if !ok {
		return nil
	}
	var out []hcl.Range
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && strings.TrimPrefix(call.Name, "core::") == function {
			out = append(out, call.Range())
		}
		return nil
	})
	return out
}

// BecauseOf is because for all of an expression of the module.
func (m *Module) BecauseOf(x *lang.Expr) string {
	if x == nil {
		return ""
	}
	return m.because(refsIn(x, x.Expression))
}

// RefuseEphemeral returns an error if v, which x gives in the module, carries an ephemeral value, saying why
// it must not and where it came from.
func (m *Module) RefuseEphemeral(v cty.Value, x *lang.Expr, why string) diag.List {
	if !value.Contains(v, value.Ephemeral) {
		return nil
	}
	return diag.List{{
		Summary: "Invalid use of an ephemeral value", Detail: why + m.BecauseOf(x), Subject: x.Range().Ptr(), Expression: x.Expression,
	}}
}

// Because says in a sentence why the part e of the resource's body is ephemeral. It returns false if the body
// does not tell.
func (b *Resource) Because(e hcl.Expression) (string, bool) {
	var out []*origin
	for _, x := range b.Body {
		if x.Range().Filename == e.Range().Filename && x.Range().Overlaps(e.Range()) {
			out = mergeOrigins(out, b.Module.Origins(refsIn(x, e)))
		}
	}
	return because(out), len(out) > 0
}
