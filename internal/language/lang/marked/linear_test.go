package marked_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// nestings are the ways in which an expression may be a part of another, at the place of H. L is another
// part.
var nestings = []string{
	`(H + L)`, `(L + H)`, `(H * L)`, `(H == L)`, `(L < H)`, `(H && L)`, `(L || H)`, `-(H)`, `!(H)`,
	`(H ? L : L)`, `(true ? H : L)`, `(true ? L : H)`, `(false ? H : L)`, `(false ? L : H)`, `(unknown ? H : L)`,
	`try(H, L)`, `try(L, H)`, `try(H)`, `can(H)`, `try(L + L, H)`,
	`"a${H}"`, `"${H}"`, `"%{ if H }a%{ else }${L}%{ endif }"`, `"%{ if true }${H}%{ endif }"`, `"%{ for v in [L] }${H}%{ endfor }"`, `"%{ for v in [H] }${v}%{ endfor }"`,
	`[for v in [L] : H]`, `[for v in [H] : v]`, `[for v in H : v]`, `[for v in [L] : v if H]`, `[for v in [] : v if H]`, `{ for v in [L] : H => v }`, `{ for v in [L] : v => H }`, `{ for v in [L] : v => H... }`,
	`[for v in unknowns : H]`, `[for v in [L] : H if unknown]`, `{ for v in [L] : unknown => H }`, `[for v in whatever : L if H]`, `[for v in [L] : v if H == unknown]`,
	`[H][*]`, `(H)[*].a`, `(H).*.a`, `[L, H][*]`, `[[H]][*][*]`, `[{ a = H }][*].a`, `(H)[*][0]`, `[][*][H]`,
	`[H][0]`, `[L][H]`, `(H)[0]`, `(H)["a"]`, `(H).a`, `{ a = H }.a`, `{ a = L }[H]`, `list[H]`,
	`[H, L]`, `{ a = H, b = L }`, `{ (H) = L }`, `{ "${H}" = L }`,
	`upper(H)`, `length(H)`, `length([H])`, `element(H, 0)`, `element([H], 0)`, `element([L], H)`, `element(H[*].a, 0)`, `lookup(H, "a", L)`, `lookup({ a = H }, "a", L)`, `lookup({ a = L }, H, L)`, `lookup({}, "a", H)`,
	`concat([H], [L])`, `concat([H]...)`, `max(H...)`, `coalesce(H, L)`, `merge({ a = H }, { b = L })`, `join(",", [H])`, `jsonencode(H)`, `tolist([H])`, `tostring(H)`, `toset([H, L])`, `convert(H, list(string))`, `format("%s", H)`,
	`templatestring("$${a}", { a = H })`, `sensitive(H)`, `ephemeralasnull(H)`, `issensitive(H)`, `nosuch(H)`,
}

// counted is how often the leaves of an expression were evaluated.
type counted struct{ hits int }

// table returns the functions of the language and those of the leaves, which count their calls.
func (c *counted) table() map[string]function.Function {
	leaf := func(v cty.Value, err error) function.Function {
		return function.New(&function.Spec{
			Type: function.StaticReturnType(cty.DynamicPseudoType),
			Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
				c.hits++
				return v, err
			},
		})
	}
	all := maps.Clone(worldFunctions())
	maps.Copy(all, map[string]function.Function{
		"text": leaf(cty.StringVal("text"), nil), "one": leaf(cty.NumberIntVal(1), nil), "yes": leaf(cty.True, nil), "fail": leaf(cty.NilVal, fmt.Errorf("failed")),
		"secret": leaf(cty.StringVal("1").Mark(value.Ephemeral), nil), "unknown": leaf(cty.UnknownVal(cty.String), nil), "object": leaf(cty.ObjectVal(map[string]cty.Value{"a": cty.Zero}), nil),
	})
	return all
}

// evaluations returns how often the leaves of an expression are evaluated, and what comes of the whole.
func evaluations(t *testing.T, src string) int {
	t.Helper()
	c := &counted{}
	native, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %s", src, diags)
	}
	vars := map[string]cty.Value{"unknown": cty.UnknownVal(cty.Bool), "unknowns": cty.UnknownVal(cty.List(cty.String)), "whatever": cty.DynamicVal, "list": cty.ListVal([]cty.Value{cty.Zero, cty.Zero})}
	_, _ = marked.Expression(native).Value(marked.Context(vars, c.table(), bounds.NewBudget(nil), true, ""))
	return c.hits
}

// nested nests expressions of the given forms, the first outermost, around a leaf.
func nested(forms []string, leaf, innermost string) string {
	out := innermost
	for i := len(forms) - 1; i >= 0; i-- {
		out = strings.ReplaceAll(strings.ReplaceAll(forms[i], "L", leaf), "H", "\x00")
		out = strings.ReplaceAll(out, "\x00", innermost)
		innermost = out
	}
	return out
}

const levels = 6

// checkLinear compares an expression with one of twice as many levels.
func checkLinear(t *testing.T, forms []string, leaf, innermost string) {
	t.Helper()
	src := nested(forms, leaf, innermost)
	once, twice := evaluations(t, src), evaluations(t, nested(append(append([]string(nil), forms...), forms...), leaf, innermost))
	if twice > 2*once+once/2+6 {
		t.Errorf("%s\n  evaluates its leaves %d times, and %d times with twice the levels", src, once, twice)
	}
}

// TestEvaluationIsLinear nests each form of expression in itself, with operands of each kind.
func TestEvaluationIsLinear(t *testing.T) {
	leaves := []string{"text()", "one()", "yes()", "fail()", "secret()", "unknown()", "object()"}
	for _, form := range nestings {
		forms := []string{form, form, form, form, form, form}
		for _, leaf := range leaves {
			for _, innermost := range leaves {
				checkLinear(t, forms[:levels], leaf, innermost)
			}
		}
	}
}

// TestMixedEvaluationIsLinear nests random forms in each other.
func TestMixedEvaluationIsLinear(t *testing.T) {
	leaves := []string{"text()", "one()", "yes()", "fail()", "secret()", "unknown()", "object()"}
	first, n := envNumber(t, envFirstExpression, 0), envNumber(t, envExpressions, 2000)
	for seed := first; seed < first+n && !t.Failed(); seed++ {
		g := rand.New(rand.NewPCG(uint64(seed), 3))
		forms := make([]string, levels)
		for i := range forms {
			forms[i] = nestings[g.IntN(len(nestings))]
		}
		checkLinear(t, forms, leaves[g.IntN(len(leaves))], leaves[g.IntN(len(leaves))])
	}
}
