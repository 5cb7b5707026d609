package state

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestSameValue compares objects that differ in one respect.
func TestSameValue(t *testing.T) {
	block := addr.ConfigResource{Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: "n"}}
	made := func(change func(*Object)) *Object {
		o := &Object{attrs: []byte(`{"a":1}`), Sensitive: []cty.Path{cty.GetAttrPath("a")}, Withheld: []Withheld{{Path: cty.GetAttrPath("b"), Number: 1, Owed: []addr.ConfigResource{block}}}}
		change(o)
		return o
	}
	same := made(func(*Object) {})
	for name, c := range map[string]struct {
		change func(*Object)
		want   bool
	}{
		"nothing":            {func(*Object) {}, true},
		"private data":       {func(o *Object) { o.Private = []byte("p") }, true},
		"the version":        {func(o *Object) { o.Version = Version{1} }, true},
		"dependencies":       {func(o *Object) { o.Dependencies = []addr.ConfigResource{block} }, true},
		"a delivery":         {func(o *Object) { o.Withheld[0].Owed = nil }, true},
		"an attribute":       {func(o *Object) { o.attrs = []byte(`{"a":2}`) }, false},
		"a flat attribute":   {func(o *Object) { o.Flatmap = map[string]string{"a": "1"} }, false},
		"the schema":         {func(o *Object) { o.SchemaVersion = 1 }, false},
		"sensitivity":        {func(o *Object) { o.Sensitive = nil }, false},
		"a withheld value":   {func(o *Object) { o.Withheld[0].Number = 2 }, false},
		"withheld attribute": {func(o *Object) { o.Withheld = nil }, false},
	} {
		if got := same.SameValue(made(c.change)); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	var none *Object
	if same.SameValue(nil) || none.SameValue(same) || !none.SameValue(nil) {
		t.Error("got an object that has the value of none, want another one")
	}
	if !same.Owes() || made(func(o *Object) { o.Withheld[0].Owed = nil }).Owes() {
		t.Error("got the wrong objects that owe a value, want those with a resource that has yet to get it")
	}
}

// TestAround names the subjects that instances are a part of.
func TestAround(t *testing.T) {
	a, err := addr.ParseInstance(`module.m["x\ny"].module.n.t.r[0]`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range Around(a) {
		got = append(got, s.Key())
	}
	want := []string{
		`module.m["x\ny"].module.n.t.r[0]`, `all module.m["x\ny"].module.n.t.r`, `all module.m.module.n.t.r everywhere`,
		`all module.m.module.n.t.r within module.m["x\ny"].module.n`, `all module.m.module.n.t.r within module.m["x\ny"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got the keys %q, want %q", got, want)
	}
}

// settling is a journal that notes the instances that are settled.
type settling struct {
	Journal
	settled []addr.Instance
}

func (s *settling) Settle(instances ...addr.Instance) { s.settled = append(s.settled, instances...) }

// keyed is a journal with a key.
type keyed struct{ Journal }

func (keyed) HashKey() []byte { return []byte("key") }

// TestHashKey has the key of the journal, if it has one.
func TestHashKey(t *testing.T) {
	if got := (&journaledRun{journal: keyed{}}).HashKey(); string(got) != "key" {
		t.Errorf("got the key %q, want the journal's", got)
	}
	if got := (&journaledRun{journal: struct{ Journal }{}}).HashKey(); got != nil {
		t.Errorf("got the key %q of a journal without one, want none", got)
	}
}

// TestSettle tells the journal which instances are settled, until the run ends.
func TestSettle(t *testing.T) {
	j := &settling{}
	r := &journaledRun{rows: &rows{state: New()}, journal: j, base: &File{State: New()}}
	r.Settle(addr.Instance{})
	r.ended.Store(true)
	r.Settle(addr.Instance{})
	if len(j.settled) != 1 {
		t.Errorf("got %d settled instances, want the one before the end", len(j.settled))
	}
	(&journaledRun{journal: struct{ Journal }{}}).Settle(addr.Instance{})
}
