package explain

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
	"github.com/mayfly-iac/mayfly/plan"
)

const inRounds = `
resource "t_thing" "producer" {
}

resource "t_thing" "many" {
  for_each = t_thing.producer.list
}

resource "t_thing" "reader" {
  list = [for t in t_thing.many : t.id]
}

ephemeral "t_thing" "late" {
  list = [for t in t_thing.many : t.id]
}

resource "t_thing" "pair" {
  count = 2
}
`

// TestDeferred explains why something is deferred, by each address that people may use for it.
func TestDeferred(t *testing.T) {
	t.Parallel()
	tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte(inRounds)}}}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cfg, diags := blocks.Compile(tree, blockstest.Schemas{"list": {Type: cty.Set(cty.String), Optional: true, Computed: true}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	at := func(name string, key addr.Key) addr.Instance {
		return addr.Instance{Resource: addr.Resource{Mode: addr.Managed, Type: "t_thing", Name: name}, Key: key}
	}
	on := func(name string) []plan.Dep { return []plan.Dep{{Resource: at(name, addr.NoKey).Abs(), All: true}} }
	change := func(a addr.Instance, action plan.Action) *plan.Change {
		return &plan.Change{Addr: a, PrevAddr: a, Action: action}
	}
	moved := change(at("pair", addr.IntKey(1)), plan.NoOp)
	moved.PrevAddr = at("single", addr.NoKey)
	maker := change(at("maker", addr.NoKey), plan.Create)
	maker.Withheld = []plan.Withheld{{Computed: true}}
	e := New(cfg, &plan.Plan{
		Changes: []*plan.Change{
			change(at("producer", addr.NoKey), plan.Create), change(at("pair", addr.IntKey(0)), plan.Create), change(at("many", addr.StringKey("old")), plan.NoOp),
		},
		Deferrals: []*plan.Deferral{
			{Change: change(at("gone", addr.NoKey), plan.Delete), Reason: plan.DeferredPrereq, WaitsFor: on("reader")},
			{Change: maker, Reason: plan.DeferredPrereq, WaitsFor: on("reader")},
			{Change: change(at("many", addr.AnyKey), plan.Create), Reason: plan.DeferredCountUnknown, WaitsFor: on("producer")},
			{Change: moved, Reason: plan.DeferredConfigUnknown},
			{Change: change(at("reader", addr.NoKey), plan.NoOp), Reason: plan.DeferredPrereq, WaitsFor: on("many")},
		},
	})
	many := "t_thing.many is deferred to a later plan\n" +
		"for_each is known only after an apply, and so are its instances (6)\n" +
		"it waits for t_thing.producer, which will be created (6)\n" +
		"as far as it is known, it will be created"
	for address, want := range map[string]string{
		"t_thing.many":        many,
		`t_thing.many["*"]`:   strings.Replace(many, "many", `many["*"]`, 1),
		`t_thing.many["old"]`: strings.Replace(many, "many", `many["old"]`, 1),
		"t_thing.many[\"a\"]": strings.Replace(many, "many", `many["a"]`, 1),
		"t_thing.reader":      "t_thing.reader is deferred to a later plan\nit depends on something that is deferred\nit waits for t_thing.many, which is deferred too (10)",
		"t_thing.reader.id":   "t_thing.reader.id is an attribute of t_thing.reader, which is deferred to a later plan\nit depends on something that is deferred\nit waits for t_thing.many, which is deferred too (10)",
		"t_thing.gone":        "t_thing.gone is deferred to a later plan\nsomething else that is deferred may need it\nit waits for t_thing.reader, which is deferred too\nas far as it is known, it will be destroyed",
		"t_thing.maker":       "t_thing.maker is deferred to a later plan\nwhat takes a value that it makes is deferred\nit waits for t_thing.reader, which is deferred too\nas far as it is known, it will be created",
		"t_thing.pair":        "t_thing.pair has 2 objects in the plan\nt_thing.pair[0] will be created: the configuration declares it, and the state has no object of it (17)\nt_thing.pair[1] is deferred to a later plan: its provider needs to know more of its configuration",
		"t_thing.pair[0]":     "t_thing.pair[0] will be created\nthe configuration declares it, and the state has no object of it (17)",
		"t_thing.pair[1]":     "t_thing.pair[1] is deferred to a later plan\nits provider needs to know more of its configuration\nit was t_thing.single before, which a moved block or a change of its repetition says",
		"ephemeral.t_thing.late": "ephemeral.t_thing.late is ephemeral: it is opened when something uses it, and stored nowhere\n" +
			"planning does not open it, because its configuration comes from t_thing.many, which is deferred to a later plan (14)\nnothing uses it, so it is never opened",
	} {
		a, diags := e.About(address)
		if diags.HasErrors() {
			t.Errorf("%s: %v", address, diags)
			continue
		}
		got := []string{a.Address + " " + a.Headline}
		for _, p := range a.Why {
			if p.Place != nil {
				p.Text += " (" + cty.NumberIntVal(int64(p.Place.Line)).AsBigFloat().String() + ")"
			}
			got = append(got, p.Text)
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s:\n%s", address, diff)
		}
	}
}
