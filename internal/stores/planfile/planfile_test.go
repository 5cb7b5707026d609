package planfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

func seal(t testing.TB, v cty.Value) value.Durable {
	t.Helper()
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func instanceAt(t testing.TB, s string) addr.Instance {
	t.Helper()
	i, err := addr.ParseInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func targetAt(t testing.TB, s string) addr.Target {
	t.Helper()
	target, err := addr.ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

var random = addr.ProviderConfig{Module: addr.RootInstance.Child("m", addr.IntKey(0)), Provider: addr.DefaultProvider("random"), Alias: "a", Key: addr.StringKey("k")}

func testState(t testing.TB, n int) *state.State {
	t.Helper()
	s := state.New()
	for i := range n {
		o, err := state.ObjectFrom(seal(t, cty.ObjectVal(map[string]cty.Value{"id": cty.NumberIntVal(int64(i))})))
		if err != nil {
			t.Fatal(err)
		}
		s.SetObject(addr.Object{Instance: instanceAt(t, fmt.Sprintf("module.m[0].t.n[%d]", i))}, o, random)
	}
	s.Outputs["o"] = &state.Output{Value: seal(t, cty.StringVal("x"))}
	return s
}

// fullChange has something in every field.
func fullChange(t testing.TB) *plan.Change {
	object := cty.ObjectVal(map[string]cty.Value{
		"id": cty.UnknownVal(cty.String).RefineNotNull(), "p": cty.StringVal("s3cret").Mark(value.Sensitive),
		"l": cty.ListVal([]cty.Value{cty.StringVal("<&>").Mark(value.Sensitive), cty.UnknownVal(cty.String)}), "d": cty.DynamicVal,
	})
	module := addr.RootInstance.Child("m", addr.StringKey("a.b\"$${é")).Child("n", addr.NoKey)
	res := addr.AbsResource{Module: module, Resource: addr.Resource{Mode: addr.Data, Type: "t", Name: "n"}}
	return &plan.Change{
		Addr: res.Instance(addr.IntKey(0)), Deposed: "deadbeef", PrevAddr: res.Instance(addr.StringKey("")), Provider: random,
		Action: plan.CreateThenDelete, Reason: plan.ReplaceCannotUpdate,
		RequiredReplace: []cty.Path{
			{},
			cty.GetAttrPath("a").IndexInt(2).GetAttr("b").IndexString("k"),
			cty.GetAttrPath("s").Index(cty.ObjectVal(map[string]cty.Value{"x": cty.True, "y": cty.NullVal(cty.String)})),
			cty.GetAttrPath("f").Index(cty.MustParseNumberVal("0.1")),
		},
		Before: seal(t, cty.NullVal(cty.DynamicPseudoType)), After: seal(t, object),
		PriorPrivate: []byte{0, 255}, PlannedPrivate: []byte("private"),
		PriorIdentity: seal(t, cty.StringVal("i")), PlannedIdentity: seal(t, cty.StringVal("j")), SchemaVersion: 7,
		Deps:                []plan.Dep{{Resource: res, All: true}, {Resource: res, All: true, Modules: true}, {Resource: res, All: true, Modules: true, Within: res.Module}, {Resource: res, Key: addr.StringKey("k")}, {Resource: addr.AbsResource{Resource: res.Resource}}},
		StateDeps:           []addr.ConfigResource{res.Config(), {Resource: addr.Resource{Type: "t", Name: "o"}}},
		CreateBeforeDestroy: true, KeepsReplaced: true, Importing: &plan.Importing{ID: "x", Identity: seal(t, cty.True)}, GeneratedConfig: "resource {\n}\n",
		Withheld: []plan.Withheld{{Path: cty.GetAttrPath("rule").IndexInt(1).GetAttr("password"), Status: plan.WithheldChanged}, {
			Path: cty.GetAttrPath("token"), Status: plan.WithheldUnknown, Computed: true, Consumers: []addr.Instance{res.Instance(addr.IntKey(3)), res.Instance(addr.StringKey("k"))},
			Missed: []addr.Instance{res.Instance(addr.IntKey(4))},
		}},
		Given: state.Hash{1, 31: 2},
	}
}

func fullInvocation(t testing.TB) *plan.Invocation {
	return &plan.Invocation{
		Action: instanceAt(t, `module.m["x"].action.t.n[1]`), Provider: addr.ProviderConfig{Provider: addr.DefaultProvider("random"), Alias: "b"},
		Trigger: &plan.ActionTrigger{Resource: instanceAt(t, "t.n[2]"), Event: plan.AfterUpdate, Block: 1, Position: 2, OnFailure: plan.TaintOnFailure},
		Config:  seal(t, cty.ObjectVal(map[string]cty.Value{"a": cty.UnknownVal(cty.String), "b": cty.StringVal("x").Mark(value.Sensitive)})), Ephemeral: []cty.Path{cty.GetAttrPath("c").IndexInt(0)},
		Undecided: true, Deps: fullChange(t).Deps,
	}
}

// fullDeferrals has a deferral with everything, and ones with unknown keys everywhere.
func fullDeferrals(t testing.TB) []*plan.Deferral {
	generic := addr.Instance{Module: addr.RootInstance.Child("m", addr.AnyKey), Resource: addr.Resource{Type: "t", Name: "n"}, Key: addr.AnyKey}
	return []*plan.Deferral{
		{Change: fullChange(t), Reason: plan.DeferredPrereq, WaitsFor: fullChange(t).Deps},
		{
			Change: &plan.Change{
				Addr: generic, PrevAddr: generic, Action: plan.Create, After: seal(t, cty.EmptyObjectVal), Deps: []plan.Dep{{Resource: generic.Abs(), Key: addr.AnyKey}},
				Provider: addr.ProviderConfig{Provider: addr.DefaultProvider("random"), Alias: "any", Key: addr.AnyKey},
			},
			Reason: plan.DeferredCountUnknown,
		},
	}
}

func fullFile(t testing.TB) *File {
	base, prior := testState(t, 1), testState(t, 2)
	base.Checks = []state.CheckResult{{Kind: "check", Config: "check.c", Status: state.CheckPass}}
	prior.Checks, prior.Outputs = base.Checks, base.Outputs
	p := &plan.Plan{
		Mode: plan.RefreshOnly, Changes: []*plan.Change{fullChange(t), {Addr: instanceAt(t, "t.n"), Action: plan.Forget}},
		Drift:       []*plan.Change{{Addr: instanceAt(t, "t.drift"), Action: plan.Delete, Before: seal(t, cty.True)}},
		Deferrals:   fullDeferrals(t),
		Outputs:     []*plan.OutputChange{{Name: "o", Action: plan.Update, Before: seal(t, cty.Zero), After: seal(t, cty.DynamicVal), Sensitive: true, Deps: fullChange(t).Deps}},
		Invocations: []*plan.Invocation{fullInvocation(t), {Action: instanceAt(t, "action.t.plain")}},
		Checks: []state.CheckResult{{
			Kind: "resource", Config: "t.n", Status: state.CheckFail,
			Objects: []state.CheckObject{{Addr: "t.n[0]", Status: state.CheckFail, Failures: []string{"no"}}},
		}},
		Base: base, Prior: prior, Adopted: state.Diff(base, prior), Scope: sampleScope(), Settling: sampleSettling(sampleScope()), Meta: state.Meta{Lineage: "l", Serial: 1<<64 - 2, Version: "1.12.6"},
		Variables: map[string]value.Durable{
			"v": seal(t, cty.StringVal("w").Mark(value.Sensitive)), "null": seal(t, cty.NullVal(cty.String)), "unset": {},
		},
		EphemeralVariables: []string{"password"}, SkipRefresh: true, LazyEphemeral: true, LeakPolicy: leak.Lenient, Errored: true, Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		Targets:      []addr.Target{targetAt(t, "module.a"), targetAt(t, `module.a["x"].t.n[1]`)},
		Excludes:     []addr.Target{targetAt(t, "data.t.n")},
		ForceReplace: []addr.Instance{instanceAt(t, "t.n[3]")},
		Reads:        &state.Reads{At: time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC), Instances: []addr.Instance{{Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: "a"}, Key: addr.IntKey(1)}}},
		Extent:       &plan.Extent{Full: "why", Objects: 4, Evaluated: 3, New: 1, Rows: 2, Collections: map[string]int{"t.a": 1, "module.m.t.b": 2}, Collected: 3, Unversioned: []string{"a/b/c"}},
	}
	return &File{
		Plan: p, Version: "0.1.0", RootDir: ".",
		Config:    map[string][]byte{"main.tf": []byte("# hello"), "../m/x.tf": {}, "/abs/y.tf": []byte("y"), "sub/z.tf.json": []byte("{}")},
		Modules:   []byte(`{"Modules":[]}`),
		Lock:      []byte("lock"),
		Backend:   Backend{Type: "local", Config: seal(t, cty.ObjectVal(map[string]cty.Value{"path": cty.StringVal("p")})), Workspace: "w"},
		Providers: map[addr.Provider]string{addr.DefaultProvider("random"): "h1:abc", addr.BuiltinProvider: ""},
		Schemas:   map[addr.Provider]Schemas{addr.DefaultProvider("random"): {6, []byte("types"), []byte("identities")}, addr.DefaultProvider("null"): {5, []byte{}, nil}},
	}
}

// options compare saved plans: values by their encoding, states by their files.
var options = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.EquateComparable(addr.Key{}, addr.Module{}, addr.ModuleInstance{}),
	cmp.Comparer(func(a, b value.Durable) bool {
		return a.IsZero() == b.IsZero() && (a.IsZero() || a.Type().Equals(b.Type())) && bytes.Equal(a.Packed(), b.Packed()) &&
			slices.EqualFunc(a.Sensitive(), b.Sensitive(), cty.Path.Equals)
	}),
	cmp.FilterValues(func(a, b cty.Path) bool { return len(a)+len(b) > 0 }, cmp.Comparer(cty.Path.Equals)),
	cmp.Comparer(func(a, b *state.State) bool { return a == b || a != nil && b != nil && a.Equal(b) }),
}

func write(t testing.TB, f *File) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, f); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func roundTrip(t testing.TB, f *File) *File {
	t.Helper()
	back, err := decodeBytes(write(t, f))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestRoundTripOfEverything(t *testing.T) {
	f := fullFile(t)
	src := write(t, f)
	back, err := decodeBytes(src)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, back, options); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(src, write(t, back)) || !bytes.Equal(src, write(t, fullFile(t))) {
		t.Error("the same plan gives other bytes")
	}
	live, err := back.Plan.Changes[0].After.Live()
	if err != nil || !live.GetAttr("p").HasMark(value.Sensitive) {
		t.Errorf("the value was read back as %v, %v", err, live.Type())
	}
}

func TestRoundTripOfLittle(t *testing.T) {
	f := &File{Plan: &plan.Plan{}, Version: "1"}
	if diff := cmp.Diff(f, roundTrip(t, f), options); diff != "" {
		t.Error(diff)
	}
	s := testState(t, 3)
	f.Plan.Base, f.Plan.Prior = s, s.Copy()
	back := roundTrip(t, f)
	if diff := cmp.Diff(f, back, options); diff != "" {
		t.Error(diff)
	}
	back.Plan.Prior.Outputs = nil
	if len(back.Plan.Base.Outputs) == 0 {
		t.Error("the states share their maps")
	}
	f.Lock, f.Modules = []byte{}, nil
	if back := roundTrip(t, f); back.Lock == nil || back.Modules != nil {
		t.Errorf("lock %v, modules %v", back.Lock, back.Modules)
	}
}

// TestEveryFieldIsKnown fails when the model gains a field, so that it is not forgotten here: fullFile must
// then set it, and the codec keep it.
func TestEveryFieldIsKnown(t *testing.T) {
	f := fullFile(t)
	for _, v := range []any{
		*f, *f.Plan, *f.Plan.Changes[0], *f.Plan.Outputs[0], *f.Plan.Invocations[0], *f.Plan.Invocations[0].Trigger, f.Plan.Checks[0], f.Plan.Checks[0].Objects[0],
		*f.Plan.Changes[0].Importing, f.Backend, f.Plan.Meta, *f.Plan.Extent, random,
	} {
		rv := reflect.ValueOf(v)
		for i := range rv.NumField() {
			if rv.Field(i).IsZero() {
				t.Errorf("%T: nothing is set in %s, so its round trip is not tested", v, rv.Type().Field(i).Name)
			}
		}
	}
	want := map[reflect.Type]int{reflect.TypeFor[plan.Dep](): 5, reflect.TypeFor[addr.Target](): 4, reflect.TypeFor[addr.Instance](): 3}
	for typ, n := range want {
		if typ.NumField() != n {
			t.Errorf("%s: got %d fields, want the %d that the codec knows", typ, typ.NumField(), n)
		}
	}
	for _, a := range actions {
		if actionsByName[a.String()] != a {
			t.Errorf("action %s: got %s by its name, want the same", a, actionsByName[a.String()])
		}
	}
}

// TestSaltsStayOut writes a plan of states that have a salt.
func TestSaltsStayOut(t *testing.T) {
	f := fullFile(t)
	salt := fingerprint.Salt{ID: "9e0c7f2a", Scheme: fingerprint.Scheme, Bytes: []byte("0123456789abcdef")}
	f.Plan.Base.AddSalts(salt)
	f.Plan.Prior.AddSalts(salt)
	got := roundTrip(t, f)
	if len(got.Plan.Base.Salts) > 0 || len(got.Plan.Prior.Salts) > 0 {
		t.Errorf("got the salts %v and %v, want none", got.Plan.Base.Salts, got.Plan.Prior.Salts)
	}
	if len(f.Plan.Base.Salts) != 1 || len(f.Plan.Prior.Salts) != 1 {
		t.Error("writing has removed the salts from the plan itself")
	}
}

// TestHoldsNothingElse looks for traces of the machine and for times of entries.
func TestHoldsNothingElse(t *testing.T) {
	f := fullFile(t)
	src := write(t, f)
	z, err := zip.NewReader(bytes.NewReader(src), int64(len(src)))
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(src)
	var names []string
	for _, e := range z.File {
		r, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
		names = append(names, e.Name)
		if !e.Modified.Equal(epoch) || e.Comment != "" || e.ExternalAttrs != 0 {
			t.Errorf("%s: got time %s, comment %q, attributes %x, want %s and none", e.Name, e.Modified, e.Comment, e.ExternalAttrs, epoch)
		}
	}
	want := []string{
		"mayfly", "changes.jsonl", "drift.jsonl", "deferred.jsonl", "outside/0", "outside/1", "config/main.tf", "config/sub/z.tf.json", "schemas/0", "schemas/1",
		"state.json", "adopted.jsonl", "scope.json", "modules.json", "lock.hcl", "plan.json",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	host, _ := os.Hostname()
	dir, _ := os.Getwd()
	for _, trace := range []string{host, dir, os.TempDir(), filepath.Base(os.Args[0])} {
		if len(trace) > 4 && bytes.Contains(all, []byte(trace)) {
			t.Errorf("the file holds %q", trace)
		}
	}
	if !bytes.Contains(all, []byte("password")) {
		t.Error("the name of the ephemeral variable is not in the file")
	}
}

func TestE6EphemeralValuesHaveNoForm(t *testing.T) {
	_, err := value.Seal(cty.StringVal("s3cret").Mark(value.Ephemeral), cty.String, nil)
	if !errors.Is(err, value.ErrSecret) {
		t.Fatal(err)
	}
	f := &File{Plan: &plan.Plan{EphemeralVariables: []string{"a", "b"}}, Version: "1"}
	back := roundTrip(t, f)
	if diff := cmp.Diff([]string{"a", "b"}, back.Plan.EphemeralVariables); diff != "" || len(back.Plan.Variables) > 0 {
		t.Error(diff)
	}
}

func TestPathsThatHaveNoForm(t *testing.T) {
	for name, k := range map[string]cty.Value{
		"unknown": cty.ObjectVal(map[string]cty.Value{"x": cty.UnknownVal(cty.String)}), "marked": cty.StringVal("x").Mark(value.Sensitive),
		"none": cty.NilVal, "infinite": cty.NumberVal(new(big.Float).SetInf(true)),
	} {
		c := &plan.Change{Addr: instanceAt(t, "t.n"), RequiredReplace: []cty.Path{cty.GetAttrPath("s").Index(k).GetAttr("x")}}
		back := roundTrip(t, &File{Plan: &plan.Plan{Changes: []*plan.Change{c}}, Version: "1"})
		if diff := cmp.Diff([]cty.Path{cty.GetAttrPath("s")}, back.Plan.Changes[0].RequiredReplace, options); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSizeIsLinear(t *testing.T) {
	attrs := map[string]cty.Value{}
	for i := range 200 {
		attrs[fmt.Sprintf("attribute_%d", i)] = cty.NullVal(cty.String)
	}
	d := seal(t, cty.ObjectVal(attrs))
	size := func(n int) (total uint64) {
		p := &plan.Plan{}
		for i := range n {
			p.Changes = append(p.Changes, &plan.Change{Addr: instanceAt(t, fmt.Sprintf("t.n[%d]", i)), Before: d, After: d})
		}
		src := write(t, &File{Plan: p, Version: "1"})
		z, err := zip.NewReader(bytes.NewReader(src), int64(len(src)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range z.File {
			if e.Name == entryPlan {
				total += e.UncompressedSize64
			}
		}
		return total
	}
	if one, many := size(1), size(100); many > one+10 {
		t.Errorf("the tables of one change take %d bytes, those of 100 like it %d", one, many)
	}
}

func TestWriteRefuses(t *testing.T) {
	capsule := value.Restore(cty.Capsule("c", reflect.TypeFor[int]()), []byte{0xc0}, nil)
	at := addr.Instance{Resource: addr.Resource{Type: "t", Name: "n"}}
	for name, f := range map[string]*File{
		"no plan":    {Version: "1"},
		"no version": {Plan: &plan.Plan{}},
		"mode":       {Version: "1", Plan: &plan.Plan{Mode: 9}},
		"action":     {Version: "1", Plan: &plan.Plan{Changes: []*plan.Change{{Addr: at, Action: 99}}}},
		"output":     {Version: "1", Plan: &plan.Plan{Outputs: []*plan.OutputChange{{Name: "o", Action: 99}}}},
		"capsule":    {Version: "1", Plan: &plan.Plan{Changes: []*plan.Change{{Addr: at, After: capsule}}}},
		"no type":    {Version: "1", Plan: &plan.Plan{Changes: []*plan.Change{{Addr: at, After: value.Restore(cty.NilType, []byte{0xc0}, nil)}}}},
		"key":        {Version: "1", Plan: &plan.Plan{ForceReplace: []addr.Instance{{Resource: at.Resource, Key: addr.StringKey("\xff")}}}},
		"path":       {Version: "1", Plan: &plan.Plan{}, Config: map[string][]byte{"\xff": nil}},
	} {
		if err := Write(io.Discard, f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := Write(brokenWriter{}, fullFile(t)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("writing to a broken writer: %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// sampleScope returns a scope with a part of every kind.
func sampleScope() *state.Scope {
	out := &state.Scope{Claims: state.Claims{{Kind: state.WholeState}: state.Intent}, Relied: map[state.Subject]state.RowSet{}}
	for i, kind := range []state.SubjectKind{state.OneInstance, state.AllInstances, state.AllWithin, state.Dependents, state.OneOutput, state.OneCheck} {
		s := state.Subject{Kind: kind, Addr: "a"}
		out.Claims[s] = state.Shared
		out.Relied[s] = state.RowSet{{Address: "a"}: {byte(i)}, {Address: "a", Deposed: "00000001"}: {}, state.LateResult("a", "run", 1): {1}, state.FreedOperation("a", "run", 1): {1}}
	}
	within := state.Subject{Kind: state.AllWithin, Addr: "a", Within: "module.a"}
	out.Claims[within], out.Relied[within] = state.Exclusive, state.RowSet{}
	out.Moved, out.Imported, out.Left = map[string]string{"t.a": "t.b"}, []string{"t.c"}, []string{`t.d["e"]`}
	block := state.Block{Module: addr.RootModule.Child("m").Child("n"), Name: "check.c"}
	out.Results = map[state.Subject][]state.Finding{
		{Kind: state.OneCheck, Addr: block.String()}: {
			{Unit: state.Unit{Kind: state.CheckUnit, Addr: "module.m[0].module.n.check.c"}, Block: block, Reads: []state.Subject{within}},
			{Unit: state.Unit{Kind: state.CheckUnit, Addr: "module.m[1].module.n.check.c"}, Block: block},
		},
		{Kind: state.OneCheck, Addr: "t.a"}: nil,
		{Kind: state.OneOutput, Addr: "o"}:  {{Unit: state.Unit{Kind: state.OutputUnit, Addr: "o"}, Block: state.Block{Name: "output.o"}}},
	}
	out.Optional = []state.Claims{{{Kind: state.OneInstance, Addr: "t.b"}: state.Exclusive, {Kind: state.AllInstances, Addr: "t.b"}: state.Intent}}
	out.Hashes = state.BlockHashes{
		{Blocks: []state.BlockHash{{Name: "data.t.a", Hash: state.Hash{1, 31: 2}, Always: true}, {Name: "resource.t.b"}}},
		{Module: addr.RootModule.Child("m").Child("n"), Blocks: []state.BlockHash{{Name: "check.c", Hash: state.Hash{3}}}},
	}
	return out
}

// sampleSettling returns the units that the apply of a plan with a scope may settle.
func sampleSettling(of *state.Scope) *plan.Settling {
	a := state.Subject{Kind: state.OneInstance, Addr: "t.a"}
	return &plan.Settling{
		Hashes: of.Hashes, Moment: 7, Full: true, Relied: map[state.Subject]state.RowSet{a: {{Address: "t.a"}: {9}}},
		Units: []state.Finding{
			{Unit: state.Unit{Kind: state.RepetitionUnit, Addr: "t.b"}, Block: state.Block{Name: "repetition.resource.t.b"}, Reads: []state.Subject{a}},
			{Unit: state.Unit{Kind: state.ValuesUnit, Addr: `module.m["x.y"]`}, Block: state.ParseBlock(`module.m["x.y"]`), Gone: true},
		},
	}
}
