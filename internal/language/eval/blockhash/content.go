package blockhash

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// fail notes the first error of writing.
func (f *filler) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// begin writes how the calls around the node are repeated.
func (f *filler) begin() { f.text(f.formsAround(f.m)) }

// resource fills the node of a resource or of its repetition.
func (f *filler) resource(r *blocks.Resource) {
	if f.self.part == repetition {
		f.begin()
		f.repetition(r.Repeat)
		for e := range blocks.Edges(r) {
			if e.Role&blocks.InRepetition != 0 || e.Role == blocks.AroundIt {
				f.follow(func(yield func(blocks.Edge) bool) { yield(e) })
			}
		}
		return
	}
	f.begin()
	f.number(int(blocks.FormOf(r.Repeat)))
	f.providerVersion(r.Provider)
	f.number(int(r.Schema.Version))
	f.resourceBody(r)
	f.lifecycle(r)
	f.explicit(r.Config.DependsOn)
	f.meta(r)
	f.expr(r.ProviderKey)
	f.passedKeys(r)
	f.provisioners(r.Provisioners)
	f.provisioners(r.DestroyProvisioners)
	f.follow(blocks.Edges(r))
	f.imports(r)
	if !r.Repeat.Repeated() {
		return
	}
	own := key{node: r, part: repetition}
	f.waits = append(f.waits, f.id(own))
	if r.Config.Addr.Mode == addr.Ephemeral { // it has no rows, and so no keys that are stored
		f.link(own)
		return
	}
	f.elements(own, r.Exprs)
}

func (f *filler) resourceBody(r *blocks.Resource) {
	if r.Config.NoBody {
		return
	}
	leave := leaving{block: r.Schema.Block, patterns: r.Withheld, versions: r.Versions}
	f.body(r.Schema.Block, r.Config.Body, leave, nil)
	slices.SortFunc(f.leftOut, compareStart)
}

func (f *filler) repetition(r blocks.Repetition) {
	f.number(int(blocks.FormOf(r)))
	f.expr(r.Expr())
}

// providerVersion writes a provider and its version. Of one under development, nothing says whether it is
// as it was.
func (f *filler) providerVersion(p addr.Provider) {
	version, ok := f.in.Version(p)
	f.text(p.String())
	f.text(version)
	f.world = f.world || !ok
}

func (f *filler) lifecycle(r *blocks.Resource) {
	l := &r.Config.Lifecycle
	f.flag(l.CreateBeforeDestroy)
	f.flag(l.SkipDestroy())
	f.flag(l.IgnoreAll)
	f.number(len(l.IgnoreChanges))
	for _, t := range l.IgnoreChanges {
		f.traversal(t)
	}
	f.withheld(r)
	f.expr(r.Prevent)
	f.exprs(r.Triggers)
	f.conditions(r.Preconditions)
	f.conditions(r.Postconditions)
	f.number(len(r.ActionTriggers))
	for _, t := range r.ActionTriggers {
		f.number(len(t.Config.Events))
		for _, event := range t.Config.Events {
			f.text(event)
		}
		f.text(t.Config.OnFailure)
		f.expr(t.Condition)
		f.exprs(t.Actions)
	}
}

// withheld writes the paths that the block or a policy withholds, in any order that they are named in.
func (f *filler) withheld(r *blocks.Resource) {
	byPath := map[string]*lang.Expr{}
	for i, p := range r.Withheld {
		byPath[schema.PatternString(p)] = r.Versions[i]
	}
	f.number(len(byPath))
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		f.text(path)
		f.expr(byPath[path])
	}
}

// explicit writes depends_on in any order.
func (f *filler) explicit(list []hcl.Traversal) {
	var all []string
	for _, t := range list {
		var w writer
		w.traversal(t)
		all = append(all, string(w))
	}
	slices.Sort(all)
	f.number(len(all))
	for _, t := range all {
		f.text(t)
	}
}

// meta writes the metadata of the module for the provider.
func (f *filler) meta(r *blocks.Resource) {
	for _, name := range slices.Sorted(maps.Keys(f.m.Config.ProviderMeta)) {
		if f.m.Config.ProviderFor(name) == r.Provider {
			f.arguments(f.m.Config.ProviderMeta[name].Body)
		}
	}
}

// passedKeys writes the keys by which calls of modules choose instances of the provider configuration that
// they pass on to the resource.
func (f *filler) passedKeys(r *blocks.Resource) {
	ref := r.Config.ProviderRef()
	for m := r.Module; m.Parent != nil; m = m.Parent {
		passed := m.Config.Passed(ref)
		if passed == nil {
			return // it is declared here, or inherited, which takes no keys
		}
		if ref = *passed; ref.KeyExpr == nil {
			continue
		}
		x, _ := lang.Compile(ref.KeyExpr) // evaluating it reports mistakes
		f.m = m.Parent
		f.expr(x)
		f.m = r.Module
		f.follow(blocks.ExprEdges(m.Parent, x))
		f.elements(key{node: blocks.CallOf(m)}, func(yield func(blocks.Role, *lang.Expr) bool) bool { return yield(blocks.InProviderKey, x) })
	}
}

// arguments writes the arguments of a body that has no blocks.
func (f *filler) arguments(body hcl.Body) {
	attrs, _ := body.JustAttributes() // anything else was reported
	f.number(len(attrs))
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		f.text(name)
		f.expression(attrs[name].Expr)
	}
}

func (f *filler) conditions(list []blocks.Condition) {
	f.number(len(list))
	for _, c := range list {
		f.expr(c.Expr)
		f.expr(c.Message)
	}
}

func (f *filler) provisioners(list []blocks.Provisioner) {
	f.number(len(list))
	for i := range list {
		p := &list[i]
		f.text(p.Config.Type)
		f.flag(p.Config.Continue)
		f.body(p.Schema, p.Config.Body, leaving{}, nil)
		f.flag(p.Connected != nil)
		if p.Connected != nil {
			f.arguments(p.ConnectionBody())
		}
	}
}

// value fills the node of a variable, local value or output.
func (f *filler) value(v *blocks.Value) {
	f.begin()
	switch v.Kind {
	case blocks.VariableValue:
		f.variable(v)
	case blocks.OutputValue:
		f.output(v.Output)
	}
	f.m = v.WrittenIn()
	f.expr(v.Expr)
	f.m = v.Module
	f.conditions(v.Conditions)
	f.follow(blocks.Edges(v))
	call := blocks.CallOf(v.Module)
	if v.Kind == blocks.OutputValue && call != nil { // who reads it waits for depends_on of the calls, too
		f.waits = append(f.waits, f.id(key{node: call, part: around}))
	}
	if v.Kind == blocks.VariableValue && v.Expr != nil {
		f.elements(key{node: call}, func(yield func(blocks.Role, *lang.Expr) bool) bool { return yield(blocks.InBody, v.Expr) })
	}
}

func (f *filler) output(o *config.Output) {
	f.flag(o.Sensitive)
	f.flag(o.Ephemeral)
	f.text(o.Deprecated)
	f.fail(f.typ(o.Constraint))
	f.fail(f.defaults(o.Defaults))
	f.explicit(o.DependsOn)
}

func (f *filler) variable(v *blocks.Value) {
	d := v.Variable
	f.flag(d.Sensitive)
	f.flag(d.Nullable)
	f.text(d.Deprecated)
	f.fail(f.typ(d.Constraint))
	f.fail(f.defaults(d.Defaults))
	given := d.Default
	if v.Given() {
		if got, ok := f.in.Variables[d.Name]; ok {
			given = got
		}
	}
	switch {
	case d.Ephemeral: // no value at all, unlike in all others
	case d.Sensitive && given != cty.NilVal:
		f.slow(given)
	default:
		f.fail(f.writer.value(given))
	}
}

// slow writes the slow hash of a value.
func (f *filler) slow(v cty.Value) {
	hash, err := f.in.Slow(v)
	f.fail(err)
	f.bytes(hash)
}

func (f *filler) provider(p *blocks.Provider) {
	f.begin()
	f.providerVersion(p.Source)
	f.expr(p.ForEach)
	f.body(p.Schema.Block, p.Config.Body, leaving{ephemeral: p.Module}, nil)
	slices.SortFunc(f.leftOut, compareStart)
	f.follow(blocks.Edges(p))
}

// call fills the node of a call's repetition, or of the depends_on of a call and of those around it.
func (f *filler) call(c *blocks.Call) {
	if f.self.part == around {
		f.explicit(c.Config.DependsOn)
		f.follow(blocks.ExplicitEdges(c.Module, c.DependsOn))
	} else {
		f.begin()
		f.repetition(c.Repeat)
	}
	for e := range blocks.Edges(c) {
		if e.Role == blocks.AroundIt || f.self.part == whole && e.Role&blocks.InRepetition != 0 {
			f.follow(func(yield func(blocks.Edge) bool) { yield(e) })
		}
	}
}

func (f *filler) check(c *blocks.Check) {
	f.begin()
	f.conditions(c.Assertions)
	f.follow(blocks.Edges(c))
}
