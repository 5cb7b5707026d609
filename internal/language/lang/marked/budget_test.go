package marked_test

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
)

// list has 100 elements, and long has 12,800 bytes of text: each counts for 100.
const budgetLocals = `{ list = range(100), long = join("", [for i in range(100) : format("%0128d", i)]) }`

// evaluate evaluates an expression in a context with the given number of elements left in its budget.
func evaluate(t *testing.T, src string, left int, interrupted <-chan struct{}) (cty.Value, *hcl.EvalContext) {
	t.Helper()
	table := funcs.Table(funcs.Options{})
	parse := func(src string) hcl.Expression {
		e, diags := hclsyntax.ParseExpression([]byte(src), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("%s: %s", src, diags)
		}
		return marked.Expression(e)
	}
	local, diags := parse(budgetLocals).Value(&hcl.EvalContext{Functions: table})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	e, budget := parse(src), bounds.NewBudget(interrupted)
	budget.Round(bounds.MaxMade-left, e)
	ctx := marked.Context(map[string]cty.Value{"local": local}, table, budget, true, "")
	v, diags := e.Value(ctx)
	if diags.HasErrors() {
		t.Errorf("%s: %s", src, diags)
	}
	return v, ctx
}

// TestBudget evaluates expressions that make some 10,000 elements or more, with a budget for 20 times as many
// and one for half as many.
func TestBudget(t *testing.T) {
	for _, src := range []string{
		`[for a in local.list : [for b in local.list : b]]`,
		`{for a in local.list : a => {for b in local.list : b => a if b >= 0}}`,
		`{for a in local.list : "x" => [for b in local.list : b]...}`,
		`[for a in local.list : {for b in local.list : "${b}" => b...}]`,
		`[for a in local.list : [a, a, a, a, a, a, a, a, a, a, {b = [a, a, a, a, a, a, a, a, a, a], c = [for b in local.list : b]}]]`,
		`[for a in local.list : local.list[*]]`,
		`[for a in local.list : range(100)]`,
		`[for a in local.list : concat(local.list, [a])]`,
		`[for a in local.list : upper(local.long)]`,
		`[for a in local.list : "${local.long}${a}"]`,
		`[for a in local.list : "%{for b in [1]}${local.long}%{endfor}"]`,
		`[for a in local.list : chunklist(local.list, 10)]`,
		`[for a in local.list : jsondecode(jsonencode([[local.list]]))]`,
		`setproduct(local.list, local.list)`,
		`try([for a in local.list : [for b in local.list : b]], "caught")`,
		`can([for a in local.list : [for b in local.list : b]])`,
		`templatestring("%%{for a in l}$${t}%%{endfor}", { l = local.list, t = local.long })`,
		`[for a in local.list : templatestring("$${t}", { t = local.long })]`,
	} {
		if _, ctx := evaluate(t, src, 200_000, nil); marked.Exceeded(ctx) != nil {
			t.Errorf("%s: %s", src, marked.Exceeded(ctx))
		}
		_, ctx := evaluate(t, src, 5000, nil)
		if exceeded := marked.Exceeded(ctx); len(exceeded) != 1 || exceeded[0].Summary != "Result too large" || exceeded[0].Subject.Empty() {
			t.Errorf("%s: got %v, want one error with a place", src, exceeded)
		}
	}
}

// TestCheapEvaluations has expressions that read much and make little.
func TestCheapEvaluations(t *testing.T) {
	for _, src := range []string{
		`[for a in local.list : length([for b in local.list : b if b == -1])]`,
		`[for a in local.list : element(local.list, a)]`,
		`[for a in local.list : try(local.list, 1)]`,
		`[for a in local.list : contains(local.list, a) ? length(local.list) : 0]`,
		`[for a in local.list : sha256(local.long)]`,
		`[for a in local.list : local.long]`,
		`[for a in local.list : length(range(100))]`,
		`[for a in local.list : a if length([for b in local.list : b]) > 0]`,
		`[for a in local.list : {n = length([for b in local.list : b])}]`,
		`{for a in local.list : sha256(join("", [for b in local.list : b])) => a...}`,
		`[for a in local.list : {t = substr(local.long, 0, 1 + length("${local.long}"))} if a < 1]`,
		`[for a in local.list : [for b in local.list : b][0]]`,
	} {
		if _, ctx := evaluate(t, src, 500, nil); marked.Exceeded(ctx) != nil {
			t.Errorf("%s: %s", src, marked.Exceeded(ctx))
		}
	}
}

// TestInterruptedEvaluation interrupts evaluations of loops that make much or nothing.
func TestInterruptedEvaluation(t *testing.T) {
	interrupted := make(chan struct{})
	close(interrupted)
	for _, src := range []string{
		`[for a in local.list : [for b in local.list : b]]`, `[for a in local.list : [for b in local.list : b if b == -1]]`, `local.list[*]`,
		`try([for a in local.list : length([for b in local.list : b])], "caught")`, `length([for a in local.list : sha256(a)])`,
		`templatestring("%%{for a in l}%%{for b in l}$${a}%%{endfor}%%{endfor}", { l = local.list })`,
	} {
		_, ctx := evaluate(t, src, bounds.MaxMade, interrupted)
		if exceeded := marked.Exceeded(ctx); len(exceeded) != 1 || exceeded[0].Summary != "Evaluation interrupted" {
			t.Errorf("%s: got %v, want one diagnostic: Evaluation interrupted", src, exceeded)
		}
	}
}

// BenchmarkLoop measures rounds of a loop with and without a budget.
func BenchmarkLoop(b *testing.B) {
	e, _ := hclsyntax.ParseExpression([]byte(`[for a in l : [for x in l : {k = x, v = "${x}"} if x != 3]]`), "", hcl.InitialPos)
	e = marked.Expression(e).(hclsyntax.Expression)
	list := make([]cty.Value, 1000)
	for i := range list {
		list[i] = cty.NumberIntVal(int64(i))
	}
	for _, bench := range []struct {
		name   string
		budget func() *bounds.Budget
	}{{"unbounded", func() *bounds.Budget { return nil }}, {"bounded", func() *bounds.Budget { return bounds.NewBudget(make(chan struct{})) }}} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				ctx := marked.Context(map[string]cty.Value{"l": cty.TupleVal(list[:100])}, nil, bench.budget(), false, "")
				if _, diags := e.Value(ctx); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
}
