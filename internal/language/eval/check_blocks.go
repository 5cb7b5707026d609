package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// EachCheck calls f with the uses of each check block of the tree.
func EachCheck(c *blocks.Config, f func(uses []Use)) {
	for _, m := range c.Modules {
		for _, b := range m.Checks {
			f(usesOf(b.Opens))
		}
	}
}

// DeclareChecks records every block of the configuration that has conditions, except ephemeral resources,
// without objects. The given status applies to blocks that have no objects in the end.
func (r *Run) DeclareChecks(status state.CheckStatus) {
	for _, m := range r.cfg.Modules {
		for _, b := range m.Checks {
			r.Checks.Declare("check", b.Address(), status)
		}
		for _, b := range m.Resources {
			if b.HasConditions() && b.Config.Addr.Mode != addr.Ephemeral {
				r.Checks.Declare("resource", b.Config.Config().String(), status)
			}
		}
		for kind, values := range map[string]map[string]*blocks.Value{"output": m.Outputs, "var": m.Variables} {
			for _, b := range values {
				if len(b.Conditions) > 0 {
					r.Checks.Declare(kind, b.Address(), status)
				}
			}
		}
	}
}

// CheckBlocks returns the checks of the module, ordered by name.
func (m *Module) CheckBlocks() []*Check {
	out := make([]*Check, 0, len(m.checks))
	for _, name := range slices.Sorted(maps.Keys(m.checks)) {
		out = append(out, m.checks[name])
	}
	return out
}

// Check returns the check at an address in the form of Check.Addr, nil if the configuration has none. It
// evaluates no repetition.
func (r *Run) Check(address string) *Check {
	const label = "check."
	i := strings.LastIndex(address, label)
	if i < 0 {
		return nil
	}
	in := addr.RootInstance
	if path := strings.TrimSuffix(address[:i], "."); path != "" {
		var err error
		if in, err = addr.ParseModuleInstance(path); err != nil {
			return nil
		}
	}
	if m := r.Module(in); m != nil {
		return m.checks[address[i+len(label):]]
	}
	return nil
}

// BlockUses returns the uses of the check, before the instances of its module are known.
func (c *Check) BlockUses() []Use { return usesOf(c.block.Opens) }

// Uses returns the ephemeral instances that evaluating the check may open, and the computed values that it
// may read. The uses of a nested data block are not among them: reading it is an operation of its own.
func (c *Check) Uses(t *future.Task) []Use {
	borrowed := Borrowed(c.Module.run, c.block.Borrows)
	if c.block.Opens.Empty() {
		return borrowed
	}
	r := &reads{}
	c.block.Exprs(r.adder(c.Module.scope(t).setEarly(), blocks.Opening))
	r.addNested(c)
	return append(r.uses(t), borrowed...)
}

// Deps returns the managed and data instances that the check depends on.
func (c *Check) Deps(t *future.Task) []plan.Dep {
	return c.readSet(t).deps(t, nil)
}

// Prepare demands all cells that the check needs, its nested data block included.
func (c *Check) Prepare(t *future.Task) {
	prepare(t, c.readSet(t))
}

// Evaluate evaluates the assertions and records the results. An assertion that is not met is a warning; one
// that is not a valid condition is an error. If announce is set and the walk has not failed, Evaluate warns
// of an assertion whose result is known only after apply. One that needs a computed value of an earlier run
// is not checked.
func (c *Check) Evaluate(t *future.Task, o *Opened, announce bool) {
	for _, a := range c.block.Assertions {
		status, message, diags := c.assert(&scope{m: c.Module, t: t, opened: o, of: c}, a, announce)
		c.Module.run.Report(diags)
		c.record(status, message)
	}
}

const failedAssertion, failedTest = "Check block assertion failed", "Test assertion failed"

// assert evaluates one assertion of a check. Its failure is a warning, tagged so that warnings of several
// checks with the same text are not merged.
func (c *Check) assert(sc *scope, a blocks.Condition, announce bool) (state.CheckStatus, string, diag.List) {
	r := c.Module.run
	if c.block.Config.Test {
		return c.assertTest(sc, a)
	}
	v := r.condition(sc, a, failedAssertion)
	switch {
	case v.status == state.CheckFail:
		v.diags.AsWarnings() // the failure matters, not a mistake in its message
		v.failure.AsWarnings()
	case v.status == state.CheckUnknown && announce && len(v.unavailable()) == 0 && !r.Diags.HasErrors():
		v.failure = r.about(sc, a.Expr, diag.Diagnostic{
			Severity: diag.Warning, Summary: "Check block assertion known after apply", Address: sc.address(),
			Detail: "The condition could not be evaluated at this time, a result will be known when this plan is applied.",
		})
	}
	for i := range v.failure {
		v.failure[i].Extra = diag.CheckWarning{Undecided: v.status == state.CheckUnknown}
	}
	return v.status, v.message, v.all()
}

// assertTest evaluates one assertion of a test run. It decides about the test and not about the run, in which
// it stops nothing, so it is a warning too if it fails or cannot be decided.
func (c *Check) assertTest(sc *scope, a blocks.Condition) (state.CheckStatus, string, diag.List) {
	r := c.Module.run
	v := r.condition(sc, a, failedTest)
	if v.status == state.CheckUnknown && r.opt.Phase != Validating {
		detail := "Condition expression could not be evaluated at this time."
		if unavailable := v.unavailable(); len(unavailable) > 0 {
			detail = fmt.Sprintf("The condition cannot be evaluated, because a provider computed %s in an earlier run. The value is kept out of the state by ephemeral_attributes, so that only the run that makes it can check it.", strings.Join(unavailable, ", "))
		}
		v.failure = r.about(sc, a.Expr, diag.Diagnostic{Summary: "Unknown condition run", Detail: detail})
	}
	for i := range v.failure.AsWarnings() {
		extra := diag.Assertion{Undecided: v.status == state.CheckUnknown, Unavailable: v.unavailable()}
		if !extra.Undecided {
			extra.Difference = lang.Unequal(a.Expr.Source, r.context(sc, a.Expr))
		}
		v.failure[i].Extra, v.failure[i].Address = extra, ""
	}
	return v.status, v.message, v.all()
}

// Test reports whether these are the assertions of a test run, and whether they are left to its apply.
func (c *Check) Test() (is, late bool) { return c.block.Config.Test, c.block.Config.Late }

// Fail records that the check failed for a reason other than its assertions.
func (c *Check) Fail(why string) { c.record(state.CheckFail, why) }

// Undecided records that the check was not evaluated.
func (c *Check) Undecided() { c.record(state.CheckUnknown, "") }

func (c *Check) record(status state.CheckStatus, failure string) {
	c.Module.run.Checks.Add("check", c.block.Address(), c.Addr(), status, failure)
}
