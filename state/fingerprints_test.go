package state

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

func print(salt string) fingerprint.Fingerprint {
	return fingerprint.Fingerprint{Salt: salt, Own: []byte("own"), Sum: []byte("sum of " + salt)}
}

// withheldFile is a file with two salts, and an object with records of each form.
func withheldFile(t *testing.T) (*File, addr.Instance) {
	t.Helper()
	f := mustRead(t, load(t, "terraform-1.11.tfstate"))
	f.State.Salts = []fingerprint.Salt{{ID: "aa", Scheme: fingerprint.Scheme, Bytes: []byte("0123456789abcdef")}, {ID: "bb", Scheme: "newer", Bytes: []byte("b")}}
	for a, in := range f.State.AllInstances() {
		if in.Current == nil || a.Resource.Mode != addr.Managed {
			continue
		}
		in.Current = in.Current.Clone()
		in.Current.Withheld = []Withheld{
			{Path: cty.GetAttrPath("password"), Sent: print("aa")},
			{Path: cty.GetAttrPath("rule").IndexInt(0).GetAttr("note"), Sent: print("aa"), Returned: print("bb"), Version: print("aa"), Config: print("aa")},
			{Path: cty.GetAttrPath("map").IndexString("a \"key\""), Returned: print("aa")},
			{Path: cty.GetAttrPath("nothing")},
			{Path: cty.GetAttrPath("computed"), Returned: print("aa"), Computed: true, Number: 1<<53 - 1, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), To: twoBlocks, Owed: twoBlocks[1:], Created: true},
			{Path: cty.GetAttrPath("made"), Sent: print("aa"), Config: print("aa"), Made: print("aa")},
		}
		return f, a
	}
	t.Fatal("no managed object")
	return nil, addr.Instance{}
}

// twoBlocks are resources that get a computed value.
var twoBlocks = []addr.ConfigResource{
	{Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: "a"}},
	{Module: addr.RootModule.Child("m"), Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: "b"}},
}

func TestDeliver(t *testing.T) {
	owed := []Withheld{{Path: cty.GetAttrPath("a"), To: twoBlocks, Owed: twoBlocks}, {Path: cty.GetAttrPath("b"), To: twoBlocks, Owed: twoBlocks[:1]}, {Path: cty.GetAttrPath("c")}}
	got, changed := Deliver(owed, &twoBlocks[0])
	if !changed || len(got[0].Owed) != 1 || got[0].Owed[0] != twoBlocks[1] || len(got[1].Owed) != 0 || len(got[0].To) != 2 {
		t.Errorf("got %+v, want one resource struck out", got)
	}
	if len(owed[0].Owed) != 2 || len(owed[1].Owed) != 1 {
		t.Error("the records before were changed")
	}
	if all, changed := Deliver(owed, nil); !changed || len(all[0].Owed)+len(all[1].Owed) != 0 {
		t.Errorf("got %+v, want nothing owed", all)
	}
	if _, changed := Deliver(got, &twoBlocks[0]); changed {
		t.Error("a resource that is owed nothing was struck out")
	}
	if v := (Withheld{Sent: print("s"), Returned: print("r")}).Value(); v != print("r").String() {
		t.Errorf("got the value %s, want the returned one", v)
	}
	if v := (Withheld{Sent: print("s")}).Value(); v != print("s").String() {
		t.Errorf("got the value %s, want the sent one", v)
	}
}

func TestWithheldRoundTrip(t *testing.T) {
	f, a := withheldFile(t)
	text := mustWrite(t, f)
	got := mustRead(t, []byte(text))
	if !got.State.Equal(f.State) {
		t.Error("got another state, want the same")
	}
	want, records := f.State.Instance(a).Current.Withheld, got.State.Instance(a).Current.Withheld
	if len(records) != len(want) {
		t.Fatalf("got %d records, want %d", len(records), len(want))
	}
	for i, w := range want {
		if !records[i].Equal(w) {
			t.Errorf("got the record %v, want %v", records[i], w)
		}
	}
	if again := mustWrite(t, got); again != text {
		t.Errorf("got other bytes:\n%s\nwant the same:\n%s", again, text)
	}
}

func TestWithheldEqual(t *testing.T) {
	w := Withheld{Path: cty.GetAttrPath("a"), Sent: print("s"), Returned: print("s"), Version: print("s"), Config: print("s")}
	for name, change := range map[string]func(*Withheld){
		"path":     func(w *Withheld) { w.Path = cty.GetAttrPath("b") },
		"sent":     func(w *Withheld) { w.Sent = print("t") },
		"returned": func(w *Withheld) { w.Returned = print("t") },
		"version":  func(w *Withheld) { w.Version = print("t") },
		"config":   func(w *Withheld) { w.Config = print("t") },
		"made":     func(w *Withheld) { w.Made = print("t") },
		"computed": func(w *Withheld) { w.Computed = true },
		"number":   func(w *Withheld) { w.Number = 1 },
		"at":       func(w *Withheld) { w.At = time.Unix(1, 0) },
		"to":       func(w *Withheld) { w.To = twoBlocks },
		"owed":     func(w *Withheld) { w.Owed = twoBlocks },
		"created":  func(w *Withheld) { w.Created = true },
		"found":    func(w *Withheld) { w.Found = true },
	} {
		other := w
		if change(&other); w.Equal(other) || !w.Equal(w) {
			t.Errorf("%s: got the same record, want another one", name)
		}
	}
}

// TestWithheldDamage has files whose records are not in their form. The errors have no part of a fingerprint.
func TestWithheldDamage(t *testing.T) {
	f, _ := withheldFile(t)
	text := mustWrite(t, f)
	if strings.Count(text, `"sent": "aa.`) == 0 {
		t.Fatalf("no fingerprints in\n%s", text)
	}
	name := `"type": "get_attr",`
	for what, damage := range map[string][2]string{
		"fingerprint":    {`"sent": "aa.`, `"sent": "CANARY.`},
		"no fingerprint": {`"sent": "aa.b3du.`, `"sent": "CANARY`},
		"kind of step":   {name, `"type": "other",`},
	} {
		at := strings.LastIndex(text, damage[0])
		if at < 0 {
			t.Fatalf("%s: no %q in the file", what, damage[0])
		}
		broken := text[:at] + damage[1] + text[at+len(damage[0]):]
		_, err := Read([]byte(broken))
		switch {
		case what == "fingerprint" && err != nil:
			t.Errorf("got %v of the salt of another state, want no error", err)
		case what != "fingerprint" && (err == nil || strings.Contains(err.Error(), "CANARY")):
			t.Errorf("%s: got %v, want an error without a fingerprint", what, err)
		}
	}
	for _, w := range []withheldV4{{To: []string{"no address"}}, {Owed: []string{"a.b[c"}}} {
		w.Path = []stepJSON{{Type: "get_attr", Value: []byte(`"a"`)}}
		if got, err := w.decode(); err == nil || !strings.Contains(err.Error(), "is not the address of a resource") {
			t.Errorf("got %+v, %v of a damaged address, want an error", got, err)
		}
	}
	if w, err := (withheldV4{}).decode(); err == nil {
		t.Errorf("got %v of a record without a path, want an error", w)
	}
}

func TestSaltsOf(t *testing.T) {
	f, a := withheldFile(t)
	s := f.State
	ids := func(i *Instance) string {
		var out []string
		for _, salt := range s.SaltsOf(i) {
			out = append(out, salt.ID)
		}
		return strings.Join(out, " ")
	}
	with := func(records ...Withheld) *Object { return &Object{Withheld: records} }
	for _, row := range []struct {
		name string
		i    *Instance
		want string
	}{
		{"both", s.Instance(a), "aa bb"},
		{"none", &Instance{Current: with()}, ""},
		{"no object", &Instance{}, ""},
		{"of a way to make it", &Instance{Current: with(Withheld{Made: print("bb")})}, "bb"},
		{"of a version", &Instance{Current: with(Withheld{Version: print("bb")})}, "bb"},
		{"of what is gone", &Instance{Current: with(Withheld{Sent: print("cc")})}, ""},
		{"of a deposed object", &Instance{Current: with(), Deposed: map[addr.Deposed]*Object{"00000001": with(Withheld{Config: print("aa")})}}, "aa"},
	} {
		if got := ids(row.i); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
	if len(s.Salts) != 2 {
		t.Errorf("got %d salts in the state afterwards, want 2", len(s.Salts))
	}
}

func TestRenameConsumers(t *testing.T) {
	at := func(text string) addr.Instance {
		t.Helper()
		i, err := addr.ParseInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	blocks := func(texts ...string) (out []addr.ConfigResource) {
		for _, text := range texts {
			out = append(out, at(text).Config())
		}
		return out
	}
	s := New()
	set := func(address string, list ...Withheld) {
		s.SetObject(addr.Object{Instance: at(address)}, &Object{Withheld: list}, addr.ProviderConfig{})
	}
	password := cty.GetAttrPath("password")
	set("t.producer", Withheld{Path: password, Computed: true, To: blocks("t.a", "t.b", "t.c"), Owed: blocks("t.b", "t.c")})
	set("t.other", Withheld{Path: password, Computed: true, To: blocks("t.d")})
	for _, address := range []string{"t.a", "t.moved", "t.one", "t.c[1]"} {
		set(address)
	}
	before := s.Instance(at("t.producer")).Current
	other := s.Instance(at("t.other")).Current
	s.RenameConsumers(maps.All(map[addr.Instance]addr.Instance{
		at("t.moved"): at("t.b"), at("t.one"): at("t.c[0]"), at("t.c[1]"): at("t.c[2]"),
	}))
	got := s.Instance(at("t.producer")).Current.Withheld[0]
	if want := blocks("t.a", "t.c", "t.moved", "t.one"); !slices.Equal(got.To, want) {
		t.Errorf("it went to %v, want %v", got.To, want)
	}
	if want := blocks("t.c", "t.moved", "t.one"); !slices.Equal(got.Owed, want) {
		t.Errorf("it is owed to %v, want %v", got.Owed, want)
	}
	if len(before.Withheld[0].To) != 3 || s.Instance(at("t.other")).Current != other {
		t.Error("objects have changed that other states may share")
	}
}
