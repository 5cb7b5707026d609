// Package constraint writes version constraints of providers in their normal form, which the lock file, the
// installer and the JSON documents share.
//
// It must not know where constraints come from or which versions they select.
package constraint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"
)

// operators lists the operators with their texts, in the order in which constraints on the same version are
// written.
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

// Text returns constraints in the normal form of lock files: sorted by version, each written in full and
// only once.
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

// Normal returns the normal form of the constraints in all texts together. Texts that don't parse are
// returned unchanged.
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
		// Only the number of segments distinguishes it from the form for patch releases.
		b := boundary(s)
		return fmt.Sprintf("%s%d.%d", text, b.Major, b.Minor)
	}
	return text + boundary(s).String()
}
