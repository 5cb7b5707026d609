package mayfly_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/inmem"
)

// counts is the work of one plan and apply.
type counts struct{ evaluations, calls, bytes, deps, edges int64 }

// countingStore counts what the journal and the state would write to disk.
type countingStore struct {
	store.Manager
	bytes int64
}

type countingFile struct{ n *int64 }

func (f countingFile) Write(b []byte) (int, error) { *f.n += int64(len(b)); return len(b), nil }
func (f countingFile) Sync() error                 { return nil }

func (s *countingStore) Journal(_ context.Context, base *state.File) (state.Journal, error) {
	return state.NewLog(countingFile{&s.bytes}, base.Meta, nil)
}

func (s *countingStore) Write(ctx context.Context, f *state.File) error {
	b, err := state.Write(f)
	s.bytes += int64(len(b))
	if err != nil {
		return err
	}
	return s.Manager.Write(ctx, f)
}

func open(t testing.TB, dir string, m store.Manager) *mayfly.Project {
	t.Helper()
	p, diags := mayfly.Open(t.Context(), mayfly.Options{Dir: dir, Launcher: &mayfly.Launcher{Dir: dir}, Store: m})
	must(t, diags)
	t.Cleanup(p.Close)
	return p
}

func must(t testing.TB, diags diag.List) {
	t.Helper()
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
}

// measure plans and applies a configuration from nothing, plans again, and returns what that took.
func measure(t testing.TB, files map[string]string) counts {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := inmem.New().Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	counting := &countingStore{Manager: m}
	p := open(t, dir, counting)
	op, diags := p.Begin(t.Context(), "apply", mayfly.BeginOptions{})
	must(t, diags)
	defer op.End()
	planned, diags := op.Plan(t.Context(), mayfly.PlanOptions{})
	must(t, diags)
	_, diags = op.Apply(t.Context(), planned, mayfly.ApplyOptions{})
	must(t, diags)
	again, diags := op.Plan(t.Context(), mayfly.PlanOptions{})
	must(t, diags)
	if again.Changed() {
		t.Fatalf("the second plan has changes: %+v", again.Counts())
	}
	s := p.Stats()
	c := counts{evaluations: s.Evaluations, calls: s.ProviderCalls, bytes: counting.bytes}
	for _, change := range planned.Changes {
		c.deps += int64(1 + len(change.Deps))
	}
	steps, diags := planned.Steps()
	must(t, diags)
	for _, step := range steps {
		c.edges += int64(1 + len(step.Next))
	}
	return c
}

// The shapes that other engines take quadratic time for.
var shapes = map[string]func(n int) map[string]string{
	"chained blocks": func(n int) map[string]string {
		var sb strings.Builder
		for i := range n {
			input := `"start"`
			if i >= 10 {
				input = fmt.Sprintf("terraform_data.r%d.output", i-10)
			}
			fmt.Fprintf(&sb, "resource \"terraform_data\" \"r%d\" {\n  input = %s\n}\n", i, input)
		}
		return map[string]string{"main.tf": sb.String()}
	},
	"for_each over for_each": func(n int) map[string]string {
		return map[string]string{"main.tf": fmt.Sprintf(`
			resource "terraform_data" "a" {
			  for_each = toset([for i in range(%d) : "k${i}"])
			  input    = each.key
			}
			resource "terraform_data" "b" {
			  for_each = terraform_data.a
			  input    = each.value.output
			}`, n)}
	},
	"count with index": func(n int) map[string]string {
		return map[string]string{"main.tf": fmt.Sprintf(`
			resource "terraform_data" "a" {
			  count = %d
			  input = "v${count.index}"
			}
			resource "terraform_data" "b" {
			  count = %[1]d
			  input = terraform_data.a[count.index].output
			}`, n)}
	},
	"for_each over modules":       consumers("for_each = module.m\n  input = each.value.id"),
	"local map over modules":      consumers("for_each = local.keys\n  input = local.ids[each.key]"),
	"depends_on repeated modules": consumers("for_each = local.keys\n  input = each.key\n  depends_on = [module.m]"),
	"modules with map outputs": func(n int) map[string]string {
		return map[string]string{
			"main.tf": fmt.Sprintf(`
				module "m" {
				  source = "./m"
				  count  = %d
				  n      = 20
				}
				output "sizes" { value = [for m in module.m : length(m.all)] }`, n/20),
			"m/main.tf": `
				variable "n" { type = number }
				resource "terraform_data" "r" {
				  for_each = toset([for i in range(var.n) : "k${i}"])
				  input    = each.key
				}
				output "all" { value = { for k, r in terraform_data.r : k => r.output } }`,
		}
	},
}

// consumers returns the shape of as many instances as there are modules, each of which may refer to all modules.
func consumers(body string) func(n int) map[string]string {
	return func(n int) map[string]string {
		return map[string]string{
			"main.tf": fmt.Sprintf(`
				locals {
				  keys = toset([for i in range(%d) : "k${i}"])
				  ids  = { for k, m in module.m : k => m.id }
				}
				module "m" {
				  source   = "./m"
				  for_each = local.keys
				  key      = each.key
				}
				resource "terraform_data" "c" {
				  %s
				}`, n, body),
			"m/main.tf": `
				variable "key" { type = string }
				resource "terraform_data" "r" { input = var.key }
				output "id" { value = terraform_data.r.output }`,
		}
	}
}

// TestCostIsLinear counts evaluations, provider calls and bytes written at N and 2N.
func TestCostIsLinear(t *testing.T) {
	const n, limit = 200, 2.2
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := measure(t, shape(n)), measure(t, shape(2*n))
			for what, pair := range map[string][2]int64{
				"evaluations": {one.evaluations, two.evaluations}, "provider calls": {one.calls, two.calls}, "bytes written": {one.bytes, two.bytes},
				"dependencies": {one.deps, two.deps}, "edges": {one.edges, two.edges},
			} {
				ratio := float64(pair[1]) / float64(pair[0])
				t.Logf("%s: %d at %d, %d at %d: ratio %.2f", what, pair[0], n, pair[1], 2*n, ratio)
				if ratio > limit {
					t.Errorf("%s grow by %.2f when the configuration doubles", what, ratio)
				}
			}
		})
	}
}

func BenchmarkPlanApply(b *testing.B) {
	for name, shape := range shapes {
		b.Run(name, func(b *testing.B) {
			files := shape(1000)
			for b.Loop() {
				measure(b, files)
			}
		})
	}
}
