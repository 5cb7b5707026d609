// Package constraint writes version constraints of providers in their one normal form.
//
// It must not know where constraints are written or what they select: the lock file, the installer and the
// documents share the form.
package constraint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"
)

// operators in the order in which constraints of the same version are written, with their texts.
var operators = []struct {
	op   constraints.SelectionOp
	text string
}{
	{constraints.OpGreaterThan, "> "},
	{constraints.OpGreaterThanOrEqual, ">= "},
	{constraints.OpEqual, ""},
	{constraints.OpGreaterThanOrEqualPatchOnly, "~> "},
	{constraints.OpGreaterThanOrEqualMinorOnly, "~> "},
	{constraints.OpNotEqual, "!= "},
	{constraints.OpLessThanOrEqual, "<= "},
	{constraints.OpLessThan, "< "},
}

func operatorRank(op constraints.SelectionOp) int {
	return slices.IndexFunc(operators, func(o struct {
		op   constraints.SelectionOp
		text string
	},
	) bool {
		return o.op == op
	})
}

// Text returns constraints in the normal form, which is that of lock files: sorted by version, each written
// out in full and once.
func Text(spec constraints.IntersectionSpec) string {
	sorted := slices.Clone(spec)
	slices.SortStableFunc(sorted, func(a, b constraints.SelectionSpec) int {
		va, vb := boundary(a), boundary(b)
		switch {
		case va.LessThan(vb):
			return -1
		case vb.LessThan(va):
			return 1
		}
		return cmp.Compare(operatorRank(a.Operator), operatorRank(b.Operator))
	})
	var texts []string
	for _, s := range sorted {
		if s.Operator == constraints.OpUnconstrained {
			continue
		}
		if text := selectionText(s); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

// Normal returns the normal form of all the constraints in some texts together. Texts that don't parse are
// returned as they are.
func Normal(texts ...string) string {
	all := strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }), ", ")
	spec, err := constraints.ParseRubyStyleMulti(all)
	if err != nil {
		return all
	}
	return Text(spec)
}

func boundary(s constraints.SelectionSpec) versions.Version {
	b := s.Boundary.ConstrainToZero()
	return versions.Version{
		Major: b.Major.Num, Minor: b.Minor.Num, Patch: b.Patch.Num,
		Prerelease: versions.VersionExtra(b.Prerelease), Metadata: versions.VersionExtra(b.Metadata),
	}
}

func selectionText(s constraints.SelectionSpec) string {
	text := ""
	if i := operatorRank(s.Operator); i >= 0 {
		text = operators[i].text
	}
	if s.Operator == constraints.OpGreaterThanOrEqualMinorOnly {
		// The number of segments is what tells it from the patch-only form.
		b := boundary(s)
		return fmt.Sprintf("%s%d.%d", text, b.Major, b.Minor)
	}
	return text + boundary(s).String()
}
