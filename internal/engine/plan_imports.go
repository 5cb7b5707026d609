package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
)

// importBlock is an import block of the plan. Its cells are computed by whichever task needs them first.
type importBlock struct {
	*config.Import
	module  addr.Module         // that has it
	of      addr.ConfigResource // that its targets belong to
	targets future.Cell[[]*importCell]
}

// resourceImports are the import blocks for the instances of one resource.
type resourceImports struct {
	blocks []*importBlock
	index  future.Cell[importIndex]
}

// importIndex has the import targets, by the instance.
type importIndex struct {
	targets map[addr.Instance]importTarget
	any     *importTarget // of a block with unknown instances, nil for none
	ok      bool          // all blocks could be evaluated, and name different instances
}

// importCell is one object that an import block names.
type importCell struct {
	evaluate func(*future.Task) eval.ImportTarget
	target   future.Cell[importTarget]
}

// importTarget is an object to be imported, unless the state had it before the plan.
type importTarget struct {
	eval.ImportTarget
	stored bool
}

func (t *importTarget) request() *object.ImportTarget {
	return &object.ImportTarget{ID: t.ID, Identity: t.Identity, Range: &t.Block.Range, Unknown: t.Unknown, Deps: t.Deps}
}

// importPlanner plans the imports of import blocks.
type importPlanner struct {
	*walk
	planner    *planner
	generating bool           // configuration for objects that import blocks name, not a plan
	blocks     []*importBlock // set before anything is planned, as is the next one
	of         map[addr.ConfigResource]*resourceImports
	missing    []undeclared
}

// list lists the import blocks by the resource that their targets belong to. Only modes of planning
// that show imports have any.
func (im *importPlanner) list() {
	im.of = map[addr.ConfigResource]*resourceImports{}
	if im.planner.req.Mode != plan.Normal {
		return
	}
	for _, m := range im.planner.req.Config.Tree.SortedModules() {
		for _, c := range m.Imports {
			to, err := addr.TargetFromTraversal(c.To.Steps)
			if err != nil || to.Resource == nil {
				continue // package config has reported it
			}
			b := &importBlock{Import: c, module: m.Path}
			im.blocks = append(im.blocks, b)
			of := addr.ConfigResource{Module: m.Path, Resource: *to.Resource}
			for _, call := range to.Module.Module().Calls() {
				of.Module = of.Module.Child(call)
			}
			if im.of[of] == nil {
				im.of[of] = &resourceImports{}
			}
			b.of = of
			im.of[of].blocks = append(im.of[of].blocks, b)
		}
	}
}

// queue queues the evaluation of the import blocks, each target by itself. Blocks for resources that -target
// or -exclude leaves out are evaluated only if something that is planned depends on these.
func (im *importPlanner) queue(pool *future.Pool) {
	for _, b := range im.blocks {
		if !im.planner.selection.TouchesBlock(b.of) {
			continue
		}
		pool.Go(func(t *future.Task) {
			for _, c := range im.cells(t, b) {
				pool.Go(func(t *future.Task) { im.run.Guard("an import block", func() { im.target(t, b, c) }) })
			}
		})
	}
}

// cells returns the cells of the objects that an import block names, in each instance of its module.
func (im *importPlanner) cells(t *future.Task, b *importBlock) []*importCell {
	cells, cycle := b.targets.Get(t, b.Import, &b.Range, func() (cells []*importCell) {
		im.run.Guard("an import block", func() {
			for _, m := range im.run.Modules(t, b.module) {
				for _, evaluate := range m.ImportTargets(t, b.Import) {
					cells = append(cells, &importCell{evaluate: evaluate})
				}
			}
		})
		return cells
	})
	if cycle != nil {
		im.run.ReportCycle(cycle)
	}
	return cells
}

// target evaluates one of the objects that an import block names.
func (im *importPlanner) target(t *future.Task, b *importBlock, c *importCell) importTarget {
	target, cycle := c.target.Get(t, b.Import, &b.Range, func() importTarget {
		target := c.evaluate(t)
		im.planner.mu.Lock()
		defer im.planner.mu.Unlock()
		return importTarget{target, im.planner.prior.Instance(im.planner.req.Part.Look(addr.Object{Instance: target.To}).Instance) != nil} // nothing of that resource is planned yet
	})
	if cycle != nil {
		im.run.ReportCycle(cycle)
		return importTarget{ImportTarget: eval.ImportTarget{Block: b.Import, Failed: true}}
	}
	return target
}

// targetOf returns the target to import as an instance, nil if there is none: the state may have the object
// already. It returns false if an import block that may name the instance could not be evaluated, or if two
// name the same instance. The task must not be in a slot.
func (im *importPlanner) targetOf(t *future.Task, in *eval.Instance) (*object.ImportTarget, bool) {
	of := im.of[in.Addr().Config()]
	if of == nil {
		return nil, true
	}
	index, cycle := of.index.Get(t, of.blocks[0].Import, &of.blocks[0].Range, func() importIndex { return im.index(t, of.blocks) })
	if cycle != nil {
		im.run.ReportCycle(cycle)
		return nil, false
	}
	if target, found := index.targets[in.Addr()]; found {
		return target.request(), index.ok
	}
	if index.any != nil {
		return index.any.request(), index.ok
	}
	return nil, index.ok
}

// index evaluates the import blocks of a resource. Two that name the same object are reported before
// its provider is asked for it.
func (im *importPlanner) index(t *future.Task, of []*importBlock) importIndex {
	index := importIndex{targets: map[addr.Instance]importTarget{}, ok: true}
	for _, b := range of {
		for _, c := range im.cells(t, b) {
			target := im.target(t, b, c)
			if target.Failed || target.Block == nil {
				index.ok = false
				continue
			}
			if target.Unknown && target.To == (addr.Instance{}) {
				index.any = &target
				continue
			}
			other, found := index.targets[target.To]
			switch {
			case !found:
				index.targets[target.To] = target
			case !target.stored:
				im.reportDuplicate(&target, other.Block)
				index.ok = false
			}
		}
	}
	return index
}

func (im *importPlanner) reportDuplicate(target *importTarget, other *config.Import) {
	if other == target.Block {
		im.run.Report(diag.At(other.Range, "Duplicate import configuration",
			"The for_each of this block imports %s more than once. Make the address depend on each.key, so that each object has one of its own.", target.To))
		return
	}
	im.run.Report(diag.At(target.Block.Range, "Duplicate import configuration",
		"%s is imported here and at %s. It can be imported once only: remove one of the two.", target.To, diag.Place(other.Range)))
}

// check reports import blocks that name the same object or one that the configuration does not have.
// Objects that the state had before do not count.
func (im *importPlanner) check() {
	seen := map[addr.Instance]*config.Import{}
	for _, b := range im.blocks {
		cells, _ := b.targets.Peek()
		for _, c := range cells {
			target, _ := c.target.Peek()
			if target.Unknown && target.To == (addr.Instance{}) {
				im.checkBlock(b)
			}
			if target.Block == nil || target.Failed || target.stored || target.To == (addr.Instance{}) {
				continue
			}
			if other := seen[target.To]; other != nil {
				im.reportDuplicate(&target, other)
				continue
			}
			seen[target.To] = b.Import
			im.checkTarget(&target)
		}
	}
}

// checkBlock reports an import block whose targets are not known yet if there is no resource block.
func (im *importPlanner) checkBlock(b *importBlock) {
	if m := im.planner.req.Config.Modules[b.of.Module]; m != nil && m.Resources[b.of.Resource] != nil {
		return
	}
	im.run.Report(diag.At(b.Range, "Configuration for import target does not exist",
		"The configuration has no block for %s, and none can be generated before the for_each of this import block is known, after an apply. Write a resource block for it, or leave the import block out until then.", b.of))
}

// checkTarget reports a target that the configuration does not have, or notes it for generation.
func (im *importPlanner) checkTarget(target *importTarget) {
	if !im.run.Declared(target.To) {
		im.reportUndeclared(target.ImportTarget, target.request())
		return
	}
	if r := target.Block.Provider; r != nil && im.planner.generated[target.To] == nil {
		im.run.Report(diag.At(r.Range, "Invalid import provider argument",
			"The provider argument of an import block is for generating configuration, but %s is already declared, with a provider of its own. Remove the argument.", target.To))
	}
	if declares(im.planner, target.To) || im.generating || im.planner.orphans.unresolved(target.To) || im.planner.deferral.set.Covers(target.To) || !im.planner.selection.Selects(target.To) || im.run.Diags.HasErrors() {
		return
	}
	im.run.Report(diag.At(target.Block.Range, "Configuration for import target does not exist",
		"The configuration declares no instance %s: its count, for_each, or enabled argument rules it out, or that of a module around it. Correct the address or the argument.", target.To))
}

// imported imports the object and reads it, unless generating its configuration did so.
func (l *priorLoader) imported(meta cty.Value) (object.Prior, bool) {
	if g := l.planner.generated[l.in.Addr()]; g != nil {
		l.generated = g.Text
		return g.prior, true
	}
	return l.planner.deferral.attempts.reads.Once(&l.Op, func() (object.Prior, bool) { return l.importing.Import(&l.Op, meta) })
}

// keepImported puts the imported object into the state that the plan starts from.
func (l *priorLoader) keepImported() bool {
	o := l.StateObject(l.prior.Value, nil, l.prior.Private, l.prior.Identity, nil)
	if o == nil {
		return false
	}
	l.prior.Object = o
	po := l.in.Provider(l.t)
	l.planner.mu.Lock()
	defer l.planner.mu.Unlock()
	l.planner.prior.SetObject(l.Obj, o, po.Addr)
	return true
}

// reportUndeclared handles an import block whose target has no resource block: it is noted for generation,
// or reported.
func (im *importPlanner) reportUndeclared(t eval.ImportTarget, imp *object.ImportTarget) {
	switch {
	case !im.generating && !t.Module.IsRoot():
		im.run.Report(diag.At(t.Block.Range, "Configuration for import target does not exist",
			"The configuration for the import of %s does not exist. Addresses in an import block are relative to its module, here %s. Correct the address, or write a resource block for the object in its module.", t.To, t.Module))
	case !im.generating:
		im.run.Report(diag.At(t.Block.Range, "Configuration for import target does not exist",
			"The configuration for the import of %s does not exist. Write a resource block for it, whose arguments will be compared with the real object, or generate one: mayfly plan -generate-config-out=generated.tf%s", t.To, selection.InConfiguration(im.planner.req.Config.Tree, t.To)))
	case !t.To.Module.IsRoot():
		im.run.Report(diag.At(t.Block.Range, "Cannot generate configuration in a module",
			"The configuration for the import of %s does not exist, and it can be generated in the root module only. Write the resource block in the module.", t.To))
	case t.To.Key != addr.NoKey:
		im.run.Report(diag.At(t.Block.Range, "Configuration generation for count and for_each resources not supported",
			"The configuration for the import of %s does not exist, and it can be generated for single objects only. Import to an address without a key, or write the resource block.", t.To))
	case imp.Unknown:
		im.run.Report(diag.At(t.Block.Range, "Cannot generate configuration yet",
			"The configuration for the import of %s does not exist, and it cannot be generated before its id or identity is known, after an apply. Write a resource block for it, or leave the import block out until then.", t.To))
	default:
		im.missing = append(im.missing, undeclared{to: t.To, target: imp, block: t.Block})
	}
}
