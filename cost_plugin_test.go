package mayfly_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"path"
	"runtime"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	bench "github.com/mayfly-iac/mayfly/internal/testing/benchmark/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/work"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state/store"
)

// calls implements stats.Handler: it counts what a provider is asked, by method, and the bytes of it.
type calls struct {
	mu     sync.Mutex
	counts map[string]int64
}

type callKey struct{}

// TagRPC implements stats.Handler.
func (c *calls) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, callKey{}, path.Base(info.FullMethodName))
}

// HandleRPC implements stats.Handler.
func (c *calls) HandleRPC(ctx context.Context, s stats.RPCStats) {
	method, _ := ctx.Value(callKey{}).(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s := s.(type) {
	case *stats.InPayload:
		c.counts[method]++
		c.counts["bytes to the provider"] += int64(s.Length)
	case *stats.OutPayload:
		c.counts["bytes from the provider"] += int64(s.Length)
	}
}

// TagConn implements stats.Handler.
func (c *calls) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (c *calls) HandleConn(context.Context, stats.ConnStats) {}

// serve runs the provider of the benchmarks in this process, behind a connection, and returns how to reach
// it.
func serve(t *testing.T, c *calls) *plugin.ReattachConfig {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TF_LOG_SDK", "off") // the SDK writes several lines for each call otherwise
	server := grpc.NewServer(grpc.StatsHandler(c))
	if err := bench.Register(server); err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { server.Stop(); served.Wait() })
	return &plugin.ReattachConfig{Protocol: "grpc", ProtocolVersion: 6, Addr: listener.Addr()}
}

// schemas implements view.ConfigSchemas.
type schemas struct {
	ctx context.Context
	p   *mayfly.Project
}

// Resource implements view.Schemas.
func (s schemas) Resource(p addr.Provider, mode addr.Mode, name string) *schema.Schema {
	if cat, diags := s.p.Catalog(s.ctx, p); !diags.HasErrors() {
		if sc, diags := cat.Resource(mode, name); !diags.HasErrors() {
			return sc
		}
	}
	return nil
}

// Provider implements view.ConfigSchemas.
func (s schemas) Provider(p addr.Provider) *schema.Schema {
	if cat, diags := s.p.Catalog(s.ctx, p); !diags.HasErrors() {
		if sc, diags := cat.Provider(); !diags.HasErrors() {
			return sc
		}
	}
	return nil
}

// written counts bytes.
type written int64

// Write implements io.Writer.
func (w *written) Write(b []byte) (int, error) { *w += written(len(b)); return len(b), nil }

var versions = document.Versions{Compat: "1.12.6", Product: "0"}

// life takes a configuration from nothing to nothing with a provider behind a connection, renders whatever
// can be rendered on the way, and returns what of everything there was.
func life(t *testing.T, files map[string]string) map[string]int64 {
	t.Helper()
	source, err := addr.ParseProvider(bench.Address)
	if err != nil {
		t.Fatal(err)
	}
	m, err := inmem.New().Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	counted := &calls{counts: map[string]int64{}}
	counting, dir := &countingStore{Manager: m}, filetest.Tree(t, files)
	launcher := &mayfly.Launcher{Dir: dir, Reattach: map[addr.Provider]*plugin.ReattachConfig{source: serve(t, counted)}}
	var human, stream written
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, diags := mayfly.Open(t.Context(), mayfly.Options{Dir: dir, Launcher: launcher, State: mayfly.StateOptions{Store: counting}, Observer: view.NewJSONStream(&stream, time.Now)})
	must(t, diags)
	defer p.Close()
	op, diags := p.Begin(t.Context(), "apply", mayfly.BeginOptions{})
	must(t, diags)
	out := map[string]int64{}
	for _, mode := range []plan.Mode{plan.Normal, plan.Normal, plan.Destroy} {
		planned, diags := op.Plan(t.Context(), mayfly.PlanOptions{Mode: mode})
		must(t, diags)
		rendered(t, out, &human, p, planned)
		if !planned.Changed() {
			continue
		}
		_, diags = op.Apply(t.Context(), planned, mayfly.ApplyOptions{})
		must(t, diags)
		b, err := document.State(op.State(), schemas{t.Context(), p}, versions)
		if err != nil {
			t.Fatal(err)
		}
		out["bytes of the state as JSON"] += int64(len(b))
	}
	must(t, op.End())
	runtime.ReadMemStats(&after)
	counted.mu.Lock()
	defer counted.mu.Unlock()
	for what, n := range counted.counts {
		out[what] = n
	}
	out["bytes allocated"] = int64(after.TotalAlloc - before.TotalAlloc)
	out["evaluations"], out["bytes written"], out["bytes of text"], out["bytes of messages"] = p.Stats().Evaluations, counting.bytes, int64(human), int64(stream)
	return out
}

// rendered counts the bytes of a plan in each form that it is given in.
func rendered(t *testing.T, out map[string]int64, human io.Writer, p *mayfly.Project, planned *plan.Plan) {
	t.Helper()
	var buf bytes.Buffer
	if err := planfile.Write(&buf, &planfile.File{Plan: planned, Config: p.Tree.Sources, RootDir: ".", Version: "0", Backend: planfile.Backend{Type: "local", Workspace: "default"}}); err != nil {
		t.Fatal(err)
	}
	out["bytes of the saved plan"] += int64(buf.Len())
	if _, err := planfile.ReadBytes(buf.Bytes()); err != nil {
		t.Fatal(err)
	}
	relevant := func() []plan.RelevantAttribute { return p.Relevant(t.Context(), planned) }
	b, err := document.Plan(planned, p.Tree, relevant, schemas{t.Context(), p}, versions)
	if err != nil {
		t.Fatal(err)
	}
	out["bytes of the plan as JSON"] += int64(len(b))
	if err := view.Plan(human, planned, nil, schemas{t.Context(), p}, view.Options{}); err != nil {
		t.Fatal(err)
	}
}

// TestCostOfPluginsIsLinear counts the calls of a provider by method, their bytes, and the bytes of
// everything that is written or shown, at N and 2N. What there is once in a run is in both counts, and may be
// all of one: calls that only start a provider must not become more at all.
func TestCostOfPluginsIsLinear(t *testing.T) {
	const n, allocated = 40, "bytes allocated"
	shapes := append(work.Shapes[:len(work.Shapes):len(work.Shapes)], work.Shape{Name: "secrets"})
	once := map[string]bool{"GetProviderSchema": true, "GetResourceIdentitySchemas": true, "GetFunctions": true, "ValidateProviderConfig": true, "ConfigureProvider": true, "StopProvider": true}
	for _, shape := range shapes {
		if shape.Name == "large" {
			continue // as in TestCostIsLinear
		}
		t.Run(shape.Name, func(t *testing.T) {
			one, two := life(t, shape.Files(n, work.Plugin)), life(t, shape.Files(2*n, work.Plugin))
			if two[allocated]*20 > one[allocated]*41 {
				// A garbage collection empties the pools of buffers, so the lesser of two counts.
				two[allocated] = min(two[allocated], life(t, shape.Files(2*n, work.Plugin))[allocated])
			}
			for what := range two {
				if once[what] && two[what] > one[what] {
					t.Errorf("%s: %d calls at %d, %d at %d", what, one[what], n, two[what], 2*n)
				}
				growth(t, what, n, one[what], two[what])
			}
			for _, what := range []string{"ValidateResourceConfig", "PlanResourceChange", "ApplyResourceChange", "ReadResource"} {
				if two[what] == 0 {
					t.Errorf("%s was never called", what)
				}
			}
			if shape.Name == "secrets" && (two["OpenEphemeralResource"] == 0 || two["OpenEphemeralResource"] != two["CloseEphemeralResource"]) {
				t.Errorf("ephemeral instances: got %d opened, %d closed, want as many closed as opened, at least one", two["OpenEphemeralResource"], two["CloseEphemeralResource"])
			}
		})
	}
}
