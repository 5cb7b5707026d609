package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
)

// Prefixes returns a reference and every shorter one down to the object that it names. Of t.n[0].a.b, these
// are t.n[0].a.b, t.n[0].a, t.n[0] and t.n. Splats end a reference.
func Prefixes(t hcl.Traversal) []hcl.Traversal {
	if i := slices.IndexFunc(t, func(step hcl.Traverser) bool { _, splat := step.(hcl.TraverseSplat); return splat }); i >= 0 {
		t = t[:i]
	}
	ref, _ := ParseRef(t)
	if ref.Root == "resource" && ref.Kind == Resource { // the long form says no more than the short one
		t = append(hcl.Traversal{hcl.TraverseRoot{Name: ref.Resource.Type, SrcRange: t[1].SourceRange()}}, t[2:]...)
	}
	shortest := min(ref.steps(), len(t))
	var out []hcl.Traversal
	for n := len(t); n >= shortest; n-- {
		out = append(out, t[:n])
	}
	return out
}

// steps returns how many steps of a reference name the object: with its instance key for a module only.
func (r Ref) steps() int {
	switch {
	case r.Kind == Self:
		return 1
	case r.Kind == Resource && r.Resource.Mode != addr.Managed, r.Kind == Module && r.Index != nil:
		return 3
	}
	return 2
}
