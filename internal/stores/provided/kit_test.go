package provided

import (
	"context"
	"os"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/state/store"
)

func TestMain(m *testing.M) {
	if simprovider.Serving() {
		simprovider.ServeMain()
	}
	os.Exit(m.Run())
}

var sim = func() addr.Provider {
	p, err := addr.ParseProvider(simcloud.Source)
	if err != nil {
		panic(err)
	}
	return p
}()

// processes returns processes of the test provider with the cloud in a directory. more are environment
// variables.
func processes(t *testing.T, cloud string, more ...string) *Processes {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), simcloud.EnvServe+"=1", simcloud.EnvDir+"="+cloud)
	ps := NewProcesses(func(ctx context.Context, a addr.Provider) (provider.Provider, diag.List) {
		return plugin.Start(ctx, plugin.Command{Path: exe, Name: a.String(), Env: append(env, more...)})
	})
	t.Cleanup(ps.Close)
	return ps
}

// open opens the state store of the test provider.
func open(t *testing.T, ps *Processes, arguments map[string]cty.Value, env backend.Env) (store.Store, error) {
	t.Helper()
	kind, diags := ps.Kind(context.WithoutCancel(t.Context()), sim, "1.0.0", "sim_files")
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	values := map[string]cty.Value{"dir": cty.StringVal("d")}
	for name, v := range arguments {
		values[name] = v
	}
	env.Version = "1.0.0"
	return kind.Open(context.WithoutCancel(t.Context()), kind.Object(values), env)
}
