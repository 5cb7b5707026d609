package hashes_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/hashes"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
)

// TestHashes gives each block a hash unless it looks at the world, and says which units are always due.
func TestHashes(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, dir+"/main.tf", `
variable "plain" { default = 1 }
variable "secret" {
  default   = "s"
  sensitive = true
}
output "secret" {
  value     = var.secret
  sensitive = true
}
output "now" { value = timestamp() }
check "with" {
  data "t" "nested" { name = "x" }
  assert {
    condition     = var.plain == 1
    error_message = "No."
  }
}
check "without" {
  assert {
    condition     = var.plain == 1
    error_message = "No."
  }
}
data "t" "d" { name = "x" }
module "m" { source = "./m" }
`)
	filetest.Write(t, dir+"/m/main.tf", "locals { x = 1 }\n")
	tree, diags := (&config.Loader{}).Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cfg, diags := blocks.Compile(tree, blockstest.Schemas{"name": {Type: cty.String, Optional: true}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	describe := func() map[string]string {
		set, err := hashes.Of(cfg, hashes.Options{
			Key: []byte("key"), Workspace: "default", RootDir: dir, WorkDir: dir, Version: func(addr.Provider) (string, bool) { return "1.0.0", true },
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(set.Components()) == 0 {
			t.Error("got no components")
		}
		out := map[string]string{}
		for _, m := range set.Blocks() {
			for _, b := range m.Blocks {
				text := "hash"
				if !b.Hash.Known() {
					text = "world"
				}
				if b.Always {
					text += " always"
				}
				out[state.Block{Module: m.Module, Name: b.Name}.String()] = text
			}
		}
		return out
	}
	want := map[string]string{
		"var.plain": "hash", "var.secret": "hash", "output.secret": "hash", "output.now": "world", "check.with": "hash always", "check.without": "hash",
		"data.t.d": "hash always", "data.t.nested": "hash always", "module.m": "hash", "module.m.local.x": "hash", "module.m.values": "hash", "values": "hash",
	}
	if diff := cmp.Diff(want, describe()); diff != "" {
		t.Errorf("want(-) got(+):\n%s", diff)
	}
	var none *hashes.Set
	if none.Blocks() != nil || none.Components() != nil {
		t.Errorf("got the hashes %v and the components %v, want none", none.Blocks(), none.Components())
	}
	if _, err := hashes.Of(cfg, hashes.Options{Key: []byte("key"), Version: func(addr.Provider) (string, bool) { return "", true }, Interrupted: closed()}); err == nil {
		t.Error("got no error after an interrupt")
	}
}

// TestUnreadValues gives the values of a module that nothing reads another hash if they are others, and only
// then.
func TestUnreadValues(t *testing.T) {
	of := func(main, key string) state.Hash {
		tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte(main)}}}).Load(".")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		cfg, diags := blocks.Compile(tree, blockstest.Schemas{"name": {Type: cty.String, Optional: true}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		set, err := hashes.Of(cfg, hashes.Options{Key: []byte(key), Version: func(addr.Provider) (string, bool) { return "1.0.0", true }})
		if err != nil {
			t.Fatal(err)
		}
		all := set.Blocks()[0].Blocks
		if !slices.IsSortedFunc(all, func(a, b state.BlockHash) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("got the blocks %v, want them in the order of their names", all)
		}
		i := slices.IndexFunc(all, func(b state.BlockHash) bool { return b.Name == "values" })
		return all[i].Hash
	}
	values, reader, after := "locals {\n  a = 1\n  b = 2\n}\n", "resource \"t\" \"r\" {\n  name = local.a\n}\n", "variable \"z\" {\n  default = 1\n}\noutput \"z\" {\n  value = var.z\n}\n"
	two := of(values+after, "key")
	if !two.Is(of("locals {\n  b = 3\n  a = 1\n}\n", "key")) {
		t.Error("other content: got another hash, want the same")
	}
	if one := of(values+reader, "key"); !one.Known() || one.Is(two) || two.Is(of(values, "other")) {
		t.Errorf("got the hash %s, and with a reader %s, want others, also with another key", two, one)
	}
	if none := of(after, "key"); !none.Known() || none.Is(two) {
		t.Errorf("without unread values: got the hash %s, want one", none)
	}
}

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// TestNoKey has no key where the hashes are not known.
func TestNoKey(t *testing.T) {
	if got := (*hashes.Set)(nil).Key(); got != nil {
		t.Errorf("got the key %x, want none", got)
	}
}
