package settle

import (
	"testing"
	"testing/fstest"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
	"github.com/mayfly-iac/mayfly/state"
)

// compile compiles a configuration with one module that may be called, m.
func compile(t *testing.T, main string) *blocks.Config {
	t.Helper()
	tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte(main)}, "m/main.tf": {Data: []byte("locals { l = 1 }\n")}}}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cfg, diags := blocks.Compile(tree, blockstest.Schemas{"made": {Type: cty.String, Computed: true}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return cfg
}

// TestChecksRemain has results of conditions remain as long as something has the conditions. A mark on those
// of a block as a whole is about all instances of its module.
func TestChecksRemain(t *testing.T) {
	cfg := compile(t, "module \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n")
	f := &finder{run: eval.NewRun(cfg, eval.Options{WorkDir: "/"}), t: &future.Task{}, guarded: map[string]bool{"check.r": true, "module.m.check.c": true, "t.a": true}}
	for _, c := range []struct {
		address        string
		recorded, want bool
	}{
		{"check.r", true, true},
		{"check.gone", true, false},
		{`module.m[0].check.c`, true, true},
		{`module.m[1].check.c`, true, false},
		{`module.m[0].var.v`, true, false},
		{"module.m.check.c", false, true},
		{"module.m.check.c", true, false},
		{"module.m.output.o", false, false},
		{"t.a", false, true},
		{"t.b", false, false},
		{"module.m", false, true},
		{"what is this", false, true},
	} {
		if got := f.remains(state.Unit{Kind: state.CheckUnit, Addr: c.address}, c.recorded); got != c.want {
			t.Errorf("%s with a record %v: got %v, want %v", c.address, c.recorded, got, c.want)
		}
	}
}
