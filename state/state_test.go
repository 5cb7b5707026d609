package state

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

var testProvider = addr.ProviderConfig{Provider: addr.DefaultProvider("test")}

func at(name string, key addr.Key) addr.Object {
	return addr.Object{Instance: addr.Instance{Resource: addr.Resource{Type: "t", Name: name}, Key: key}}
}

func sealed(t rapid.TB, v cty.Value) value.Durable {
	t.Helper()
	raw, _ := v.UnmarkDeep()
	d, err := value.Seal(v, raw.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func object(t rapid.TB, text string) *Object {
	t.Helper()
	o, err := ObjectFrom(sealed(t, cty.ObjectVal(map[string]cty.Value{"text": cty.StringVal(text)})))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestObjectFrom(t *testing.T) {
	v := cty.ObjectVal(map[string]cty.Value{
		"z": cty.StringVal("<secret>").Mark(value.Sensitive),
		"a": cty.MapVal(map[string]cty.Value{"k": cty.NumberIntVal(1).Mark(value.Sensitive)}),
		"d": cty.NullVal(cty.DynamicPseudoType),
	})
	o, err := ObjectFrom(sealed(t, v))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":{"k":1},"d":null,"z":"\u003csecret\u003e"}`; string(o.JSON()) != want {
		t.Errorf("JSON: got %s, want %s", o.JSON(), want)
	}
	b := appendInstance(nil, instanceHead{}, o)
	want := `"sensitive_attributes":[[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":"k","type":"string"}}],[{"type":"get_attr","value":"z"}]]`
	if !strings.Contains(string(b), want) {
		t.Errorf("stored %s", b)
	}
	if without, err := ObjectFrom(sealed(t, v), "a", "d"); err != nil || string(without.JSON()) != `{"a":{"k":1},"z":"\u003csecret\u003e"}` {
		t.Errorf("ObjectFrom, attributes that are null: got %s, %v, want them left out", without.JSON(), err)
	}
	raw, _ := v.UnmarkDeep()
	if got, err := o.Decode(raw.Type()); err != nil || !got.RawEquals(v) {
		t.Errorf("decoded: got %#v, %v, want %#v", got, err, v)
	}
	for name, bad := range map[string]cty.Value{
		"null":    cty.NullVal(cty.EmptyObject),
		"unknown": cty.ObjectVal(map[string]cty.Value{"x": cty.ListVal([]cty.Value{cty.UnknownVal(cty.String)})}),
	} {
		if _, err := ObjectFrom(sealed(t, bad)); err == nil {
			t.Errorf("%s: no error", name)
		} else if name == "unknown" && !strings.Contains(err.Error(), "x[0]") {
			t.Errorf("it does not name the place: %v", err)
		}
	}
}

// TestObjectFromIsTheLibrarys holds the way from one encoding to the other against the library.
func TestObjectFromIsTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attrs, types, absent := map[string]cty.Value{}, map[string]cty.Type{}, []string{}
		for range rapid.IntRange(0, 4).Draw(t, "attributes") {
			name, v := genName.Draw(t, "name"), genValue(t, 2)
			attrs[name], types[name] = v, v.Type()
			if rapid.Bool().Draw(t, "open") {
				types[name] = cty.DynamicPseudoType
			}
			if rapid.Bool().Draw(t, "absent") {
				absent = append(absent, name)
			}
		}
		ty := cty.Object(types)
		v, _ := cty.ObjectVal(attrs).UnmarkDeep()
		d, err := value.Seal(v, ty, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := ObjectFrom(d)
		want, _ := ctyjson.Marshal(v, ty)
		if err != nil || string(o.JSON()) != string(want) {
			t.Fatalf("got %s, %v, want %s, as the library writes it", o.JSON(), err, want)
		}
		if o, err = ObjectFrom(d, absent...); err != nil {
			t.Fatal(err)
		}
		if got, err := o.DecodeUnmarked(ty); err != nil || !got.RawEquals(v) {
			t.Fatalf("%s: got %#v, %v, want %#v", o.JSON(), got, err, v)
		}
	})
}

func TestIdentityFrom(t *testing.T) {
	b, err := IdentityFrom(sealed(t, cty.ObjectVal(map[string]cty.Value{"arn": cty.StringVal("x")})))
	if err != nil || string(b) != `{"arn":"x"}` {
		t.Errorf("got %s, %v, want {\"arn\":\"x\"}", b, err)
	}
	if b, err := IdentityFrom(value.Durable{}); b != nil || err != nil {
		t.Errorf("no identity: %s, %v", b, err)
	}
}

func TestPathsIntoSetsHideTheWholeSet(t *testing.T) {
	p := cty.GetAttrPath("set").Index(cty.ObjectVal(map[string]cty.Value{"secret": cty.StringVal("canary")})).GetAttr("x")
	if got, want := string(appendPaths(nil, []cty.Path{p})), `[[{"type":"get_attr","value":"set"}]]`; got != want {
		t.Errorf("stored: got %s, want %s", got, want)
	}
}

func TestSetAndRemove(t *testing.T) {
	s := New()
	a, dep := at("n", addr.IntKey(0)), at("n", addr.IntKey(0))
	dep.Deposed = "00000001"
	o := object(t, "x")
	s.SetObject(dep, o, testProvider)
	s.SetObject(a, o, testProvider)
	s.SetObject(at("n", addr.IntKey(1)), o, testProvider)
	if s.Empty() || s.Object(a) != o || s.Object(dep) != o || s.Object(at("other", addr.NoKey)) != nil {
		t.Error("objects are not where they were set")
	}
	s.SetObject(a, nil, testProvider)
	if i := s.Instance(a.Instance); i == nil || i.Current != nil || len(i.Deposed) != 1 {
		t.Errorf("after removing the current object: got %+v, want 1 deposed one", i)
	}
	s.RemoveObject(dep)
	if s.Instance(a.Instance) != nil {
		t.Error("an empty instance stays")
	}
	s.RemoveObject(a)
	s.RemoveInstance(at("n", addr.IntKey(1)).Instance)
	s.RemoveInstance(a.Instance)
	if !s.Empty() || len(s.Resources) != 0 {
		t.Error("an empty resource stays")
	}
}

func TestMove(t *testing.T) {
	s := New()
	from, to, taken := at("a", addr.NoKey), at("b", addr.StringKey("k")), at("c", addr.NoKey)
	dep := from
	dep.Deposed = "00000001"
	o := object(t, "x")
	for _, a := range []addr.Object{from, dep, taken} {
		s.SetObject(a, o, testProvider)
	}
	if s.Move(from.Instance, taken.Instance) == nil || s.Move(to.Instance, from.Instance) == nil || s.Object(from) == nil {
		t.Error("an impossible move succeeds")
	}
	if err := s.Move(from.Instance, to.Instance); err != nil {
		t.Fatal(err)
	}
	if i := s.Instance(to.Instance); s.Instance(from.Instance) != nil || i.Current != o || i.Deposed["00000001"] != o || i.Provider != testProvider {
		t.Errorf("moved instance: got %+v, want both objects of %s, its provider, and nothing left there", i, from.Instance)
	}
}

func TestNewDeposedKey(t *testing.T) {
	s := New()
	a := at("n", addr.NoKey)
	random := bytes.NewReader([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0xab, 0, 0, 1})
	taken := func(d addr.Deposed) bool { return s.Object(addr.Object{Instance: a.Instance, Deposed: d}) != nil }
	for _, want := range []addr.Deposed{"00000000", "ab000001"} {
		key, err := NewDeposedKey(taken, random)
		if err != nil || key != want {
			t.Fatalf("key %q, %v; want %q", key, err, want)
		}
		s.SetObject(addr.Object{Instance: a.Instance, Deposed: key}, object(t, string(want)), testProvider)
	}
	if i := s.Instance(a.Instance); i.Current != nil || !slices.Equal(i.DeposedKeys(), []addr.Deposed{"00000000", "ab000001"}) {
		t.Errorf("deposed: got %+v, want 00000000 and ab000001", i)
	}
	if _, err := NewDeposedKey(taken, random); err == nil {
		t.Error("a key without randomness")
	}
	if _, err := NewDeposedKey(taken, zeros{}); err == nil {
		t.Error("a key from a stuck source")
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestManaged(t *testing.T) {
	s := New()
	deposed, read := at("n", addr.IntKey(0)), at("n", addr.NoKey)
	deposed.Deposed, read.Resource.Mode = "00000001", addr.Data
	for _, o := range []addr.Object{at("n", addr.IntKey(0)), deposed, read, at("m", addr.NoKey)} {
		s.SetObject(o, object(t, "x"), testProvider)
	}
	if want, got := []addr.Object{at("m", addr.NoKey), at("n", addr.IntKey(0)), deposed}, s.Managed(); !slices.Equal(want, got) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCopyIsApart(t *testing.T) {
	s := New()
	dep := at("n", addr.NoKey)
	dep.Deposed = "00000001"
	s.SetObject(dep, object(t, "old"), testProvider)
	s.Outputs["o"] = &Output{Value: sealed(t, cty.True)}
	c := s.Copy()
	if !s.Equal(c) {
		t.Error("a copy is not equal")
	}
	c.SetObject(dep, object(t, "new"), testProvider)
	c.SetObject(at("n", addr.NoKey), object(t, "new"), testProvider)
	c.SetObject(at("m", addr.NoKey), object(t, "new"), testProvider)
	delete(c.Outputs, "o")
	if !s.Object(dep).Equal(object(t, "old")) || s.Object(at("n", addr.NoKey)) != nil || len(s.Resources) != 1 || len(s.Outputs) != 1 {
		t.Error("changing a copy changed the original")
	}
}

func TestUnchanged(t *testing.T) {
	base := func() *File { return mustRead(t, load(t, "all-members.tfstate")) }
	a := base()
	b := base()
	b.Serial, b.Version = 99, "2.0.0"
	if !Unchanged(a, b) || !Unchanged(nil, nil) || Unchanged(a, nil) || Unchanged(nil, a) {
		t.Error("the serial and the writer are not changes")
	}
	any := func(s *State) (*Resource, *Instance, addr.Object) {
		for i, inst := range s.AllInstances() {
			if inst.Current != nil {
				return s.Resources[i.Abs()], inst, addr.Object{Instance: i}
			}
		}
		return nil, nil, addr.Object{}
	}
	for name, change := range map[string]func(f *File){
		"lineage": func(f *File) { f.Lineage = "x" },
		"unknown": func(f *File) { f.extra = nil },
		"output":  func(f *File) { f.State.Outputs["x"] = &Output{Value: sealed(t, cty.True)} },
		"check":   func(f *File) { f.State.Checks[0].Status = CheckPass },
		"value":   func(f *File) { _, i, _ := any(f.State); i.Current = object(t, "x") },
		"private": func(f *File) { _, i, _ := any(f.State); i.Current = i.Current.Clone(); i.Current.Private = []byte("x") },
		"tainted": func(f *File) { _, i, _ := any(f.State); i.Current = i.Current.Clone(); i.Current.Tainted = true },
		"paths": func(f *File) {
			_, i, _ := any(f.State)
			i.Current = i.Current.Clone()
			i.Current.Sensitive = []cty.Path{cty.GetAttrPath("q")}
		},
		"provider": func(f *File) { _, i, _ := any(f.State); i.Provider.Alias = "x" },
		"resource": func(f *File) { r, _, _ := any(f.State); r.extra = nil },
		"gone":     func(f *File) { _, _, a := any(f.State); f.State.RemoveObject(a) },
		"deposed": func(f *File) {
			_, i, _ := any(f.State)
			i.Deposed = map[addr.Deposed]*Object{"00000001": object(t, "x")}
		},
	} {
		b := base()
		change(b)
		if Unchanged(a, b) || Unchanged(b, a) {
			t.Errorf("%s: the change is not seen", name)
		}
	}
}

func TestOrder(t *testing.T) {
	s := New()
	o := object(t, "x")
	for _, m := range []string{"", "module.a-b", "module.a.module.c", `module.a["x"]`} {
		module, err := addr.ParseModuleInstance(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []addr.Resource{{Type: "b", Name: "n"}, {Type: "a", Name: "z"}, {Mode: addr.Data, Type: "z", Name: "z"}} {
			for _, k := range []addr.Key{addr.IntKey(10), addr.IntKey(2), addr.StringKey("k"), addr.NoKey} {
				s.SetObject(addr.Object{Instance: addr.Instance{Module: module, Resource: r, Key: k}}, o, testProvider)
			}
		}
	}
	var got []string
	for a := range s.AllInstances() {
		got = append(got, a.String())
	}
	var want []string
	for _, m := range []string{"", "module.a-b.", "module.a.module.c.", `module.a["x"].`} {
		for _, r := range []string{"data.z.z", "a.z", "b.n"} {
			for _, k := range []string{"", "[2]", "[10]", `["k"]`} {
				want = append(want, m+r+k)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	n := 0
	for range s.AllInstances() {
		if n++; n == 3 {
			break
		}
	}
	for m, rs := range s.ByModule() {
		for i, r := range rs {
			if r.Addr.Module != m || i > 0 && rs[i-1].Addr.Resource.Compare(r.Addr.Resource) >= 0 {
				t.Errorf("ByModule()[%q][%d]: got %s, want the resources of this module, sorted", m, i, r.Addr)
			}
		}
		if len(rs) != 3 {
			t.Errorf("%q has %d resources, want 3", m, len(rs))
		}
	}
}

func TestNewFile(t *testing.T) {
	f, err := NewFile("1.2.3", rand.Reader)
	if err != nil || len(f.Lineage) != 36 || f.Serial != 0 || !f.State.Empty() {
		t.Errorf("got %+v, %v, want an empty state of serial 0 with a lineage", f, err)
	}
	next := f.Next(New(), "1.3.0")
	if next.Serial != 1 || next.Lineage != f.Lineage || next.Version != "1.3.0" || f.Serial != 0 {
		t.Errorf("got %+v, want serial 1 of the same lineage", next)
	}
	if _, err := NewFile("1.2.3", strings.NewReader("short")); err == nil {
		t.Error("a lineage without randomness")
	}
}

// genKey, genText and the other generators make the parts of random states.
var (
	// Texts are normalized, as all strings of the language are.
	genText = rapid.Map(rapid.OneOf(rapid.StringMatching(`[a-z_][a-z0-9_-]{0,6}`), rapid.String()), cty.NormalizeString)
	genName = rapid.StringMatching(`[a-z_][a-z0-9_-]{0,6}`)
	genKey  = rapid.OneOf(rapid.Just(addr.NoKey), rapid.Map(rapid.IntRange(0, 1000), addr.IntKey), rapid.Map(genText, addr.StringKey))
)

func genValue(t *rapid.T, depth int) cty.Value {
	mark := func(v cty.Value) cty.Value {
		if rapid.IntRange(0, 4).Draw(t, "sensitive") == 0 {
			return v.Mark(value.Sensitive)
		}
		return v
	}
	switch n := rapid.IntRange(0, 4+2*min(depth, 1)).Draw(t, "kind"); n {
	case 0:
		return cty.NullVal(cty.String)
	case 1:
		return mark(cty.BoolVal(rapid.Bool().Draw(t, "bool")))
	case 2:
		return mark(cty.NumberIntVal(rapid.Int64().Draw(t, "int")))
	case 3, 4:
		return mark(cty.StringVal(genText.Draw(t, "string")))
	default:
		attrs := map[string]cty.Value{}
		for range rapid.IntRange(0, 3).Draw(t, "attrs") {
			attrs[genName.Draw(t, "attr")] = genValue(t, depth-1)
		}
		if n == 5 {
			return mark(cty.ObjectVal(attrs))
		}
		var elems []cty.Value
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for k := range attrs {
				if !yield(k) {
					return
				}
			}
		}) {
			elems = append(elems, attrs[name])
		}
		return mark(cty.TupleVal(elems))
	}
}

func genObject(t *rapid.T) (*Object, cty.Value) {
	v := cty.ObjectVal(map[string]cty.Value{genName.Draw(t, "attr"): genValue(t, 3)})
	o, err := ObjectFrom(sealed(t, v))
	if err != nil {
		t.Fatal(err)
	}
	o.SchemaVersion = int64(rapid.IntRange(0, 9).Draw(t, "version"))
	o.Tainted, o.CreateBeforeDestroy = rapid.Bool().Draw(t, "tainted"), rapid.Bool().Draw(t, "cbd")
	if rapid.Bool().Draw(t, "has private") {
		o.Private = rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "private")
	}
	if rapid.Bool().Draw(t, "has dependency") {
		o.Dependencies = []addr.ConfigResource{{Module: addr.RootModule.Child(genName.Draw(t, "call")), Resource: addr.Resource{Type: "t", Name: genName.Draw(t, "name")}}}
	}
	return o, v
}

func genAddr(t *rapid.T) addr.Object {
	m := addr.RootInstance
	for range rapid.IntRange(0, 2).Draw(t, "depth") {
		m = m.Child(genName.Draw(t, "call"), genKey.Draw(t, "module key"))
	}
	a := addr.Object{Instance: addr.Instance{Module: m, Resource: addr.Resource{Type: genName.Draw(t, "type"), Name: genName.Draw(t, "name")}, Key: genKey.Draw(t, "key")}}
	if rapid.Bool().Draw(t, "data") {
		a.Resource.Mode = addr.Data
	}
	if rapid.IntRange(0, 3).Draw(t, "is deposed") == 0 {
		a.Deposed = addr.Deposed(fmt.Sprintf("%08x", rapid.Uint32().Draw(t, "deposed")))
	}
	return a
}

func genProvider(t *rapid.T) addr.ProviderConfig {
	pc := addr.ProviderConfig{Provider: addr.DefaultProvider(rapid.SampledFrom([]string{"aws", "test"}).Draw(t, "provider"))}
	if rapid.Bool().Draw(t, "has alias") {
		pc.Alias, pc.Key = genName.Draw(t, "alias"), genKey.Draw(t, "provider key")
	}
	return pc
}

func genFile(t *rapid.T) *File {
	f := &File{Meta: Meta{Lineage: "l", Serial: rapid.Uint64Max(1<<64-2).Draw(t, "serial"), Version: "1.0.0"}, State: New()}
	for range rapid.IntRange(0, 8).Draw(t, "objects") {
		o, _ := genObject(t)
		f.State.SetObject(genAddr(t), o, genProvider(t))
	}
	for range rapid.IntRange(0, 3).Draw(t, "outputs") {
		f.State.Outputs[genName.Draw(t, "output")] = &Output{Value: sealed(t, genValue(t, 2))}
	}
	return f
}

// TestRoundTrip: what is written reads as the same state, is valid JSON, and is laid out as encoding/json
// would.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := genFile(t)
		b, err := Write(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if !Unchanged(f, got) || f.Meta != got.Meta {
			t.Fatalf("reading what was written: got %+v, want %+v, from\n%s", got, f, b)
		}
		again, err := Write(got)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("written again: %v: got\n%s\nwant\n%s", err, again, b)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, bytes.TrimSpace(b), "", "  "); err != nil || indented.String()+"\n" != string(b) {
			t.Fatalf("got %v and\n%s\nwant it indented like\n%s", err, b, indented.String())
		}
	})
}

// TestValuesSurvive: an object decodes to the value that it was made of, marks included, also after being
// stored.
func TestValuesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, v := genObject(t)
		a := at("n", addr.NoKey)
		f := &File{Meta: Meta{Lineage: "l", Version: "1.0.0"}, State: New()}
		f.State.SetObject(a, o, testProvider)
		b, err := Write(f)
		if err != nil {
			t.Fatal(err)
		}
		f, err = Read(b)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := v.UnmarkDeep()
		got, err := f.State.Object(a).Decode(raw.Type())
		if err != nil || !got.RawEquals(v) {
			t.Fatalf("%#v\nbecame %#v (%v), want %#v\n%s", v, got, err, v, b)
		}
	})
}

// TestNoDeposedKeys asks for what most instances lack, of which there are many.
func TestNoDeposedKeys(t *testing.T) {
	i := &Instance{}
	if n := testing.AllocsPerRun(10, func() { i.DeposedKeys() }); n > 0 {
		t.Errorf("allocations: got %g, want 0", n)
	}
}
