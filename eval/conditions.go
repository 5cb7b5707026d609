package eval

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/value"
)

// HasConditions reports whether the resource declares preconditions or postconditions.
func (in *Instance) HasConditions() bool {
	return len(in.Resource.Block.pre)+len(in.Resource.Block.post) > 0
}

// Preconditions evaluates the preconditions and reports failures; false means that the instance must not be worked on.
func (in *Instance) Preconditions(t *future.Task, s *Session) bool {
	return in.conditions(in.Resource.Block.pre, "Resource precondition failed", in.scope(t, s))
}

// Postconditions evaluates the postconditions with self as given and reports failures; false means that one failed.
func (in *Instance) Postconditions(t *future.Task, s *Session, self cty.Value) bool {
	sc := in.scope(t, s)
	sc.self, sc.own = func() cty.Value { return self }, in
	return in.conditions(in.Resource.Block.post, "Resource postcondition failed", sc)
}

// conditions evaluates conditions of the resource. While validating, one that fails is no error: the resource may have no instances.
func (in *Instance) conditions(conds []condition, failed string, sc *scope) bool {
	ok := true
	for _, c := range conds {
		status, message, diags := in.Run().condition(sc, c, failed)
		if in.Config().Addr.Mode != addr.Ephemeral {
			in.Run().mild(diags, failed)
		}
		if status == state.CheckFail && in.Run().opt.Phase == Validating {
			diags = diags[:len(diags)-1]
		}
		in.Run().Report(diags)
		in.Run().Checks.Add("resource", in.Addr().Config().String(), in.Addr().String(), status, message)
		ok = ok && !diags.HasErrors()
	}
	return ok
}

// mild makes the diagnostic of a failing condition, which has the given summary, a warning if the run asks for that. What is wrong with the condition
// itself or with its message remains an error.
func (r *Run) mild(diags diag.List, failed string) {
	for i := range diags {
		if r.opt.MildConditions && diags[i].Summary == failed {
			diags[i].Severity = diag.Warning
		}
	}
}

// condition evaluates one condition. The message of a failed one is hidden if it is sensitive or ephemeral.
func (r *Run) condition(sc *scope, c condition, failed string) (state.CheckStatus, string, diag.List) {
	v, diags := r.eval(sc, c.cond)
	if diags.HasErrors() {
		return state.CheckError, "", diags
	}
	given, _ := v.UnmarkDeep()
	v, err := convert.Convert(given, cty.Bool)
	if err != nil || v.IsNull() {
		return state.CheckError, "", append(diags, r.about(sc, c.cond, diag.Diagnostic{
			Summary: "Invalid condition result", Detail: "A condition must be true or false, but this one is " + value.Kind(given) + ".", Address: sc.address,
		})...)
	}
	if !v.IsKnown() {
		return state.CheckUnknown, "", diags
	}
	if v.True() {
		return state.CheckPass, "", diags
	}
	message, more := r.conditionMessage(sc, c)
	diags = append(diags, more...)
	return state.CheckFail, message, append(diags, r.about(sc, c.cond, diag.Diagnostic{Summary: failed, Detail: message, Address: sc.address})...)
}

// about returns d as an error about the value of x, with the values in play.
func (r *Run) about(sc *scope, x *lang.Expr, d diag.Diagnostic) diag.List {
	d.Subject, d.Expression, d.EvalContext = x.Range().Ptr(), x.Source, r.context(sc, x)
	for _, p := range sc.partsIn(x) {
		d.State(p.name, "is "+p.shape())
	}
	return sc.forget(diag.List{d})
}

const hiddenMessage = "The error message refers to a sensitive or ephemeral value, so it is not shown."

func (r *Run) conditionMessage(sc *scope, c condition) (string, diag.List) {
	v, diags := r.eval(sc, c.msg)
	if diags.HasErrors() {
		return "This condition was not met, and its error message could not be evaluated.", diags
	}
	if value.Contains(v, value.Sensitive) || value.Contains(v, value.Ephemeral) {
		return hiddenMessage, diags
	}
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, cty.String)
	if err != nil || v.IsNull() || !v.IsKnown() {
		return "This condition was not met.", diags
	}
	return strings.TrimSpace(v.AsString()), diags
}

// CheckVariables evaluates the validation conditions of the module's variables.
func (m *Module) CheckVariables(t *future.Task) bool {
	ok := true
	for name, v := range inOrder(m.variables) {
		for _, c := range v.block.conds {
			ok = m.checkVariable(t, name, v, c) && ok
		}
	}
	return ok
}

func (m *Module) checkVariable(t *future.Task, name string, v *Value, c condition) bool {
	status, message, diags := m.condition(t, v, c, "", "Invalid value for variable")
	for i := range diags {
		if status == state.CheckFail && diags[i].Summary == "Invalid value for variable" {
			diags[i].Context = diags[i].Subject
			diags[i].Subject = v.block.rng.Ptr()
			diags[i].Detail += "\n\nThis was checked by the validation rule at " + c.cfg.Range.String() + "."
		}
	}
	m.run.Report(diags)
	if m.run.opt.Phase != Validating {
		m.run.Checks.Add("var", joinAddr2(m.block.cfg.Path, "var."+name), v.Addr(), status, message)
	}
	return status == state.CheckPass || status == state.CheckUnknown
}

// condition evaluates a condition of a variable or an output, in a session of its own. What it may open is opened within a slot.
func (m *Module) condition(t *future.Task, v *Value, c condition, address, failed string) (status state.CheckStatus, message string, diags diag.List) {
	sc := &scope{m: m, t: t, address: address}
	if m.run.opt.Phase == Validating {
		return m.run.condition(sc, c, failed)
	}
	m.prepare(t, c)
	if m.block.opensOf([]*lang.Expr{c.cond, c.msg}).empty() {
		sc.sess = NewSession()
		defer sc.sess.End()
		return m.run.condition(sc, c, failed)
	}
	m.run.opt.Host.Slot(func() {
		sc.sess = NewSession()
		sc.sess.User = v
		defer sc.sess.End()
		status, message, diags = m.run.condition(sc, c, failed)
	})
	return status, message, diags
}

// prepare demands everything durable that the condition needs, before a session begins.
func (m *Module) prepare(t *future.Task, c condition) {
	needs := &reads{}
	(&scope{m: m, t: t}).collectReads(needs, c.cond, c.msg)
	p := preparer{t: t, seen: map[any]struct{}{}}
	p.reads(needs)
}

// inOrder yields the entries of a map ordered by key, so that diagnostics come in the same order in every run.
func inOrder[T any](m map[string]T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

func joinAddr2(m addr.Module, rest string) string {
	if m.IsRoot() {
		return rest
	}
	return m.String() + "." + rest
}

const failedOutput = "Module output value precondition failed"

// OutputPreconditions evaluates the preconditions of the module's outputs.
func (m *Module) OutputPreconditions(t *future.Task) bool {
	ok := true
	for name, v := range inOrder(m.outputs) {
		for _, c := range v.block.conds {
			status, message, diags := m.condition(t, v, c, v.Addr(), failedOutput)
			m.run.mild(diags, failedOutput)
			m.run.Report(diags)
			m.run.Checks.Add("output", joinAddr2(m.block.cfg.Path, "output."+name), v.Addr(), status, message)
			ok = ok && !diags.HasErrors()
		}
	}
	return ok
}

// PreventDestroy evaluates lifecycle.prevent_destroy.
func (in *Instance) PreventDestroy(t *future.Task) (bool, diag.List) {
	x := in.Resource.Block.prevent
	if x == nil {
		return false, nil
	}
	v, diags := in.Run().eval(&scope{m: in.Resource.Module, t: t, address: in.Addr().String()}, x)
	if diags.HasErrors() {
		return true, diags
	}
	more := in.Resource.Module.block.refuseEphemeral(v, x, "An ephemeral value cannot decide whether an object may be destroyed.")
	diags = append(diags, more.WithAddress(in.Addr().String())...)
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, cty.Bool)
	if err == nil && !v.IsKnown() && in.Run().opt.Phase == Validating {
		return false, diags
	}
	if err != nil || v.IsNull() || !v.IsKnown() {
		return true, append(diags, diag.At(x.Range(), "Invalid prevent_destroy argument", "prevent_destroy must be true or false, and known before apply.")...)
	}
	return v.True(), diags
}

// HasConditions reports whether the block declares preconditions or postconditions.
func (b *ResourceBlock) HasConditions() bool { return len(b.pre)+len(b.post) > 0 }

// HasWork reports whether conditions are declared in the module or below it.
func (m *Module) HasWork() bool { return m.block.hasConditions() }

func (b *moduleBlock) hasConditions() bool {
	for _, r := range b.resources {
		if r.HasConditions() {
			return true
		}
	}
	for _, o := range b.outputs {
		if len(o.conds) > 0 {
			return true
		}
	}
	for _, c := range b.calls {
		if c.child != nil && c.child.hasConditions() {
			return true
		}
	}
	return false
}

// Output returns the named output of the module, nil if it has none.
func (m *Module) Output(name string) *Value { return m.outputs[name] }

// ValidateValues evaluates every local, output and variable of the module, for validation.
func (m *Module) ValidateValues(t *future.Task) {
	for _, group := range []map[string]*Value{m.variables, m.locals, m.outputs} {
		for _, v := range inOrder(group) {
			if v.opens() {
				s := NewSession()
				v.Get(t, s, v.rangePtr())
				s.End()
				continue
			}
			v.Get(t, nil, v.rangePtr())
		}
	}
	m.OutputPreconditions(t)
}

// EvaluateValues evaluates the variables, locals and outputs of the module that open nothing, so that what is wrong with them is found whether or not anybody
// uses them.
func (m *Module) EvaluateValues(t *future.Task) {
	for _, group := range []map[string]*Value{m.variables, m.locals, m.outputs} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			if v := group[name]; !v.opens() {
				v.Get(t, nil, v.rangePtr())
			}
		}
	}
}
