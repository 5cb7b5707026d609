package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustRead(t testing.TB, src []byte) *File {
	t.Helper()
	f, err := Read(src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustWrite(t testing.TB, f *File) string {
	t.Helper()
	b, err := Write(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPeersFilesStay: what other engines wrote is written back byte by byte.
func TestPeersFilesStay(t *testing.T) {
	for _, name := range []string{
		"opentofu-1.12.tfstate", "opentofu-1.12-lifecycle.tfstate", "terraform-1.11.tfstate", "terraform-1.11-empty.tfstate", "all-members.tfstate",
	} {
		t.Run(name, func(t *testing.T) {
			src := load(t, name)
			if diff := cmp.Diff(string(src), mustWrite(t, mustRead(t, src))); diff != "" {
				t.Error(diff)
			}
			// Unusual white space and order of members make no difference.
			var compact bytes.Buffer
			if err := json.Compact(&compact, src); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(src), mustWrite(t, mustRead(t, compact.Bytes()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadMembers(t *testing.T) {
	s := mustRead(t, load(t, "all-members.tfstate")).State
	module := addr.RootInstance.Child("a-b", addr.NoKey)
	inst := addr.Instance{Module: module, Resource: addr.Resource{Type: "test_thing", Name: "t"}, Key: addr.IntKey(2)}
	o := s.Object(addr.Object{Instance: inst})
	if o == nil {
		t.Fatal("the object is not there")
	}
	v, err := o.Decode(cty.Object(map[string]cty.Type{"n": cty.Number, "s": cty.String}))
	if err != nil {
		t.Fatal(err)
	}
	want := cty.ObjectVal(map[string]cty.Value{
		"n": cty.MustParseNumberVal("18446744073709551616.5"), "s": cty.StringVal("x").Mark(value.Sensitive),
	})
	if !v.RawEquals(want) {
		t.Errorf("decoded: got %#v, want %#v", v, want)
	}
	if v, err = o.DecodeUnmarked(v.Type()); err != nil || v.ContainsMarked() {
		t.Errorf("without marks: %#v, %v", v, err)
	}
	if !o.Tainted || !o.CreateBeforeDestroy || !o.SkipDestroy || string(o.Private) != "private" || string(o.Identity) != `{"arn":"a"}` ||
		o.IdentityVersion != 3 || o.SchemaVersion != 7 {
		t.Errorf("got %+v, want all that the object had before it was written", o)
	}
	var deps []string
	for _, d := range o.Dependencies {
		deps = append(deps, d.String())
	}
	if diff := cmp.Diff([]string{"data.test_source.s", "module.a-b.test_thing.u"}, deps); diff != "" {
		t.Error(diff)
	}
	if got := s.Instance(inst).Provider.String(); got != `provider["registry.terraform.io/hashicorp/test"]` {
		t.Errorf("provider: got %s, want %s", got, `provider["registry.terraform.io/hashicorp/test"]`)
	}
	flat := s.Object(addr.Object{Instance: inst, Deposed: "0a1b2c3d"})
	if flat == nil || flat.JSON() != nil || flat.Flatmap["id"] != "i" {
		t.Fatalf("flat object: got %+v, want one with the id \"i\" and no JSON", flat)
	}
	if _, err := flat.Decode(cty.DynamicPseudoType); !errors.Is(err, ErrLegacyObject) {
		t.Errorf("decoding a flat object: %v", err)
	}
}

func TestDecodeErrorsShowNoValues(t *testing.T) {
	o := &Object{attrs: []byte(`{"secret":"canary"}`)}
	for _, ty := range []cty.Type{cty.Object(map[string]cty.Type{"secret": cty.Number}), cty.Object(map[string]cty.Type{"other": cty.String})} {
		if _, err := o.Decode(ty); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("decoding against %#v: %v", ty, err)
		}
	}
}

func TestUnusableFiles(t *testing.T) {
	v4 := func(resources string) string {
		return `{"version":4,"terraform_version":"1.0.0","serial":1,"lineage":"l","resources":[` + resources + `]}`
	}
	inst := func(members string) string {
		return v4(`{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.terraform.io/a/b\"]","instances":[{"schema_version":0,"attributes":{"canary":"canary"},` + members + `}]}`)
	}
	whole := string(load(t, "terraform-1.11.tfstate"))
	for name, test := range map[string]struct {
		src  string
		kind error
		says string
	}{
		"truncated":           {whole[:len(whole)/2], ErrCorrupt, "ends in the middle"},
		"truncated early":     {`{`, ErrCorrupt, "ends in the middle"},
		"zeros at the end":    {whole[:200] + strings.Repeat("\x00", 300), ErrCorrupt, "ends in the middle"},
		"only zeros":          {strings.Repeat("\x00", 300), ErrCorrupt, ""},
		"two files":           {whole + whole, ErrCorrupt, "line"},
		"not an object":       {`[]`, ErrCorrupt, ""},
		"no version":          {`{"a": 1}`, ErrCorrupt, "format version"},
		"version zero":        {`{"version": 0}`, ErrCorrupt, "format version"},
		"version text":        {`{"version": "4"}`, ErrCorrupt, "format version"},
		"nested too deep":     {`{"version": 4, "outputs": ` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + `}`, ErrCorrupt, "nested more than"},
		"number out of range": {`{"version": 4, "serial": 1e999999}`, ErrCorrupt, "out of range"},
		"newer":               {`{"version": 5, "terraform_version": "9.1.0"}`, ErrNewer, "9.1.0"},
		"encrypted":           {`{"serial":1,"lineage":"l","meta":{},"encrypted_data":"canary","encryption_version":"v0"}`, ErrEncrypted, "Configure the encryption"},
		"wrong type":          {v4(`{"mode": 5}`), ErrCorrupt, "mode"},
		"unknown mode":        {v4(`{"mode":"ephemeral","type":"t","name":"n","instances":[]}`), ErrCorrupt, "ephemeral"},
		"no type":             {v4(`{"mode":"managed","name":"n"}`), ErrCorrupt, "no type"},
		"bad module":          {v4(`{"module":"foo","mode":"managed","type":"t","name":"n"}`), ErrCorrupt, "module address"},
		"no provider":         {strings.Replace(inst(`"status":""`), "provider", "x", 2), ErrCorrupt, "t.n"},
		"negative key":        {inst(`"index_key":-1`), ErrCorrupt, "t.n"},
		"fractional key":      {inst(`"index_key":1.5`), ErrCorrupt, "t.n"},
		"key of a wrong type": {inst(`"index_key":true`), ErrCorrupt, "t.n"},
		"unknown status":      {inst(`"status":"x"`), ErrCorrupt, "status"},
		"negative version":    {inst(`"schema_version":-1`), ErrCorrupt, "schema version"},
		"bad dependency":      {inst(`"dependencies":["module.x"]`), ErrCorrupt, "module.x"},
		"bad path":            {inst(`"sensitive_attributes":[[{"type":"x"}]]`), ErrCorrupt, "step"},
		"bad path key":        {inst(`"sensitive_attributes":[[{"type":"index","value":null}]]`), ErrCorrupt, "key"},
		"bad identity":        {inst(`"identity":"x"`), ErrCorrupt, "identity"},
		"twice":               {strings.Replace(inst(`"index_key":1`), `"instances":[`, `"instances":[{"index_key":1},`, 1), ErrCorrupt, "twice"},
		"bad output":          {`{"version":4,"outputs":{"o":{"value":"canary","type":"number"}}}`, ErrCorrupt, `"o"`},
		"bad output type":     {`{"version":4,"outputs":{"o":{"value":"canary","type":"canary"}}}`, ErrCorrupt, `"o"`},
		"no resources":        {`{"version":4,"serial":1,"lineage":"l","canary":[]}`, ErrCorrupt, `"resources"`},
		"no instances":        {v4(`{"mode":"managed","type":"t","name":"n","provider":"p"}`), ErrCorrupt, `line 1: a resource has no "instances"`},
		"other case":          {"{\"version\":4,\n\"Resources\":[]}", ErrCorrupt, `line 2: the file has a member "Resources", whose name is spelled "resources"`},
		"other case below":    {inst(`"Status":"tainted"`), ErrCorrupt, `"Status"`},
		"member twice":        {`{"version":4,"resources":[],"resources":[]}`, ErrCorrupt, `the member "resources" twice`},
		"attribute twice":     {strings.Replace(inst(`"status":""`), `"canary":"canary"`, `"canary":1,"canary":2`, 1), ErrCorrupt, "line 1: an object has a member twice"},
		"escaped twice":       {inst(`"status":"","st\u0061tus":"tainted"`), ErrCorrupt, `"status" twice`},
		"unknown twice":       {`{"version":4,"resources":[],"x":{"y":1,"y":1}}`, ErrCorrupt, "twice"},
		"last serial":         {`{"version":4,"serial":18446744073709551615,"resources":[]}`, ErrCorrupt, "serial"},
		"legacy last serial":  {`{"version":3,"serial":18446744073709551615,"modules":[]}`, ErrCorrupt, "serial"},
		"legacy path":         {`{"version":3,"modules":[{"path":["x"]}]}`, ErrCorrupt, "root"},
		"legacy key":          {`{"version":3,"modules":[{"path":["root"],"resources":{"x":{}}}]}`, ErrCorrupt, "type.name"},
		"legacy module":       {`{"version":3,"modules":[{"path":["root","a b"]}]}`, ErrCorrupt, "path"},
		"legacy name":         {`{"version":3,"modules":[{"path":["root"],"resources":{"a.b!":{"primary":{"id":"x"}}}}]}`, ErrCorrupt, "identifier"},
		"legacy provider":     {`{"version":3,"modules":[{"path":["root"],"resources":{"a.b":{"provider":"!!","primary":{"id":"x"}}}}]}`, ErrCorrupt, "provider"},
		"old provider":        {strings.Replace(inst(`"status":""`), `provider[\"registry.terraform.io/a/b\"]`, "provider.!", 1), ErrCorrupt, "provider"},
		"legacy truncated":    {`{"version":3,"modules":[{"path":["roo`, ErrCorrupt, "ends in the middle"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Read([]byte(test.src))
			if !errors.Is(err, test.kind) || f != nil {
				t.Fatalf("read %v, %v", f, err)
			}
			if !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "canary") {
				t.Errorf("it says: %v", err)
			}
		})
	}
	if f, err := Read(nil); f != nil || err != nil {
		t.Errorf("an empty file: %v, %v", f, err)
	}
}

// TestFilesOfFewMembers reads files that other engines write or take: null for an empty list, and no lineage,
// which must be the same whenever the same file is read.
func TestFilesOfFewMembers(t *testing.T) {
	src := []byte(`{"version":4,"serial":18446744073709551614,"outputs":{"o":{"value":1,"type":"number"}},"resources":null}`)
	f, again := mustRead(t, src), mustRead(t, src)
	if f.Lineage == "" || f.Lineage != again.Lineage {
		t.Errorf("lineage: got %q, want %q again", again.Lineage, f.Lineage)
	}
	if next := f.Next(f.State, "1.0.0"); next.Lineage != f.Lineage || next.Serial != 18446744073709551615 {
		t.Errorf("next: got %+v, want the greatest serial of lineage %s", next.Meta, f.Lineage)
	}
	if other := mustRead(t, append(src, '\n')); other.Lineage == f.Lineage {
		t.Error("another file has the same lineage")
	}
	outputs, err := ReadOutputs([]byte(`{"version":4,"outputs":{"o":{"value":1,"type":"number"}}}`))
	if err != nil || len(outputs) != 1 {
		t.Errorf("outputs of a file without resources: got %v, %v, want 1", outputs, err)
	}
	if outputs, err := ReadOutputs(nil); outputs != nil || err != nil {
		t.Errorf("outputs of nothing: %v, %v", outputs, err)
	}
}

// TestMembersOfLargeObjects has more members in one object than are compared one by one.
func TestMembersOfLargeObjects(t *testing.T) {
	var members []string
	for i := range 100 {
		members = append(members, fmt.Sprintf(`"m%d":{"a":[{"a":"}"}]}`, i))
	}
	src := `{"version":4,"resources":[],"x":{` + strings.Join(members, ",") + `}}`
	mustRead(t, []byte(src))
	if _, err := Read([]byte(strings.Replace(src, `"m99"`, `"m3"`, 1))); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a member twice: %v", err)
	}
}

func TestUpgradeVersion3(t *testing.T) {
	f := mustRead(t, load(t, "version3.tfstate"))
	if diff := cmp.Diff(Meta{Lineage: "b7a8f9d2-1111-2222-3333-444455556666", Serial: 5, Version: "0.11.14"}, f.Meta); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(string(load(t, "version3.golden")), mustWrite(t, f)); diff != "" {
		t.Error(diff)
	}
}

func TestUpgradeVersion1(t *testing.T) {
	src := load(t, "version1.tfstate")
	f, again := mustRead(t, src), mustRead(t, src)
	if f.Lineage == "" || f.Lineage != again.Lineage {
		t.Errorf("lineage: got %q, want %q again", again.Lineage, f.Lineage)
	}
	o := f.State.Object(addr.Object{Instance: addr.Instance{Resource: addr.Resource{Type: "test_thing", Name: "t"}}})
	if o == nil || !o.Tainted {
		t.Fatalf("the tainted object is %+v", o)
	}
	want := map[string]string{"id": "bad", "tags.%": "1", "tags.Name": "x", "list.#": "1", "list.0": "y"}
	if diff := cmp.Diff(want, o.Flatmap); diff != "" {
		t.Error(diff)
	}
	if v, err := f.State.Outputs["o"].Value.Live(); err != nil || !v.RawEquals(cty.StringVal("v")) {
		t.Errorf("output: got %#v, %v, want \"v\"", v, err)
	}
}

func TestOldDependencies(t *testing.T) {
	f := mustRead(t, []byte(`{"version":4,"terraform_version":"0.12.0","serial":1,"lineage":"l","resources":[
		{"module":"module.m","mode":"managed","type":"t","name":"n","each":"list","provider":"provider.test",
		 "instances":[{"index_key":0,"schema_version":0,"attributes":{},"depends_on":["data.a.b","module.x","t.o"]}]}]}`))
	got := mustWrite(t, f)
	for _, want := range []string{"\"module.m.data.a.b\",\n            \"module.m.t.o\"\n", `"provider[\"registry.opentofu.org/hashicorp/test\"]"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
}

func TestOutputs(t *testing.T) {
	seal := func(v cty.Value) value.Durable {
		d, err := value.Seal(v, v.Type(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	f := &File{Meta: Meta{Lineage: "l", Serial: 1, Version: "1.0.0"}, State: New()}
	f.State.Outputs["plain"] = &Output{Value: seal(cty.ListVal([]cty.Value{cty.StringVal("a")}))}
	f.State.Outputs["partly"] = &Output{Value: seal(cty.ObjectVal(map[string]cty.Value{"x": cty.StringVal("s").Mark(value.Sensitive)}))}
	f.State.Outputs["null"] = &Output{Value: seal(cty.NullVal(cty.DynamicPseudoType)), Sensitive: true}
	f.State.Outputs["none"] = &Output{}
	got := mustRead(t, []byte(mustWrite(t, f)))
	if mustWrite(t, got) != mustWrite(t, f) {
		t.Error(mustWrite(t, got))
	}
	if o := got.State.Outputs["partly"]; !o.Sensitive {
		t.Error("an output with a sensitive part is no longer sensitive")
	} else if v, err := o.Value.Live(); err != nil || !v.HasMark(value.Sensitive) {
		t.Errorf("its value is %#v, %v", v, err)
	}
	f.State.Outputs["unknown"] = &Output{Value: seal(cty.UnknownVal(cty.String))}
	if _, err := Write(f); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("an unknown output: %v", err)
	}
}

// TestDeepValues reads back the deepest value that can be stored, whose type nests twice as deep.
func TestDeepValues(t *testing.T) {
	v := cty.StringVal("x")
	for i := range value.MaxDepth {
		if v = cty.TupleVal([]cty.Value{v}); i%2 == 0 {
			v = cty.ObjectVal(map[string]cty.Value{"a": v.AsValueSlice()[0]})
		}
	}
	sealed, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := mustRead(t, load(t, "all-members.tfstate"))
	f.State.Outputs["deep"] = &Output{Value: sealed}
	back := mustRead(t, []byte(mustWrite(t, f)))
	if got, err := back.State.Outputs["deep"].Value.Live(); err != nil || !got.RawEquals(v) {
		t.Errorf("value of %d levels: got %#v, %v, want the same when it is read again", value.MaxDepth, got, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	if _, err := Write(&File{State: New()}); err == nil {
		t.Error("a file without a lineage is written")
	}
	f := &File{Meta: Meta{Lineage: "l", Version: "1.0.0"}, State: New()}
	a := addr.Object{Instance: addr.Instance{Resource: addr.Resource{Mode: addr.Ephemeral, Type: "t", Name: "n"}}}
	f.State.SetObject(a, &Object{attrs: []byte(`{}`)}, addr.ProviderConfig{Provider: addr.DefaultProvider("t")})
	if _, err := Write(f); err == nil {
		t.Error("an ephemeral resource is written")
	}
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, os.ErrClosed
	}
	return len(b), nil
}

func TestEncodeStopsAtAFullDisk(t *testing.T) {
	f := bigFile(t, 3000)
	w := &failingWriter{left: 300 << 10}
	if err := Encode(w, f); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func bigFile(t testing.TB, n int) *File {
	t.Helper()
	f := &File{Meta: Meta{Lineage: "l", Serial: 1, Version: "1.0.0"}, State: New()}
	pc := addr.ProviderConfig{Provider: addr.DefaultProvider("test")}
	for i := range n {
		module := addr.RootInstance.Child("m", addr.IntKey(i%20))
		inst := addr.Instance{Module: module, Resource: addr.Resource{Type: "test_thing", Name: fmt.Sprint("r", i%200)}, Key: addr.IntKey(i / 200)}
		o := &Object{
			attrs:        fmt.Appendf(nil, `{"id":"i-%08d","name":"a name of some length","tags":{"Name":"x","Owner":"team"},"list":["a","b","c"],"size":%d,"note":null}`, i, i),
			Sensitive:    []cty.Path{cty.GetAttrPath("name")},
			Private:      []byte(`{"schema_version":"1"}`),
			Dependencies: []addr.ConfigResource{{Resource: addr.Resource{Type: "test_thing", Name: "base"}}},
		}
		f.State.SetObject(addr.Object{Instance: inst}, o, pc)
	}
	return f
}

func BenchmarkWrite(b *testing.B) {
	benchmarkSizes(b, func(f *File, _ []byte) error { _, err := Write(f); return err })
}

func BenchmarkRead(b *testing.B) {
	benchmarkSizes(b, func(_ *File, src []byte) error { _, err := Read(src); return err })
}

func BenchmarkUnchanged(b *testing.B) {
	benchmarkSizes(b, func(f *File, _ []byte) error {
		if !Unchanged(f, &File{Meta: f.Meta, State: f.State.Copy()}) {
			return errors.New("a copy differs")
		}
		return nil
	})
}

func benchmarkSizes(b *testing.B, run func(f *File, src []byte) error) {
	for _, n := range []int{10_000, 100_000} {
		f := bigFile(b, n)
		src := []byte(mustWrite(b, f))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := run(f, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"opentofu-1.12.tfstate", "all-members.tfstate", "version3.tfstate", "version1.tfstate"} {
		f.Add(load(f, name))
	}
	f.Add([]byte(`{"version":4,"resources":[{"instances":null}],"Resources":[],"x":1}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Read(src)
		if err != nil || file == nil {
			return
		}
		if file.Lineage == "" {
			file.Lineage = "l"
		}
		if file.Version == "" {
			file.Version = "1.0.0"
		}
		once := mustWrite(t, file)
		again := mustRead(t, []byte(once))
		if twice := mustWrite(t, again); once != twice {
			t.Errorf("written after reading: got\n%s\nwant\n%s", twice, once)
		}
	})
}

// TestNamesLikeNumbers reads an output back whose attributes have names that begin like numbers.
func TestNamesLikeNumbers(t *testing.T) {
	f := testFile()
	for _, name := range []string{"e", "e-", "e99999", "1e99999"} {
		f.State.Outputs["o"] = &Output{Value: sealed(t, cty.ObjectVal(map[string]cty.Value{name: cty.False}))}
		if got, err := Read([]byte(mustWrite(t, f))); err != nil || !Unchanged(f, got) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
