package mayfly_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/work"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state/store"
)

// begin opens a configuration of a shape without a state.
func begin(b *testing.B, shape work.Shape, n int, observer event.Observer) (*mayfly.Project, *mayfly.Operation) {
	b.Helper()
	m, err := inmem.New().Manager(store.DefaultWorkspace)
	if err != nil {
		b.Fatal(err)
	}
	dir := filetest.Tree(b, shape.Files(n, work.Builtin))
	p, diags := mayfly.Open(b.Context(), mayfly.Options{Dir: dir, Launcher: &mayfly.Launcher{Dir: dir}, State: mayfly.StateOptions{Store: m}, Observer: observer})
	must(b, diags)
	op, diags := p.Begin(b.Context(), "plan", mayfly.BeginOptions{})
	must(b, diags)
	b.Cleanup(func() { must(b, op.End()); p.Close() })
	return p, op
}

func planned(b *testing.B, op *mayfly.Operation) *plan.Plan {
	b.Helper()
	out, diags := op.Plan(b.Context(), mayfly.PlanOptions{})
	must(b, diags)
	return out
}

// BenchmarkPlan is the planner alone, on a configuration that is loaded: everything is created, and then
// nothing is changed.
func BenchmarkPlan(b *testing.B) {
	for _, shape := range work.Shapes {
		_, op := begin(b, shape, 1000, nil)
		b.Run(shape.Name+"/create", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				planned(b, op)
			}
		})
		_, diags := op.Apply(b.Context(), planned(b, op), mayfly.ApplyOptions{})
		must(b, diags)
		b.Run(shape.Name+"/no-op", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if planned(b, op).Changed() {
					b.Fatal("there are changes")
				}
			}
		})
	}
}

// BenchmarkOrder puts the changes of a plan into the order of their dependencies.
func BenchmarkOrder(b *testing.B) {
	for _, shape := range work.Shapes {
		_, op := begin(b, shape, 1000, nil)
		p := planned(b, op)
		b.Run(shape.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, diags := p.Steps()
				must(b, diags)
			}
		})
	}
}

// BenchmarkForms gives a plan of 2000 changes in each form that there is.
func BenchmarkForms(b *testing.B) {
	p, op := begin(b, work.Shapes[0], 1000, nil)
	pl, s := planned(b, op), schemas{b.Context(), p}
	file := &planfile.File{Plan: pl, Config: p.Tree.Sources, RootDir: ".", Version: "0", Backend: planfile.Backend{Type: "local", Workspace: "default"}}
	relevant := func() []plan.RelevantAttribute { return p.Relevant(b.Context(), pl) }
	var saved bytes.Buffer
	if err := planfile.Write(&saved, file); err != nil {
		b.Fatal(err)
	}
	for _, form := range []struct {
		name string
		make func() error
	}{
		{"text", func() error { return view.Plan(io.Discard, pl, nil, s, view.Options{Color: true}) }},
		{"JSON", func() error { _, err := document.Plan(pl, p.Tree, relevant, s, versions); return err }},
		{"messages", func() error {
			stream := view.NewJSONStream(io.Discard, time.Now)
			stream.Plan(pl)
			return stream.Err()
		}},
		{"saved", func() error { return planfile.Write(io.Discard, file) }},
		{"read", func() error { _, err := planfile.ReadBytes(saved.Bytes()); return err }},
	} {
		b.Run(form.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := form.make(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	_, diags := op.Apply(b.Context(), pl, mayfly.ApplyOptions{})
	must(b, diags)
	b.Run("state as JSON", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := document.State(op.State(), s, versions); err != nil {
				b.Fatal(err)
			}
		}
	})
}
