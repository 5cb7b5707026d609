package engine

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/provision"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/plan"
)

// provisioners are the provisioners of a resource that run at the same time: when it is created or before it
// is destroyed.
type provisioners interface {
	Provisioners() []*config.Provisioner
	EvalProvisioner(t *future.Task, o *eval.Opened, index int, self cty.Value) (cty.Value, diag.List)
	EvalConnection(t *future.Task, o *eval.Opened, index int, self cty.Value) (cty.Value, diag.List)
	ConnectionBody(index int) hcl.Body
	Uses(t *future.Task) []eval.Use
}

// provisioning is one run of an object's provisioners, after it was created or before it is destroyed.
type provisioning struct {
	walk   *walk
	t      *future.Task
	s      *ephemeral.Session
	of     provisioners
	obj    addr.Object
	action plan.Action // Create or Delete
	self   cty.Value
	ctx    context.Context // of the walk, with the span of the operation
}

// run runs the provisioners in order. It returns false if one failed or was not reached, which was reported.
// interrupted is the sentence that explains to the user the effect of an interrupt on the object.
func (pv *provisioning) run(interrupted string) bool {
	for i, p := range pv.of.Provisioners() {
		if pv.walk.interrupted() {
			pv.walk.run.Report(diag.Errorf("Provisioning interrupted", "Not all provisioners of %s had run before the interrupt, so it %s.", pv.obj, interrupted).WithAddress(pv.obj.Instance.String()))
			return false
		}
		if !pv.runOne(i, p) {
			return false
		}
	}
	return true
}

// runOne evaluates and runs one provisioner. Its arguments are evaluated just before it starts, not for all
// provisioners at once, because ephemeral values may have to be renewed while an earlier one runs.
func (pv *provisioning) runOne(i int, p *config.Provisioner) bool {
	report := pv.walk.run.Report
	if !pv.s.Fresh() { // earlier provisioners may have outlasted a lease
		return false
	}
	defer func(was event.Op) { pv.s.Purpose = was }(pv.s.Purpose)
	pv.s.Purpose = event.OpProvision // for events about ephemeral objects opened here
	args, conn, diags := evalProvisioner(pv.t, pv.s.Opened, pv.of, i, pv.self, pv.obj.Instance)
	pv.remember(args)
	pv.remember(conn)
	report(diags)
	if diags.HasErrors() || pv.s.Failed() {
		return false
	}
	if !args.IsWhollyKnown() || conn != cty.NilVal && !conn.IsWhollyKnown() {
		if diags = useInProvisioner(pv.walk.computed, p, pv.obj.Instance, args, conn); len(diags) > 0 { // an update has made no new value
			report(diags)
			return false
		}
		report(diag.At(p.Range, "Invalid provisioner configuration", "The arguments of the provisioner are not wholly known.").WithAddress(pv.obj.Instance.String()))
		return false
	}
	pv.walk.events.Report(event.Event{Kind: event.Started, Op: event.OpProvision, Object: pv.obj, Action: pv.action, Provisioner: p.Type})
	begin := pv.walk.opt.Now()
	ctx, span := trace.Start(pv.ctx, string(event.OpProvision))
	span.Set(trace.Runner, p.Type)
	work := provision.Provisioner{
		Type: p.Type, Arguments: args, Connection: conn, Environ: trace.Environ(ctx, pv.walk.opt.Environ), WorkDir: pv.walk.opt.WorkDir, ShowSensitive: pv.walk.opt.ShowSensitive,
		Output: func(line string) {
			pv.walk.output(event.Event{Kind: event.Output, Op: event.OpProvision, Object: pv.obj, Action: pv.action, Provisioner: p.Type, Line: line})
		},
		Behind: pv.walk.events.Full,
	}
	err := work.Run(ctx, pv.walk.soft)
	span.Finish(err == nil)
	kind := event.Completed
	if err != nil {
		kind = event.Failed
	}
	pv.walk.events.Report(event.Event{Kind: kind, Op: event.OpProvision, Object: pv.obj, Action: pv.action, Provisioner: p.Type, Elapsed: pv.walk.opt.Now().Sub(begin)})
	if err == nil {
		return true
	}
	d := diag.At(p.Range, p.Type+" provisioner error", "%s", err).WithAddress(pv.obj.Instance.String())
	if p.Continue {
		report(d.AsWarnings())
		return !pv.walk.interrupted() || pv.action == plan.Create // an interrupted provisioner must not cause a destruction
	}
	report(d)
	return false
}

// remember has the guard remember the ephemeral values in arguments. Package provision, which hides output
// and errors by the marks, takes these away itself.
func (pv *provisioning) remember(arguments cty.Value) {
	pv.walk.opt.Leaks.Reveal(leak.Source{Kind: leak.Other, Address: "the provisioner of " + pv.obj.String()}, arguments, cty.DynamicPseudoType)
}

// evalProvisioner evaluates the arguments of a provisioner and its connection, cty.NilVal if it uses none,
// and checks the known parts. The values may carry marks, but the diagnostics never quote a marked value.
// Before the provisioner runs, it is called with a nil Opened and unknown values too, to find mistakes
// before anything is created.
func evalProvisioner(
	t *future.Task, o *eval.Opened, of provisioners, index int, self cty.Value, at addr.Instance,
) (args, conn cty.Value, diags diag.List) {
	args, diags = of.EvalProvisioner(t, o, index, self)
	conn, more := of.EvalConnection(t, o, index, self)
	if !diags.HasErrors() {
		p := of.Provisioners()[index]
		diags = append(diags, provision.CheckArguments(p.Type, args).InConfigBody(p.Body).WithAddress(at.String())...)
	}
	diags = append(diags, more...)
	if !more.HasErrors() && conn != cty.NilVal {
		diags = append(diags, provision.CheckConnection(conn).InConfigBody(of.ConnectionBody(index)).WithAddress(at.String())...)
	}
	return args, conn, diags
}
