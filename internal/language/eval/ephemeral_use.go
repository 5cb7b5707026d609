package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// checkEphemeralUse reports ephemeral values outside the write-only and ephemeral attributes of a resource or
// data block, once for each expression that they come from.
func checkEphemeralUse(v cty.Value, b *blocks.Resource) diag.List {
	if !value.Contains(v, value.Ephemeral) {
		return nil
	}
	u := ephemeralUse{b: b, reported: map[hcl.Range]struct{}{}}
	bare, marked := v.UnmarkDeepWithPaths()
	for _, pm := range marked {
		if _, ephemeral := pm.Marks[value.Ephemeral]; ephemeral && !b.MayBeEphemeral(pm.Path) {
			u.of = value.MadeOf(cty.True.WithMarks(pm.Marks))
			u.reportAt(pm.Path, bare)
		}
	}
	return u.diags
}

type ephemeralUse struct {
	b        *blocks.Resource
	of       []value.Computed // that the value in question is made of
	reported map[hcl.Range]struct{}
	diags    diag.List
}

// reportAt reports the expressions that the ephemeral value at path comes from, or the path if there are
// none.
func (u *ephemeralUse) reportAt(path cty.Path, v cty.Value) {
	guilty, attrs := false, false
	for _, p := range blocks.Places(u.b.Config.Body, path, v) {
		if p.Each && attrs || u.b.MayBeEphemeral(p.Path) {
			continue // the attribute was reported; the value need not come from the loop
		}
		because, ok := u.b.Because(p.Expr)
		if !ok && (len(u.of) == 0 || len(p.Expr.Variables()) == 0) {
			continue
		}
		guilty, attrs = true, attrs || !p.Each
		u.report(p.Path, p.Expr.Range().Ptr(), because)
	}
	if !guilty {
		u.report(path, nil, "")
	}
}

// report reports one expression, or one path if rng is nil.
func (u *ephemeralUse) report(path cty.Path, rng *hcl.Range, because string) {
	if rng != nil {
		if _, ok := u.reported[*rng]; ok {
			return
		}
		u.reported[*rng] = struct{}{}
	}
	name := cmp.Or(schema.PathString(path), "this block")
	detail := fmt.Sprintf("%q cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state.", name)
	if u.b.Config.Addr.Mode == addr.Data {
		detail = fmt.Sprintf("%q cannot accept an ephemeral value because it belongs to a data block, whose arguments are written to the state.", name)
	}
	policy := slices.ContainsFunc(u.of, func(c value.Computed) bool { return c.ByPolicy })
	hint := u.b.WithholdHint(path, policy)
	if sibling := u.b.Schema.Block.WriteOnlySibling(path); sibling != nil {
		hint = ""
		detail += fmt.Sprintf(" The write-only attribute %q is meant for such values.", schema.PathString(sibling))
	}
	detail += because + computedText(u.of) + "\n\n" + hint + "If null will do in its place, pass it through the ephemeralasnull function."
	d := diag.List{{Summary: "Invalid use of an ephemeral value", Detail: detail, Path: path, Subject: rng}}
	u.diags = append(u.diags, d.InConfigBody(u.b.Config.Body)...)
}

// computedText says which computed values a value is made of, as a paragraph; "" if it is made of none.
func computedText(of []value.Computed) string {
	if len(of) == 0 {
		return ""
	}
	var names []string
	for _, c := range of {
		names = append(names, c.By)
	}
	slices.Sort(names)
	return "\n\nThe value comes from " + strings.Join(slices.Compact(names), ", ") + ", which ephemeral_attributes keeps out of the state."
}

// onlyByPolicy reports whether a value is ephemeral because of policies of the root module. The modules that
// it goes through cannot know of those, and need not declare it.
func onlyByPolicy(v cty.Value) bool {
	_, marked := v.UnmarkDeepWithPaths()
	return !slices.ContainsFunc(marked, func(pm cty.PathValueMarks) bool {
		if _, ephemeral := pm.Marks[value.Ephemeral]; !ephemeral {
			return false
		}
		of := value.MadeOf(cty.True.WithMarks(pm.Marks))
		return !slices.ContainsFunc(of, func(c value.Computed) bool { return c.ByPolicy })
	})
}
