package moves

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// move is a moved block: from and to are relative to module.
type move struct {
	module   addr.Module
	from, to addr.Target
	rng      hcl.Range
}

// parseAll returns the valid moved blocks of the configuration, and the errors in the others.
func parseAll(tree *config.Tree) (out []move, diags diag.List) {
	for _, m := range tree.SortedModules() {
		from, to := map[string]*move{}, map[string]*move{}
		for _, b := range m.Moved {
			mv, wrong := parse(m, b)
			if !wrong.HasErrors() {
				wrong = append(wrong, mv.ambiguous(from, to)...)
			}
			if diags = append(diags, wrong...); !wrong.HasErrors() {
				out = append(out, mv)
			}
		}
	}
	return out, diags
}

// ambiguous refuses a second move of the same thing or to the same place; from and to are the moves of the
// module so far.
func (mv *move) ambiguous(from, to map[string]*move) diag.List {
	f, t := mv.from.String(), mv.to.String()
	a, b := from[f], to[t]
	from[f], to[t] = mv, mv
	switch {
	case a != nil && a.to.String() != t:
		return diag.At(mv.rng, "Ambiguous move statements", "%s is moved to %s here, and to %s at %s. It can move to one address only.", f, t, a.to, diag.Place(a.rng))
	case b != nil && b.from.String() != f:
		return diag.At(mv.rng, "Ambiguous move statements", "%s is moved to %s here, and so is %s at %s. Only one of them can move there.", f, t, b.from, diag.Place(b.rng))
	}
	return nil
}

// parse reads one moved block of a module.
func parse(m *config.Module, b *config.Moved) (move, diag.List) {
	mv := move{module: m.Path, rng: b.Range}
	var err error
	if mv.from, err = addr.TargetFromTraversal(b.From); err != nil {
		return mv, diag.At(b.From.SourceRange(), "Invalid \"moved\" address", "The \"from\" address is not valid: %s.", err)
	}
	if mv.to, err = addr.TargetFromTraversal(b.To); err != nil {
		return mv, diag.At(b.To.SourceRange(), "Invalid \"moved\" address", "The \"to\" address is not valid: %s.", err)
	}
	if (mv.from.Resource == nil) != (mv.to.Resource == nil) {
		return mv, diag.At(b.Range, "Invalid \"moved\" addresses", "Both addresses must name modules, or both must name resources.")
	}
	if mv.from.String() == mv.to.String() {
		return mv, diag.At(b.Range, "Redundant move statement", "This block moves %s to itself, so it has no effect. Remove it, or correct one of the addresses.", mv.from)
	}
	if steps := mv.from.Module.Path(); mv.from.Resource == nil && len(steps) == 1 {
		_, name, key := steps[0].Parent()
		if m.Calls[name] != nil && key == addr.NoKey && mv.from.Module.Module() != mv.to.Module.Module() {
			return mv, mv.stillDeclared(m.Calls[name].Range)
		}
	}
	if r := mv.from.Resource; r != nil {
		if r.Mode != mv.to.Resource.Mode {
			return mv, diag.At(b.Range, "Invalid \"moved\" addresses", "A resource moves to a resource, and a data source to a data source: %s cannot become %s.", mv.from, mv.to)
		}
		declared := m.Resources[*r]
		if declared != nil && mv.from.Module.IsRoot() && mv.from.Key == addr.NoKey && *mv.from.Resource != *mv.to.Resource {
			return mv, mv.stillDeclared(declared.Range)
		}
	}
	return mv, nil
}

// stillDeclared is the error for a moved block whose source the configuration still declares: the next
// apply would create there a second object.
func (mv *move) stillDeclared(at hcl.Range) diag.List {
	return diag.At(mv.rng, "Moved object still exists",
		"%s is moved to %s, but the configuration still declares it, at %s. If it is to become %s, remove that block; otherwise remove the moved block.", mv.from, mv.to, diag.Place(at), mv.to)
}
