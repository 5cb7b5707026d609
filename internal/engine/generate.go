package engine

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang/generate"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
)

// Generate imports the objects that import blocks name but no resource block declares, and returns blocks
// for them, ordered by address. It ignores the mode of the request. If there are errors, it returns the
// blocks it could generate.
func (e *Engine) Generate(ctx context.Context, req PlanRequest) ([]*Generated, diag.List) {
	req.Mode = plan.Normal
	p := e.startPlan(ctx, req)
	p.imports.generating = true
	defer e.expose(req.Config, req.Variables, req.State)()
	defer e.stopOn(p.req.Soft)()
	defer func() { e.stats.Evaluations += p.run.Stats.Evaluations.Load() }()
	defer p.pool.Finish()
	out := p.imports.generate()
	p.pool.Finish()
	return out, provider.WithoutRepeats(p.run.Diags.List())
}

// generate imports the undeclared targets in parallel. Each task writes to an element of its own, so that
// the result keeps the order of addresses without a lock; failed ones leave nil and are dropped.
func (im *importPlanner) generate() []*Generated {
	if !im.planner.valid() {
		return nil
	}
	im.planner.planVariables()
	if im.run.Diags.HasErrors() {
		return nil
	}
	im.planner.applyMoves()
	im.list()
	pool := future.NewPool(im.workers())
	im.queue(pool)
	pool.Wait()
	im.check()
	if im.run.Diags.HasErrors() {
		return nil
	}
	missing := slices.DeleteFunc(im.missing, func(u undeclared) bool { return !im.planner.selection.Selects(u.to) })
	slices.SortFunc(missing, func(a, b undeclared) int { return a.to.Compare(b.to) })
	out := make([]*Generated, len(missing))
	for i, u := range missing {
		pool.Go(func(t *future.Task) { im.run.Guard(u.to, func() { out[i] = im.generateOne(t, u) }) })
	}
	pool.Wait()
	im.planner.reportInterrupt()
	return slices.DeleteFunc(out, func(g *Generated) bool { return g == nil })
}

// generateOne imports one object and writes its block; nil if that failed, which was reported.
func (im *importPlanner) generateOne(t *future.Task, u undeclared) (out *Generated) {
	po, diags := im.run.Providers.ForImport(t, u.block, u.to.Resource)
	if diags.HasErrors() {
		im.run.Report(diags)
		return nil
	}
	source := po.Addr.Provider
	sch, diags := im.providers.Resource(im.ctx, source, addr.Managed, u.to.Resource.Type)
	if sch == nil && !diags.HasErrors() {
		diags = append(diags, diag.At(u.block.Range, "Invalid resource type", "The provider %s has no resource type %q.", source.ForDisplay(), u.to.Resource.Type)...)
	}
	im.run.Report(diags)
	if diags.HasErrors() {
		return nil
	}
	po.Prepare(t)
	obj := addr.Object{Instance: u.to}
	im.inSession(t, obj, event.OpImport, func(s *ephemeral.Session) {
		sub := im.objectOp(obj, sch, source)
		if !sub.Use(s.Provider(t, po, u.to), po.Addr) {
			return
		}
		got, ok := u.target.Import(&sub.Op, sub.metaIn(im.run.Root))
		if !ok {
			return
		}
		text, ok := sub.writeBlock(u, got.Value, im.planner.req.Config)
		if ok {
			out = &Generated{Addr: u.to, ID: u.target.ID, Text: text, prior: got}
		}
	})
	return out
}

// writeBlock writes the block for an imported object.
func (op *objectOp) writeBlock(u undeclared, v cty.Value, cfg *blocks.Config) (string, bool) {
	v, ok := op.SuggestConfig(v)
	if !ok {
		return "", false
	}
	ref := ""
	if r := u.block.Provider; r != nil && (r.Alias != "" || r.Name != (&config.Resource{Addr: u.to.Resource}).ImpliedProvider()) {
		ref = r.String()
		if r.KeyExpr != nil { // the configuration has its own words for the key
			ref = string(r.Range.SliceBytes(cfg.Tree.Sources[r.Range.Filename]))
		}
	}
	return generate.Resource(u.to.Resource, ref, op.Block(), v), true
}

// GeneratedText returns the content of a file with generated blocks.
func GeneratedText(blocks []*Generated) []byte {
	text := []byte(generate.Header)
	for _, g := range blocks {
		text = append(text, "\n"+generate.Comment(g.ID)+g.Text+"\n"...)
	}
	return text
}

// undeclared is the target of an import block for which there is no resource block.
type undeclared struct {
	to     addr.Instance
	target *object.ImportTarget
	block  *config.Import
}
