package explain

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// maxListed bounds the objects that one point names.
const maxListed = 5

// headlines describe the effect of an action, as the end of a sentence about the object.
var headlines = map[plan.Action]string{
	plan.NoOp: "does not change", plan.Create: "will be created", plan.Read: "will be read during apply", plan.Update: "will be updated in place",
	plan.Delete: "will be destroyed", plan.DeleteThenCreate: "must be replaced: destroyed, then created anew",
	plan.CreateThenDelete: "must be replaced: created anew, then the old object is destroyed",
	plan.Forget:           "will be removed from the state, without being destroyed", plan.ForgetThenCreate: "must be replaced: the old object is left as it is",
}

// reasons are the texts of reasons that need no more than the change.
var reasons = map[plan.Reason]string{
	plan.ReplaceTainted:     "the stored object is marked as tainted: its creation failed, or it was marked with the taint command",
	plan.ReplaceRequested:   "-replace asks for it",
	plan.DeleteNoConfig:     "no block declares it any more",
	plan.DeleteNoModule:     "no block calls its module any more",
	plan.DeleteRepetition:   "its key does not fit: the block uses count, for_each or neither in another way than before",
	plan.DeleteCountIndex:   "its index is out of the range of count",
	plan.DeleteEachKey:      "its key is no longer in for_each",
	plan.DeleteDisabled:     "enabled is false",
	plan.DeleteNoMoveTarget: "a moved block moved it to an address that no block declares",
	plan.ForgetInConfig:     "lifecycle.destroy is false in the configuration",
	plan.ForgetInState:      "lifecycle.destroy was false when it was last applied",
	plan.ReadCheckNested:    "it is nested in a check, whose data is read anew in each apply",
}

// happens fills in the change of a subject, and the reasons.
func (e *Explainer) happens(out *Answer, s subject) {
	if !s.resource {
		e.valueHappens(out, s)
		return
	}
	var list []*plan.Change
	list = e.changes[s.instance]
	if len(list) == 0 && s.instance.Key == addr.NoKey {
		for _, c := range e.instances[s.instance.Config()] {
			if c.Addr.Abs() == s.instance.Abs() {
				list = append(list, c)
			}
		}
	}
	deferrals := deferralsOf(e, s.instance)
	switch {
	case s.instance.Resource.Mode == addr.Ephemeral:
		e.ephemeralHappens(out, s)
	case s.instance.Resource.Mode == addr.Action:
		actionHappens(e, out, s)
	case len(deferrals) > 0:
		deferredHappens(e, out, s, deferrals, list)
	case len(list) == 0:
		e.absent(out, s)
	case len(list) == 1:
		out.Action, out.Headline, out.Why = list[0].Action.String(), headlines[list[0].Action], e.why(list[0], s)
		if len(s.path) > 0 {
			out.Headline = "is an attribute of " + list[0].Object().String() + ", which " + out.Headline
		}
	default:
		out.Headline = fmt.Sprintf("has %d objects in the plan", len(list))
		severalHappen(e, out, s, list)
	}
}

// severalHappen adds a point for each change, with the first of its reasons.
func severalHappen(e *Explainer, out *Answer, s subject, list []*plan.Change) {
	for _, c := range list {
		p := Point{Kind: c.Action.String(), Address: c.Object().String(), Text: c.Object().String() + " " + headlines[c.Action]}
		if more := e.why(c, s); len(more) > 0 {
			p.Text, p.Place = p.Text+": "+more[0].Text, more[0].Place
		}
		out.Why = append(out.Why, p)
	}
}

// absent explains why the plan has nothing about an object.
func (e *Explainer) absent(out *Answer, s subject) {
	out.Headline = "is not in the plan"
	b, _ := s.block.(*blocks.Resource)
	switch {
	case e.plan.Mode == plan.Destroy:
		out.Why = []Point{{Kind: "no_object", Text: "the state has no such object, so there is nothing to destroy"}}
	case len(e.plan.Targets)+len(e.plan.Excludes) > 0:
		out.Why = []Point{{Kind: "not_selected", Text: "-target or -exclude leaves it out"}}
	case b != nil && b.Config.Addr.Mode == addr.Data:
		out.Headline = "does not change"
		out.Why = []Point{{Kind: "read", Text: "it is a data source, and was read while the plan was made"}}
	case b != nil && b.Repeat.Repeated():
		out.Why = []Point{{Kind: "no_instance", Text: b.Repeat.Argument() + " gives it no such instance", Place: placeOf(b.Repeat.Expr().Range())}}
	}
}

// Why returns the reasons for a change of the plan.
func (e *Explainer) Why(c *plan.Change) []Point {
	return e.why(c, subject{resource: true, instance: c.Addr})
}

// wasMoved tells where the object of a change was before.
func wasMoved(c *plan.Change) Point {
	return Point{Kind: "moved", Text: "it was " + c.PrevAddr.String() + " before, which a moved block or a change of its repetition says"}
}

// why returns the reasons for a change of an object.
func (e *Explainer) why(c *plan.Change, s subject) []Point {
	b := e.block(c.Addr)
	var out []Point
	add := func(kind, text string) { out = append(out, Point{Kind: kind, Text: text}) }
	if c.Deposed != addr.Current {
		add("deposed", "it is left over from a replacement that did not destroy it")
	}
	if c.Moved() {
		out = append(out, wasMoved(c))
	}
	if c.Importing != nil {
		add("imported", "an import block takes an existing object into the state")
	}
	if text := reasons[c.Reason]; text != "" {
		p := Point{Kind: string(c.Reason), Text: text}
		if b != nil && b.Repeat.Repeated() && (c.Reason == plan.DeleteCountIndex || c.Reason == plan.DeleteEachKey || c.Reason == plan.DeleteDisabled) {
			p.Place, p.Chain = placeOf(b.Repeat.Expr().Range()), firstChain(b, blocks.ForRepetition)
		}
		out = append(out, p)
	}
	switch {
	case c.Action == plan.Create && c.Importing == nil && b != nil:
		out = append(out, Point{Kind: "no_object", Text: "the configuration declares it, and the state has no object of it", Place: placeOf(b.Config.Range)})
	case c.Action == plan.Delete && e.plan.Mode == plan.Destroy:
		add("destroy", "-destroy asks to destroy everything")
	case c.Action == plan.Read:
		out = append(out, e.whyLater(c, b)...)
	case c.Action == plan.Update || c.Action.IsReplace():
		out = append(out, e.triggers(c, b)...)
		out = append(out, e.whyChanged(c, b, s)...)
	case c.Action == plan.NoOp && len(out) == 0:
		add("unchanged", "the object is as the configuration wants it")
	}
	if len(s.path) > 0 && c.Action == plan.Create {
		out = append(out, e.unknownPart(c, b, s)...)
	}
	return append(out, e.drifted(c, s)...)
}

// whyLater explains why a data source is read during apply only: which changes it waits for.
func (e *Explainer) whyLater(c *plan.Change, b *blocks.Resource) []Point {
	if c.Reason == plan.ReadCheckNested {
		return nil
	}
	text, kind := "its configuration has values that are known only after ", "waits_for_value"
	if c.Reason == plan.ReadDependency {
		text, kind = "it depends on ", "waits_for_change"
	}
	var out []Point
	seen := map[addr.Instance]bool{}
	for _, dep := range c.Deps {
		list := e.awaited(dep)
		for _, up := range list {
			if seen[up.Addr] || up.Addr == c.Addr {
				continue
			}
			if len(seen) == maxListed {
				return append(out, Point{Kind: kind, Text: "it waits for other objects too"})
			}
			seen[up.Addr] = true
			p := Point{Kind: kind, Address: up.Addr.String(), Text: text + up.Addr.String() + ", which " + headlines[up.Action]}
			if b != nil {
				p.Place, p.Chain = e.wayTo(b, up.Addr)
			}
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		text := "its configuration has values that are known only during apply"
		if kind == "waits_for_change" {
			text = "it depends on objects that change"
		}
		out = append(out, Point{Kind: string(c.Reason), Text: text})
	}
	return out
}

// triggers explains a replacement that replace_triggered_by asks for.
func (e *Explainer) triggers(c *plan.Change, b *blocks.Resource) []Point {
	if c.Reason != plan.ReplaceTriggered || b == nil {
		return nil
	}
	var out []Point
	blocks.Links(b, func(l blocks.Link) bool {
		r, ok := l.To.(*blocks.Resource)
		if l.Purpose != blocks.ForTrigger || !ok {
			return true
		}
		if up, n := e.changing(r); n > 0 {
			text := fmt.Sprintf("replace_triggered_by refers to %s, and %s %s", refText(l), up.Addr, headlines[up.Action])
			out = append(out, Point{Kind: string(c.Reason), Address: up.Addr.String(), Text: text, Place: placeOf(l.Range)})
		}
		return true
	})
	if len(out) == 0 {
		out = append(out, Point{Kind: string(c.Reason), Text: "what replace_triggered_by refers to changes"})
	}
	return out
}

// drifted returns the changes of an object outside of the configuration.
func (e *Explainer) drifted(c *plan.Change, s subject) []Point {
	d := e.drift[c.Addr]
	if d == nil || c.Deposed != addr.Current {
		return nil
	}
	if d.Action == plan.Delete {
		return []Point{{Kind: "drift", Text: "the object was deleted outside of this configuration since the last apply"}}
	}
	var out []Point
	for _, diff := range e.differences(d, s) {
		out = append(out, Point{Kind: "drift", Attribute: schema.PathString(diff.path), Text: diff.text("was changed outside of this configuration") + " since the last apply"})
	}
	return out
}

// valueHappens fills in the change of an output, and the causes of a change of another value.
func (e *Explainer) valueHappens(out *Answer, s subject) {
	v, ok := s.block.(*blocks.Value)
	if !ok {
		e.moduleHappens(out, s)
		return
	}
	out.Headline = "is a value of the configuration"
	if v.Kind == blocks.OutputValue && v.Module.Parent == nil {
		for _, c := range e.plan.Outputs {
			if c.Name == v.Name {
				out.Action = c.Action.String()
				out.Headline = map[plan.Action]string{plan.NoOp: "does not change", plan.Create: "will be added", plan.Update: "will change", plan.Delete: "will be removed"}[c.Action]
			}
		}
	}
	for _, chain := range chains(v, s.rest) {
		end := chain.end
		if r, ok := end.(*blocks.Resource); ok {
			if up, n := e.changing(r); n > 0 {
				text := nameOf(r) + ", which it comes from, " + headlines[up.Action]
				if n > 1 {
					text = fmt.Sprintf("%d objects of %s, which it comes from, change", n, nameOf(r))
				}
				out.Why = append(out.Why, Point{Kind: "waits_for_change", Address: up.Addr.String(), Text: text, Place: placeOf(r.Config.Range), Chain: chain.hops})
			}
		}
	}
}

// moduleHappens counts the changes of the objects of a module.
func (e *Explainer) moduleHappens(out *Answer, s subject) {
	call, ok := s.block.(*blocks.Call)
	switch b := s.block.(type) {
	case *blocks.Provider:
		out.Headline = "is a configuration of a provider"
		return
	case *blocks.Check:
		e.checkHappens(out, b)
		return
	}
	if !ok {
		out.Headline = "is a part of the configuration"
		return
	}
	counts := map[plan.Action]int{}
	for _, c := range e.plan.Changes {
		for _, m := range c.Addr.Module.Path() {
			if call.Child != nil && m.Module() == call.Child.Config.Path {
				counts[c.Action]++
			}
		}
	}
	out.Headline = "is a module"
	for a := plan.NoOp; a <= plan.ForgetThenCreate; a++ {
		if counts[a] > 0 {
			which := ", each of which "
			if counts[a] == 1 {
				which = ", which "
			}
			out.Why = append(out.Why, Point{Kind: a.String(), Text: plural(counts[a], "object") + which + headlines[a]})
		}
	}
	if n := deferredIn(e, call); n > 0 {
		out.Why = append(out.Why, Point{Kind: "defer", Text: plural(n, "change") + " deferred to a later plan"})
	}
}

// checkHappens fills in the plan's result of a check, with the messages of failed assertions.
func (e *Explainer) checkHappens(out *Answer, b *blocks.Check) {
	out.Headline = "is a check, which this plan does not evaluate"
	for _, result := range e.plan.Checks {
		if result.Kind != "check" || result.Config != b.Address() {
			continue
		}
		out.Headline = map[string]string{
			"pass": "holds", "fail": "fails", "error": "cannot be evaluated", "unknown": "is decided during apply",
		}[string(result.Status)]
		for _, object := range result.Objects {
			for _, failure := range object.Failures {
				out.Why = append(out.Why, Point{Kind: "check_failed", Address: object.Addr, Text: strings.Join(strings.Fields(failure), " ")})
			}
		}
	}
}

// ephemeralHappens explains when an ephemeral resource is opened: a plan has nothing about it.
func (e *Explainer) ephemeralHappens(out *Answer, s subject) {
	out.Headline = "is ephemeral: it is opened when something uses it, and stored nowhere"
	b, ok := s.block.(*blocks.Resource)
	if !ok {
		return
	}
	waits := func(text string, up *plan.Change, place *Place, hops []Hop) {
		out.Why = append(out.Why, Point{
			Kind: "waits_for_change", Address: up.Addr.String(), Place: place, Chain: hops,
			Text: "planning does not open it, because " + text + " " + up.Addr.String() + ", which " + headlines[up.Action],
		})
	}
	for _, chain := range chains(b, nil) {
		r, ok := chain.end.(*blocks.Resource)
		if !ok {
			continue
		}
		if len(e.deferrals[r.Config.Config()]) > 0 {
			out.Why = append(out.Why, Point{
				Kind: "waits_for", Address: r.Address(), Place: placeOf(chain.from), Chain: chain.hops,
				Text: "planning does not open it, because its configuration comes from " + r.Address() + ", which " + deferredHeadline,
			})
		} else if up := e.unknownIn(r, chain.last.Ref.Rest); up != nil {
			waits("its configuration comes from", up, placeOf(chain.from), chain.hops)
		}
	}
	blocks.Links(b, func(l blocks.Link) bool {
		if r, ok := l.To.(*blocks.Resource); ok && l.Purpose == blocks.ForDependsOn {
			if up, n := e.changing(r); n > 0 {
				waits("its depends_on names", up, placeOf(l.Range), nil)
			}
		}
		return true
	})
	if len(e.usersFound(b)) == 0 {
		out.Why = append(out.Why, Point{Kind: "unused", Text: "nothing uses it, so it is never opened"})
	}
}

// unknownIn returns a change of a block's object after which the attribute that rest leads to is known, and
// before which it is not; nil if there is none.
func (e *Explainer) unknownIn(b *blocks.Resource, rest hcl.Traversal) *plan.Change {
	path, _ := pathOf(rest) // steps after a splat are not looked at
	for _, c := range e.spans[plan.Span{Block: b.Config.Config()}] {
		_, after, err := c.Sides()
		if err != nil || after == cty.NilVal {
			continue
		}
		plain, _ := after.UnmarkDeep()
		if v, err := path.Apply(plain); err != nil || !v.IsWhollyKnown() {
			return c
		}
	}
	return nil
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
