package object

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Refresh reads the real object. The result has a null value if the object is gone. meta is the provider_meta
// of its module, cty.NilVal if there is none. Refresh returns false if that failed, which was reported.
func (op *Op) Refresh(pr Prior, meta cty.Value) (Prior, bool) {
	idKey, id := Identifying(pr.Value, op.Schema.Block, pr.Sensitive())
	defer Await(op)()
	done := op.Events.BeginDeferrable(event.OpRefresh, op.Obj, plan.NoOp, idKey, id)
	sent, resp, diags := ask(op, pr, meta)
	if op.PutOff != "" {
		op.Report(diags)
		done(true, diags, idKey, id)
		return pr, false
	}
	v := resp.New
	if !diags.HasErrors() && !v.IsNull() {
		v, diags = op.Answers.AcceptKnown(v, diags, contract.Read)
		var wrong, leaks diag.List
		resp.Identity, wrong = op.Answers.AcceptIdentity(resp.Identity, contract.Read)
		resp.Private, leaks = op.Answers.AcceptPrivate(resp.Private, pr.Private, contract.Read)
		diags = slices.Concat(diags, wrong, leaks)
	}
	op.Report(diags)
	if !diags.HasErrors() && v.IsNull() {
		idKey, id = "", "" // nothing has it any more
	}
	done(false, diags, idKey, id)
	if diags.HasErrors() && v.IsNull() {
		return pr, false
	}
	if v.IsNull() {
		return NoPrior(op.Schema.Block), true
	}
	pr.Value, pr.Drifted = op.Withheld.Read(sent, pr.Object, v)
	pr.Private = resp.Private
	if !resp.Identity.IsNull() {
		op.LogIdentity("reading", pr.Identity, resp.Identity)
		pr.Identity = resp.Identity
	}
	return pr, !diags.HasErrors()
}

// ask has the provider read the object, which is without the values that the state does not have. If the
// answer is odd, which may be for want of them, it is asked once more with those that the configuration has.
// If an object is to be destroyed anyway and those cannot be had, it is taken to be as the state has it:
// destroying needs no value (E95), and the answer "gone" must not leave the object behind. ask returns the
// object that the answer is to.
func ask(op *Op, pr Prior, meta cty.Value) (sent cty.Value, resp provider.ReadResponse, diags diag.List) {
	read := func(v cty.Value) (provider.ReadResponse, diag.List) {
		resp, diags := op.Provider.ReadResource(op.Ctx, provider.ReadRequest{
			Type: op.TypeName(), Prior: v, Private: pr.Private, Identity: pr.Identity, ProviderMeta: meta,
		})
		if !diags.HasErrors() {
			_, wrong := PutsOff(op, resp.Deferred, "reading")
			diags = append(diags, wrong...)
		}
		return resp, diags
	}
	resp, diags = read(pr.Value)
	sent = pr.Value
	if op.PutOff != "" {
		return sent, resp, diags
	}
	lacks := len(withheld.Missing(pr.Value, pr.Object))
	silent := diags.HasErrors() || resp.New.IsNull()
	if lacks == 0 || !silent && len(op.Withheld.Odd(pr.Value, pr.Object, resp.New)) == 0 {
		return sent, resp, diags
	}
	if op.Real != nil {
		if cfg, ok := op.Real(); ok {
			sent = op.Withheld.Fill(pr.Value, pr.Object, cfg)
		}
	}
	if len(withheld.Missing(sent, pr.Object)) < lacks {
		resp, diags = read(sent)
	}
	silent = diags.HasErrors() || resp.New.IsNull()
	switch {
	case !silent:
		diags = append(diags, doubts(op, op.Withheld.Odd(sent, pr.Object, resp.New))...)
	case len(withheld.Missing(sent, pr.Object)) == 0:
	case op.Leaves && resp.Deferred == "":
		return sent, provider.ReadResponse{New: sent, Private: pr.Private, Identity: pr.Identity}, nil
	case op.Real != nil && !diags.HasErrors():
		way := "Put the earlier values back, so that it can be asked with them, or replace the object with the option -replace=%s."
		if slices.ContainsFunc(withheld.Missing(sent, pr.Object), isMade) {
			way = "They were made of values of other objects, which existed only in an earlier run. Replace the object and those others in one run, with the option -replace=%s and one like it for each of them."
		}
		diags = append(diags, diag.Errorf("Cannot tell whether the object exists",
			"The provider %s answered that %s is gone, but it was asked without the values of its ephemeral attributes, which neither the state nor the configuration has. "+way,
			op.Source.ForDisplay(), op.Obj, diag.Argument(op.Obj.Instance.String()))...)
	}
	return sent, resp, diags
}

// isMade reports whether a value is made of computed values, which exist in one run only.
func isMade(w state.Withheld) bool { return !w.Made.IsZero() }

// doubts warns of values that were read otherwise than they are known, although the provider was not sent
// those that exist no longer: maybe they have changed outside, and maybe the provider answers so without
// them.
func doubts(op *Op, odd []state.Withheld) (diags diag.List) {
	for _, w := range odd {
		if isMade(w) {
			diags = append(diags, diag.Diagnostic{
				Severity: diag.Warning, Summary: "Ephemeral attribute may have changed", Path: w.Path,
				Detail: fmt.Sprintf("The provider %s read another value of %s of %s than was set. It was asked without the value that was set, which existed only in an earlier run, so that it may be mistaken. To set a new one, replace the object that the value comes from, with the option -replace.",
					op.Source.ForDisplay(), schema.PathString(w.Path), op.Obj),
			})
		}
	}
	return diags
}
