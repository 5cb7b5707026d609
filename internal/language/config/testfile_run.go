package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// TestRun is a run block: a plan or an apply of a module, and the assertions about it. It inherits variables,
// providers and overrides from its file, and its own take precedence.
type TestRun struct {
	Name      string
	Nth       int  // how many runs of this name precede it in the file
	Plan      bool // only a plan is made
	Converge  bool // plans and applies follow each other until nothing is left to a later one
	Options   TestPlanOptions
	Variables map[string]*hcl.Attribute
	Module    *ModuleCall // nil for the module under test; a local source starts from the working directory
	Providers []PassedProvider
	Asserts   []*Condition
	Expected  []Expected
	Overrides []*Override
	StateKey  string    // "" for the module's
	Problems  diag.List // errors for which the run, and nothing else, cannot be carried out
	Parallel  bool      // may run beside others
	Range     hcl.Range

	parallelSet bool
}

// ID returns the name, followed by a number if the run isn't the first of that name in the file: no other run
// has the same.
func (r *TestRun) ID() string {
	if r.Nth == 0 {
		return r.Name
	}
	return fmt.Sprintf("%s#%d", r.Name, r.Nth+1)
}

// TestPlanOptions are the plan_options of a run. The zero value is a normal plan with refresh.
type TestPlanOptions struct {
	RefreshOnly       bool
	SkipRefresh       bool
	Targets, Excludes []addr.Target
	Replace           []addr.Instance
	Places            OptionPlaces
}

// OptionPlaces are where the addresses in the options of a plan are written; the zero value is for options of
// a command line.
type OptionPlaces struct{ Targets, Excludes, Replace Places }

// Places are where the elements of a list are written, in their order.
type Places []hcl.Range

// At returns the place of an element, nil if the list is not written in a file.
func (p Places) At(i int) *hcl.Range {
	if i >= len(p) {
		return nil
	}
	return &p[i]
}

// Expected is an entry of expect_failures: an object with a condition that must not be met.
type Expected struct {
	Object string // its address, such as "var.name", "check.health" or "aws_instance.web[0]"
	Range  hcl.Range
}

var (
	runSchema = schema("command converge providers expect_failures state_key parallel", "variables", "module", "plan_options", "assert",
		"override_resource", "override_data", "override_ephemeral", "override_module")
	planOptionsSchema = schema("mode refresh replace target exclude")
	runModuleSchema   = schema("source version")
)

// run decodes a run block. Runs keep their order, since later ones may refer to the outputs of earlier
// ones.
func (d *testDecoder) run(b *hcl.Block) {
	r := &TestRun{Name: b.Labels[0], Range: b.DefRange, Variables: map[string]*hcl.Attribute{}}
	if !d.name(b, 0, "run block name") {
		return
	}
	for _, other := range d.file.Runs {
		if other.Name == r.Name {
			r.Nth++
		}
	}
	content := d.content(b.Body, runSchema)
	if attr := content.Attributes["command"]; attr != nil {
		word, _ := d.keyword(attr, "apply", "plan")
		r.Plan = word == "plan"
	}
	if v := d.single(content, "variables", "variables block"); v != nil {
		r.Variables = d.attributes(v.Body)
	}
	if attr := content.Attributes["providers"]; attr != nil {
		r.Providers = d.passedProviders(attr)
	}
	if attr := content.Attributes["expect_failures"]; attr != nil {
		r.Expected, r.Problems = d.expected(attr)
	}
	if m := d.single(content, "module", "module block"); m != nil {
		r.Module = d.runModule(m, r.ID())
	}
	if o := d.single(content, "plan_options", "plan_options block"); o != nil {
		d.planOptions(&r.Options, o)
	}
	r.Converge = d.converge(r, content)
	r.StateKey = d.text(content, "state_key")
	r.Parallel, r.parallelSet = d.flag(content, "parallel", false), content.Attributes["parallel"] != nil
	r.Asserts = d.conditions(content, "assert")
	r.Overrides = d.overrides(content, false)
	d.file.Runs = append(d.file.Runs, r)
}

// converge decodes the argument of that name. It is for runs that apply their plans.
func (d *testDecoder) converge(r *TestRun, content *hcl.BodyContent) bool {
	on := d.flag(content, "converge", false)
	if on && (r.Plan || r.Options.RefreshOnly) {
		d.errorAt(content.Attributes["converge"].Range, "Incompatible options of a run", "A run that converges plans and applies in turn, so it can have neither command = plan nor the mode refresh-only.")
		return false
	}
	return on
}

// runModule decodes the module block of a run, which has a constant source.
func (d *testDecoder) runModule(b *hcl.Block, run string) *ModuleCall {
	c := &ModuleCall{Name: run, Range: b.DefRange, SrcRange: b.DefRange}
	content := d.content(b.Body, runModuleSchema)
	attr := content.Attributes["source"]
	if attr == nil {
		d.missingSource(run, b.Body, hcl.EmptyBody())
		return nil
	}
	v := d.static(attr, cty.String)
	if c.SrcRange = attr.Expr.Range(); v == cty.NilVal {
		return nil
	}
	if c.Source, c.SourceSet = v.AsString(), true; c.Source == "" {
		d.diags = append(d.diags, emptySource(c.SrcRange)...)
		return nil
	}
	if attr := content.Attributes["version"]; attr != nil {
		if c.Local() {
			d.diags = append(d.diags, versionOfLocal(attr.NameRange, c.Source)...)
		}
		c.Version = d.constraint(attr)
	}
	return c
}

// planOptions decodes a plan_options block. Addresses belong to the module under test.
func (d *testDecoder) planOptions(o *TestPlanOptions, b *hcl.Block) {
	content := d.content(b.Body, planOptionsSchema)
	if attr := content.Attributes["mode"]; attr != nil {
		word, _ := d.keyword(attr, "normal", "refresh-only")
		o.RefreshOnly = word == "refresh-only"
	}
	o.SkipRefresh = !d.flag(content, "refresh", true)
	if o.RefreshOnly && o.SkipRefresh {
		d.errorAt(content.Attributes["refresh"].Range, "Incompatible plan options", "The mode refresh-only and refresh = false contradict each other: one asks for what the other turns off.")
	}
	o.Targets, o.Places.Targets = d.targets(content.Attributes["target"])
	o.Excludes, o.Places.Excludes = d.targets(content.Attributes["exclude"])
	replace, places := d.targets(content.Attributes["replace"])
	for i, t := range replace {
		if t.Resource == nil || t.Resource.Mode != addr.Managed {
			d.errorAt(places[i], "Invalid replace address", "%s is not the address of a managed resource instance.", t)
			continue
		}
		o.Replace = append(o.Replace, addr.AbsResource{Module: t.Module, Resource: *t.Resource}.Instance(t.Key))
		o.Places.Replace = append(o.Places.Replace, places[i])
	}
}

// targets decodes an optional list of addresses, and returns where each is written.
func (d *testDecoder) targets(attr *hcl.Attribute) (out []addr.Target, places Places) {
	for _, e := range d.list(attr) {
		t := d.traversal(e)
		if t == nil {
			continue
		}
		target, err := addr.TargetFromTraversal(t)
		if err != nil {
			d.errorAt(e.Range(), "Invalid target address", "This is not the address of a module, resource or instance: %s.", err)
			continue
		}
		out, places = append(out, target), append(places, e.Range())
	}
	return out, places
}

func (d *testDecoder) list(attr *hcl.Attribute) []hcl.Expression {
	if attr == nil {
		return nil
	}
	exprs, diags := hcl.ExprList(attr.Expr)
	d.hcl(diags)
	return exprs
}

// expected decodes expect_failures. A mistake in an entry is a problem of the run: others do not depend on
// it.
func (d *testDecoder) expected(attr *hcl.Attribute) (out []Expected, problems diag.List) {
	for _, e := range d.list(attr) {
		t := d.traversal(e)
		if t == nil {
			continue
		}
		object, ok := checkable(t)
		if !ok {
			problems = append(problems, diag.At(e.Range(), "Invalid `expect_failures` reference",
				"You cannot expect failures from this. Only the conditions of variables, outputs, checks, managed resources, data sources and ephemeral resources can fail, as in [var.name, output.name, check.name, TYPE.NAME].")...)
			continue
		}
		if slices.ContainsFunc(out, func(other Expected) bool { return other.Object == object }) {
			d.warnAt(e.Range(), "Duplicate `expect_failures` reference", "%s is in the list already.", object)
			continue
		}
		out = append(out, Expected{Object: object, Range: e.Range()})
	}
	return out, problems
}

// checkable returns the address of an object with conditions that a reference names.
//
//	module.a.var.size  aws_instance.web[0]  check.health  output.url
func checkable(t hcl.Traversal) (string, bool) {
	in, rest, err := addr.SplitModule(t)
	if err != nil || len(rest) < 2 || rest.IsRelative() {
		return "", false
	}
	prefix := ""
	if !in.IsRoot() {
		prefix = in.String() + "."
	}
	ref, diags := lang.ParseRef(rest)
	switch {
	case diags.HasErrors() || len(ref.Rest) > 0:
		return "", false
	case ref.Kind == lang.Variable:
		return prefix + ref.String(), true
	case ref.Kind != lang.Resource:
		return "", false
	case ref.Index != nil:
		return prefix + addr.Instance{Resource: ref.Resource, Key: ref.Index.Key}.String(), true
	}
	return prefix + ref.String(), true // outputs and checks are named like resources
}
