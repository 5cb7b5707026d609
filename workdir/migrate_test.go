package workdir

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// memoryBackend is a kind of backend with arguments of several types, whose stores last as long as the test.
func memoryBackend() *backend.Kind {
	stores := map[string]store.Store{}
	where := func(cfg backend.Config) string { return cfg.GetAttr("name").GoString() }
	open := func(_ context.Context, cfg backend.Config, _ backend.Env) (store.Store, error) {
		name := cfg.Text("name")
		if stores[name] == nil {
			stores[name] = inmem.New()
		}
		return stores[name], nil
	}
	return backend.Declare("memory", backend.Arguments{
		"name": backend.Text().Required(), "size": backend.Number(), "tags": backend.Texts(),
	}, nil, backend.Service{Open: open, Place: where, Identity: where})
}

// consent answers whether states may be copied, and counts the questions.
type consent struct {
	yes   bool
	asked *int
}

func (c consent) Value(context.Context, *config.Variable) (string, error) { return "", ErrNoAnswer }

func (c consent) Again(diag.List) bool { return false }

func (c consent) CopyStates(context.Context, int) (bool, error) {
	*c.asked++
	return c.yes, nil
}

func wants(t *testing.T, diags diag.List, text string) {
	t.Helper()
	got := ""
	for _, d := range diags {
		got += d.Summary + ": " + d.Detail + "\n"
	}
	if text == "" && diags.HasErrors() || !strings.Contains(got, text) {
		t.Fatalf("got %q, want %q", got, text)
	}
}

// TestMigrateBetweenKinds takes the states of two workspaces from one kind of backend to another and back.
func TestMigrateBetweenKinds(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, memory, asked := t.Context(), memoryBackend(), 0
	initialize := func(block string, yes bool, opt BackendOptions) (BackendChange, diag.List) {
		t.Helper()
		filetest.Write(t, "main.tf", "terraform {\n"+block+"\n}\n")
		d := New(Options{Asker: consent{yes, &asked}, Environ: []string{"X=y"}})
		d.Backend.locations.kinds["memory"] = memory
		wants(t, d.LoadRoot(ctx), "")
		return d.Backend.Init(ctx, opt)
	}
	states := func(block string) map[string]string {
		t.Helper()
		filetest.Write(t, "main.tf", "terraform {\n"+block+"\n}\n")
		d := New(Options{Environ: []string{"X=y"}})
		d.Backend.locations.kinds["memory"] = memory
		w, diags := d.Workspaces(ctx)
		wants(t, diags, "")
		out := map[string]string{}
		for _, name := range w.Names {
			f, err := readWorkspace(ctx, w.store, name)
			if err != nil {
				t.Fatal(err)
			}
			if f != nil {
				out[name] = f.Lineage
			}
		}
		return out
	}
	lineages := map[string]string{}
	fill, diags := New(Options{}).Workspaces(ctx)
	wants(t, diags, "")
	for _, name := range []string{store.DefaultWorkspace, "other"} {
		f, err := state.NewFile("1.0.0", strings.NewReader(strings.Repeat(name, 16)))
		if err != nil {
			t.Fatal(err)
		}
		f.State.Outputs["o"] = &state.Output{Value: sealed(t, cty.True)}
		if err := copyState(ctx, fill.store, name, f); err != nil {
			t.Fatal(err)
		}
		lineages[name] = f.Lineage
	}
	const inMemory = `backend "memory" {
		name = "a"
		size = "3"
		tags = ["x"]
	}`
	_, diags = initialize(inMemory, true, BackendOptions{})
	wants(t, diags, "Backend configuration changed")
	_, diags = initialize(inMemory, false, BackendOptions{Migrate: true})
	wants(t, diags, "Migration cancelled")
	change, diags := initialize(inMemory, true, BackendOptions{Migrate: true})
	wants(t, diags, "")
	if change.Before != "" || change.After != "memory" || !change.Changed || change.State == nil || change.State.Lineage != lineages["default"] || asked != 2 {
		t.Errorf("got %+v, asked %d times, want a change from nothing to memory with its state, asked twice", change, asked)
	}
	if got := states(inMemory); len(got) != 2 || got["default"] != lineages["default"] || got["other"] != lineages["other"] {
		t.Errorf("states in memory: %v, want %v", got, lineages)
	}
	// Arguments may be completed beside the block, and are recorded.
	const incomplete = `backend "memory" {}`
	change, diags = initialize(incomplete, false, BackendOptions{Settings: []string{"name=a", "size=4"}})
	wants(t, diags, "")
	if change.Before != "memory" || change.After != "memory" || !change.Changed {
		t.Errorf("got %+v, want a change from memory to memory", change)
	}
	if got := states(incomplete); len(got) != 2 {
		t.Errorf("states by the recorded name: got %v, want 2", got)
	}
	_, diags = initialize(incomplete, false, BackendOptions{Reconfigure: true, Settings: []string{"size=x"}})
	wants(t, diags, "must be a number")
	// Back to files.
	const inFiles = `backend "local" { path = "moved.tfstate" }`
	_, diags = initialize(inFiles, false, BackendOptions{ForceCopy: true})
	wants(t, diags, "")
	if got := states(inFiles); len(got) != 2 || got["other"] != lineages["other"] {
		t.Errorf("states in files: %v, want %v", got, lineages)
	}
}

// TestMigrateToOneState takes the only state to a backend without workspaces, and refuses more of them. A
// lock keeps everything as it is.
func TestMigrateToOneState(t *testing.T) {
	t.Chdir(t.TempDir())
	server := stateServer(t)
	http := "terraform {\n  backend \"http\" {\n    address = \"" + server.URL + "/x\"\n  }\n}\n"
	open := func(src string) *Dir {
		t.Helper()
		filetest.Write(t, "main.tf", src)
		d := New(Options{Environ: []string{"TF_HTTP_PASSWORD=" + password, "XDG_STATE_HOME=" + t.TempDir()}})
		wants(t, d.LoadRoot(t.Context()), "")
		return d
	}
	fill := func(workspace string) {
		t.Helper()
		w, diags := open("").Workspaces(t.Context())
		wants(t, diags, "")
		f, err := state.NewFile("1.0.0", strings.NewReader(strings.Repeat(workspace+"x", 16)))
		if err != nil {
			t.Fatal(err)
		}
		f.State.Outputs["o"] = &state.Output{Value: sealed(t, cty.StringVal(workspace))}
		if err := copyState(t.Context(), w.store, workspace, f); err != nil {
			t.Fatal(err)
		}
	}
	fill("other")
	w, diags := open("").Workspaces(t.Context())
	wants(t, diags, "")
	wants(t, w.Select("other"), "")
	m, err := w.store.Manager("other")
	if err != nil {
		t.Fatal(err)
	}
	unlock, diags := lockFor(t.Context(), m, "test", NewUser(nil), store.Locking{})
	wants(t, diags, "")
	_, diags = open(http).Backend.Init(t.Context(), BackendOptions{ForceCopy: true})
	wants(t, diags, "Error acquiring the state lock")
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	fill("third")
	_, diags = open(http).Backend.Init(t.Context(), BackendOptions{ForceCopy: true})
	wants(t, diags, `keeps the state of one workspace only, but the previous one has states in the workspaces "other" and "third"`)
	if err := os.RemoveAll("terraform.tfstate.d/third"); err != nil {
		t.Fatal(err)
	}
	_, diags = open(http).Backend.Init(t.Context(), BackendOptions{ForceCopy: true})
	wants(t, diags, "")
	d := open(http)
	if name, _, _ := d.Workspace(); name != store.DefaultWorkspace {
		t.Errorf("the workspace %q is selected, want %q", name, store.DefaultWorkspace)
	}
	f, diags := d.Backend.ReadState(t.Context(), StateFiles{})
	wants(t, diags, "")
	if f == nil || f.State.Outputs["o"] == nil {
		t.Errorf("the state is %v", f)
	}
}
