package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/plan"
)

// web is a random configuration of ephemerals, provider configurations that use them, and resources that use
// both. A node uses earlier ones only.
type web struct {
	rng   *rand.Rand
	nodes []*webNode
}

type webKind uint8

const (
	webEphemeral webKind = iota
	webProvider
	webThing
)

type webNode struct {
	kind     webKind
	name     string
	keyed    bool     // ephemerals: two instances
	checked  bool     // ephemerals: has a postcondition
	parent   *webUse  // what an ephemeral is opened with, a provider configured with, a thing's write-only argument
	provider *webNode // an alias, or nil
	after    []*webNode
	hint     *webNode // ephemerals: a thing whose identifier it needs
	renew    bool
	failOn   string
	version  int
	gone     bool // things: not in the configuration any more
}

// webUse is a reference to an instance of an ephemeral, by way of something.
type webUse struct {
	node *webNode
	key  int // of keyed ones
	by   int // 0 directly, 1 through a local value, 2 through a module
}

func newWeb(rng *rand.Rand) *web {
	w := &web{rng: rng}
	for range 3 + rng.IntN(10) {
		w.add()
	}
	return w
}

func (w *web) add() {
	n := &webNode{kind: webKind(w.rng.IntN(4) % 3), version: 1, name: fmt.Sprintf("n%02d", len(w.nodes))}
	if n.kind != webProvider && w.rng.IntN(3) == 0 {
		n.provider = w.pick(webProvider)
	}
	if n.kind == webProvider || w.rng.IntN(3) > 0 {
		n.parent = w.use()
	}
	switch n.kind {
	case webEphemeral:
		n.keyed, n.checked, n.renew = w.rng.IntN(3) == 0, w.rng.IntN(6) == 0, w.rng.IntN(6) == 0
		if w.rng.IntN(5) == 0 {
			n.hint = w.pick(webThing)
		}
	case webThing:
		for range w.rng.IntN(3) {
			if t := w.pick(webThing); t != nil && !slices.Contains(n.after, t) {
				n.after = append(n.after, t)
			}
		}
	}
	w.nodes = append(w.nodes, n)
}

func (w *web) pick(kind webKind) *webNode {
	var of []*webNode
	for _, n := range w.nodes {
		if n.kind == kind && !n.gone {
			of = append(of, n)
		}
	}
	if len(of) == 0 {
		return nil
	}
	return of[w.rng.IntN(len(of))]
}

func (w *web) use() *webUse {
	if n := w.pick(webEphemeral); n != nil {
		return &webUse{node: n, key: w.rng.IntN(2), by: w.rng.IntN(3)}
	}
	return nil
}

// disturb makes some nodes fail.
func (w *web) disturb() {
	for _, n := range w.nodes {
		n.failOn = ""
		if w.rng.IntN(5) > 0 {
			continue
		}
		switch n.kind {
		case webEphemeral:
			n.failOn = []string{"open", "close", "postcondition", "renew", "garbage", "change-config", "not-an-object", "deferred", "rpc-error"}[w.rng.IntN(9)]
		case webThing:
			n.failOn = []string{"create", "update", "create-partial", "update-partial", "ReadResource", "PlanResourceChange", "ApplyResourceChange"}[w.rng.IntN(7)]
		}
	}
}

// rules are the failures of the provider that the configuration does not mention.
func (w *web) rules() []simprovider.Rule {
	var out []simprovider.Rule
	for _, n := range w.nodes {
		switch n.failOn {
		case "ReadResource", "PlanResourceChange", "ApplyResourceChange":
			out = append(out, simprovider.Rule{RPC: n.failOn, Name: n.name, Do: "error", Text: "not today"})
		case "garbage", "change-config", "not-an-object", "deferred", "rpc-error":
			name := n.name
			if n.keyed {
				name += "-1"
			}
			out = append(out, simprovider.Rule{RPC: "OpenEphemeralResource", Name: name, Do: n.failOn})
		}
	}
	return out
}

// mutate changes some things and takes some out of the configuration.
func (w *web) mutate() {
	used := map[*webNode]bool{}
	for _, n := range w.nodes {
		used[n.hint] = true
		for _, t := range n.after {
			used[t] = true
		}
	}
	for _, n := range w.nodes {
		if n.kind != webThing {
			continue
		}
		switch w.rng.IntN(4) {
		case 0:
			n.version++
		case 1:
			n.gone = n.gone || !used[n]
		}
	}
}

func (w *web) calm() {
	for _, n := range w.nodes {
		n.failOn = ""
	}
}

func (u *webUse) instance() string {
	if u.node.keyed {
		return fmt.Sprintf("ephemeral.sim_token.%s[%d]", u.node.name, u.key)
	}
	return "ephemeral.sim_token." + u.node.name
}

func (u *webUse) label() string {
	return fmt.Sprintf("%s_%d", u.node.name, u.key)
}

func (u *webUse) text() string {
	switch u.by {
	case 1:
		return "local.l_" + u.label()
	case 2:
		return "module.m_" + u.label() + ".out"
	default:
		return u.instance() + ".lease"
	}
}

// objectName is the name by which the provider's transcript knows the instance.
func (u *webUse) objectName() string {
	if u.node.keyed {
		return fmt.Sprintf("%s-%d", u.node.name, u.key)
	}
	return u.node.name
}

// passing is the child module that hands a value through.
const passing = `variable "in" { ephemeral = true }
output "out" {
  value     = var.in
  ephemeral = true
}
`

func (w *web) text() string {
	var sb strings.Builder
	labels := map[string]*webUse{}
	for _, n := range w.nodes {
		if n.parent != nil {
			labels[n.parent.label()] = n.parent
		}
		switch n.kind {
		case webEphemeral:
			n.ephemeral(&sb)
		case webProvider:
			fmt.Fprintf(&sb, "provider \"sim\" {\n  alias = %q\n", n.name)
			if n.parent != nil {
				fmt.Fprintf(&sb, "  token = %s\n", n.parent.text())
			}
			sb.WriteString("}\n")
		case webThing:
			if !n.gone {
				n.thing(&sb)
			}
		}
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		u := labels[label]
		fmt.Fprintf(&sb, "locals {\n  l_%s = %s.lease\n}\n", label, u.instance())
		fmt.Fprintf(&sb, "module \"m_%s\" {\n  source = \"./m\"\n  in = %s.lease\n}\n", label, u.instance())
	}
	return sb.String()
}

func (n *webNode) ephemeral(sb *strings.Builder) {
	fmt.Fprintf(sb, "ephemeral \"sim_token\" %q {\n", n.name)
	if n.keyed {
		fmt.Fprintf(sb, "  count = 2\n  name = \"%s-${count.index}\"\n", n.name)
	} else {
		fmt.Fprintf(sb, "  name = %q\n", n.name)
	}
	if n.parent != nil {
		fmt.Fprintf(sb, "  parent_token = %s\n", n.parent.text())
	}
	if n.provider != nil {
		fmt.Fprintf(sb, "  provider = sim.%s\n", n.provider.name)
	}
	if n.hint != nil {
		fmt.Fprintf(sb, "  hint = sim_thing.%s.id\n", n.hint.name)
	}
	if n.renew {
		sb.WriteString("  renew_after = \"1ms\"\n")
	}
	switch n.failOn {
	case "open", "close", "renew":
		fmt.Fprintf(sb, "  fail_on = %q\n", n.failOn)
	}
	if n.checked || n.failOn == "postcondition" {
		fmt.Fprintf(sb, "  lifecycle {\n    postcondition {\n      condition = self.name == %q || %t\n      error_message = \"No.\"\n    }\n  }\n",
			"nobody", n.failOn != "postcondition")
	}
	sb.WriteString("}\n")
}

func (n *webNode) thing(sb *strings.Builder) {
	fmt.Fprintf(sb, "resource \"sim_thing\" %q {\n  name = %q\n  size = %d\n", n.name, n.name, n.version)
	if n.parent != nil {
		fmt.Fprintf(sb, "  secret_wo = %s\n  secret_wo_version = 1\n", n.parent.text())
	}
	if n.provider != nil {
		fmt.Fprintf(sb, "  provider = sim.%s\n", n.provider.name)
	}
	if n.failOn != "" && n.failOn[0] >= 'a' {
		fmt.Fprintf(sb, "  fail_on = %q\n", n.failOn)
	}
	if len(n.after) > 0 {
		var refs []string
		for _, t := range n.after {
			refs = append(refs, "sim_thing."+t.name+".id")
		}
		fmt.Fprintf(sb, "  json = jsonencode([%s])\n", strings.Join(refs, ", "))
	}
	sb.WriteString("}\n")
}

// needs collects, by the provider's names, the ephemeral instances that a run needs: those that the given
// things, providers and conditions use, and those that these use. Of those that are deferred, only the
// configuration is evaluated; their provider is not needed.
type needs struct {
	names, deferred map[string]bool
	// twice are those that a destruction opens as they were before the apply, and others as they are after
	// it.
	twice map[string]bool
}

func (s needs) use(u *webUse) {
	if u == nil || s.names[u.objectName()] {
		return
	}
	s.names[u.objectName()] = true
	s.use(u.node.parent)
	if !s.deferred[u.objectName()] {
		s.configured(u.node)
	}
}

func (s needs) thing(n *webNode) {
	s.use(n.parent)
	s.configured(n)
}

// configured adds what the provider of the node was configured with.
func (s needs) configured(n *webNode) {
	if n.provider != nil {
		s.use(n.provider.parent)
	}
}

// dependsOn reports whether opening the ephemeral takes values of the named things.
func (n *webNode) dependsOn(things map[string]bool) bool {
	return n.hint != nil && things[n.hint.name] || n.parent != nil && n.parent.node.dependsOn(things) ||
		n.provider != nil && n.provider.dependsOn(things)
}

func (s needs) conditions(w *web) {
	for _, n := range w.nodes {
		if n.kind == webEphemeral && (n.checked || n.failOn == "postcondition") {
			s.use(&webUse{node: n, key: 0})
			s.use(&webUse{node: n, key: 1})
		}
	}
}

// neededToPlan is what planning needs: every thing is read and planned, every condition is checked. Of things
// that are gone only their provider is needed.
func (w *web) neededToPlan(stored, deferred map[string]bool) needs {
	s := needs{names: map[string]bool{}, deferred: deferred}
	for _, n := range w.nodes {
		switch {
		case n.kind != webThing:
		case !n.gone:
			s.thing(n)
		case stored[n.name]:
			s.configured(n)
		}
	}
	s.conditions(w)
	return s
}

// neededToApply is what applying the plan needs: what its changes need, and the conditions unless everything
// is destroyed.
func (w *web) neededToApply(p *plan.Plan) needs {
	s := needs{names: map[string]bool{}}
	before, changed := needs{names: map[string]bool{}}, map[string]bool{}
	for _, c := range p.Changes {
		at := slices.IndexFunc(w.nodes, func(n *webNode) bool { return n.name == c.Addr.Resource.Name })
		switch {
		case at < 0 || c.Addr.Resource.Mode != addr.Managed || c.Action == plan.NoOp:
		case c.Action == plan.Delete:
			s.configured(w.nodes[at])
			before.configured(w.nodes[at])
		default:
			s.thing(w.nodes[at])
			changed[w.nodes[at].name] = true
			if c.Action.IsReplace() {
				before.configured(w.nodes[at])
			}
		}
	}
	s.twice = map[string]bool{}
	for _, n := range w.nodes {
		for key := range 2 {
			if u := (&webUse{node: n, key: key}); before.names[u.objectName()] && n.dependsOn(changed) {
				s.twice[u.objectName()] = true
			}
		}
	}
	if p.Mode == plan.Normal {
		s.conditions(w)
	}
	return s
}
