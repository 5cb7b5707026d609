package eval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// HasConditions reports whether the resource declares preconditions or postconditions.
func (in *Instance) HasConditions() bool {
	return len(in.Resource.Block.Preconditions)+len(in.Resource.Block.Postconditions) > 0
}

// Preconditions evaluates the preconditions and reports failures. If it returns false, the instance must not
// be planned, changed or opened.
func (in *Instance) Preconditions(t *future.Task, o *Opened) bool {
	return in.conditions(in.Resource.Block.Preconditions, "Resource precondition failed", in.scope(t, o))
}

// Postconditions evaluates the postconditions with the given self and reports failures. It returns false if
// one failed.
func (in *Instance) Postconditions(t *future.Task, o *Opened, self cty.Value) bool {
	sc := in.scope(t, o)
	sc.self, sc.own = func() cty.Value { return self }, in
	return in.conditions(in.Resource.Block.Postconditions, "Resource postcondition failed", sc)
}

// conditions evaluates conditions of the resource. While validating, a failing one is not an error: the
// resource may have no instances.
func (in *Instance) conditions(conds []blocks.Condition, failed string, sc *scope) bool {
	ok := true
	for _, c := range conds {
		v := in.Run().condition(sc, c, failed)
		if in.Config().Addr.Mode != addr.Ephemeral {
			in.Run().soften(v.failure)
		}
		if in.Run().opt.Phase == Validating {
			v.failure = nil
		}
		in.Run().Report(v.all())
		in.Run().Checks.Add("resource", in.Addr().Config().String(), in.Addr().String(), v.status, v.message)
		ok = ok && !v.all().HasErrors()
	}
	return ok
}

// soften makes the failure of a condition a warning if the run asks for that. An error in the condition or
// its message remains an error.
func (r *Run) soften(failure diag.List) {
	if r.opt.MildConditions {
		failure.AsWarnings()
	}
}

// verdict is the outcome of a condition. The failure is kept apart from errors in the condition: where a
// failure is only a warning, an error in the condition remains an error.
type verdict struct {
	status  state.CheckStatus
	message string           // of a condition that failed, "" if it is hidden
	failure diag.List        // that it failed; nil otherwise
	diags   diag.List        // mistakes in the condition itself or its message
	made    []value.Computed // that the condition is made of
}

func (v verdict) all() diag.List { return slices.Concat(v.diags, v.failure) }

// holds reports whether the condition is met or cannot be decided yet.
func (v verdict) holds() bool { return v.status == state.CheckPass || v.status == state.CheckUnknown }

// condition evaluates one condition. The message of a failed condition is hidden if it is sensitive or
// ephemeral.
func (r *Run) condition(sc *scope, c blocks.Condition, failed string) verdict {
	v := r.decide(sc, c)
	if len(v.made) > 0 && r.opt.Condition != nil {
		r.opt.Condition(sc.address(), v.made)
	}
	if v.status != state.CheckFail {
		v.diags = append(v.diags, r.tryMessage(sc, c)...)
		return v
	}
	message, hidden, more := r.conditionMessage(c, func() (cty.Value, diag.List) {
		return settle(sc.t, sc.opened, func() (cty.Value, diag.List) { return r.eval(sc, c.Message) }, nil)
	})
	v.message, v.diags = message, append(v.diags, more...)
	if hidden.what != "" {
		message = hidden.message(c)
	}
	address := sc.address()
	v.failure = r.about(sc, c.Expr, diag.Diagnostic{
		Summary: failed, Detail: message, Address: address, Parts: lang.ComparedParts(c.Expr.Source, r.context(sc, c.Expr)), Extra: diag.Unmet{Object: address},
	})
	return v
}

// decide evaluates the condition alone.
func (r *Run) decide(sc *scope, c blocks.Condition) verdict {
	v, diags := settle(sc.t, sc.opened, func() (cty.Value, diag.List) { return r.eval(sc, c.Expr) }, nil)
	if diags.HasErrors() {
		return verdict{status: state.CheckError, diags: diags}
	}
	made := value.MadeOf(v)
	given, _ := v.UnmarkDeep()
	v, err := convert.Convert(given, cty.Bool)
	switch {
	case err != nil || v.IsNull():
		diags = append(diags, r.about(sc, c.Expr, diag.Diagnostic{
			Summary: "Invalid condition result", Detail: "A condition must be true or false, but this one is " + value.Kind(given) + ".", Address: sc.address(),
		})...)
		return verdict{status: state.CheckError, diags: diags}
	case !v.IsKnown():
		return verdict{status: state.CheckUnknown, diags: diags, made: made}
	}
	r.cover(coverage.Condition, c.Expr.Range(), coverage.If(v.True()))
	if v.True() {
		return verdict{status: state.CheckPass, diags: diags, made: made}
	}
	return verdict{status: state.CheckFail, diags: diags, made: made}
}

// unavailable returns the attributes whose values existed in earlier runs only and that an undecided
// condition needs, sorted.
func (v verdict) unavailable() (out []string) {
	if v.status != state.CheckUnknown {
		return nil
	}
	for _, c := range v.made {
		if c.Past {
			out = append(out, c.By)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// about returns d as an error about the value of x, with the values in play.
func (r *Run) about(sc *scope, x *lang.Expr, d diag.Diagnostic) diag.List {
	d.Subject, d.Expression, d.EvalContext = x.Range().Ptr(), x.Source, r.context(sc, x)
	for _, p := range sc.partsIn(x) {
		d.State(p.name, "is "+p.shape())
	}
	return sc.forget(diag.List{d})
}

// tryMessage evaluates the message of a condition that has not failed, without opening anything, so that
// mistakes in it are found before the condition fails. A message without references is tried only while
// validating.
func (r *Run) tryMessage(sc *scope, c blocks.Condition) diag.List {
	if r.opt.Phase == Applying || r.opt.Phase == Planning && (c.Message == nil || len(c.Message.Refs) == 0) {
		return nil
	}
	unopened := *sc
	unopened.opened = NewOpened(nil)
	_, hidden, diags := r.conditionMessage(c, func() (cty.Value, diag.List) { return r.eval(&unopened, c.Message) })
	if hidden.what != "" && r.opt.Phase == Planning && !c.Validation {
		diags = append(diags, hidden.warning(c))
	}
	return diags
}

// hiding says why a message is hidden: which kind of values it contains, and how to show it. It is zero for a
// message that is shown.
type hiding struct{ what, remedy string }

func hidingMark(v cty.Value) hiding {
	switch {
	case value.Contains(v, value.Ephemeral):
		return hiding{"ephemeral", "Leave them out"}
	case value.Contains(v, value.Sensitive):
		return hiding{"sensitive", "Leave them out, or use the nonsensitive function, if the message reveals no secret"}
	}
	return hiding{}
}

func (h hiding) warning(c blocks.Condition) diag.Diagnostic {
	return diag.Diagnostic{
		Severity: diag.Warning, Summary: "Error message refers to " + h.what + " values",
		Detail:  "The message of this condition is made from " + h.what + " values, so it is not shown when the condition fails. " + h.remedy + ".",
		Subject: c.Message.Range().Ptr(),
	}
}

// message returns the text shown in place of the hidden message.
func (h hiding) message(c blocks.Condition) string {
	return "The error message refers to " + h.what + " values, so it is not shown. " + h.remedy + blocks.PlaceText(c.Message.Range().Ptr()) + "."
}

// conditionMessage evaluates, with eval, the message of a failed condition. There is always some text to
// show: a message that is invalid, unknown or empty is replaced, and its errors are returned beside the
// replacement.
func (r *Run) conditionMessage(c blocks.Condition, eval func() (cty.Value, diag.List)) (string, hiding, diag.List) {
	v, diags := eval()
	if diags.HasErrors() {
		return "This condition was not met, and its error message could not be evaluated.", hiding{}, diags
	}
	if hidden := hidingMark(v); hidden.what != "" {
		return "", hidden, diags
	}
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, cty.String)
	message := ""
	switch {
	case err != nil:
		diags = append(diags, diag.At(c.Message.Range(), "Invalid error message", "Unsuitable value for error message: %s.", err)...)
	case v.IsNull():
		diags = append(diags, diag.At(c.Message.Range(), "Invalid error message", "Unsuitable value for error message: must not be null.")...)
	case v.IsKnown():
		if message = strings.TrimSpace(v.AsString()); message == "" {
			message = "This condition was not met, and its error message" + blocks.PlaceText(c.Message.Range().Ptr()) + " is empty."
		}
	}
	return cmp.Or(message, "This condition was not met."), hiding{}, diags
}

// PreventDestroy evaluates lifecycle.prevent_destroy.
func (in *Instance) PreventDestroy(t *future.Task) (bool, diag.List) {
	x := in.Resource.Block.Prevent
	if x == nil {
		return false, nil
	}
	v, diags := in.Run().eval(&scope{m: in.Resource.Module, t: t, of: in}, x)
	if diags.HasErrors() {
		return true, diags
	}
	more := in.Resource.Module.block.RefuseEphemeral(v, x, "An ephemeral value cannot decide whether an object may be destroyed.")
	diags = append(diags, more.WithAddress(in.Addr().String())...)
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, cty.Bool)
	if err == nil && !v.IsKnown() && in.Run().opt.Phase == Validating {
		return false, diags
	}
	if err != nil || v.IsNull() || !v.IsKnown() {
		return true, append(diags, diag.At(x.Range(), "Invalid prevent_destroy argument", "The argument prevent_destroy must be true or false, and known before apply.")...)
	}
	return v.True(), diags
}

// Versions returns the versions of the attributes that ephemeral_attributes names, in the order of the
// block's Withheld; cty.NilVal stands for none. They have no marks.
func Versions(t *future.Task, in *Instance) ([]cty.Value, diag.List) {
	var diags diag.List
	out := make([]cty.Value, len(in.Resource.Block.Versions))
	sc := in.scope(t, nil)
	for i, x := range in.Resource.Block.Versions {
		if x == nil {
			continue
		}
		v, more := in.Run().eval(sc, x)
		diags = append(diags, more...)
		diags = append(diags, in.Resource.Module.block.RefuseEphemeral(v, x, "The version of an ephemeral attribute is kept in the state, and cannot be an ephemeral value itself.")...)
		out[i], _ = v.UnmarkDeep()
	}
	return out, diags.WithAddress(in.Addr().String())
}

// HasConditions reports whether conditions are declared in the module or below it.
func (m *Module) HasConditions() bool { return m.block.HasConditions() }
