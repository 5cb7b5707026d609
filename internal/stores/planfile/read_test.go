package planfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// zipOf makes a zip file of pairs of name and content.
func zipOf(t testing.TB, entries ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, entries[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// decodeBytes is ReadBytes for any content: consistency is not checked by the codec.
func decodeBytes(src []byte) (*File, error) { return decode(bytes.NewReader(src), int64(len(src))) }

// TestOldestFormat reads a plan of a format before extents.
func TestOldestFormat(t *testing.T) {
	f, err := decodeBytes(zipOf(t, "mayfly", `{"format":6,"version":"1"}`, "state.json", `{"version":4,"terraform_version":"1.0.0","serial":1,"lineage":"l","resources":[]}`,
		"plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{"lineage":"l","serial":1,"version":"1.0.0"}}`))
	if err != nil || f.Plan.Extent != nil || f.Plan.Meta.Serial != 1 {
		t.Errorf("got %+v and the error %v, want the plan", f, err)
	}
}

func TestReadRefuses(t *testing.T) {
	head := `{"format":7,"version":"1"}`
	doc := func(member string) []byte {
		return zipOf(t, "mayfly", head, "plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{},`+member+`}`)
	}
	changed := func(line string) []byte {
		return zipOf(t, "mayfly", head, "changes.jsonl", line, "plan.json",
			`{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{},"changes":1,"resources":[{"mode":"resource"}],"provider_configs":[{}],"types":["bool"]}`)
	}
	adopted := func(lines string) []byte {
		return zipOf(t, "mayfly", head, "state.json", `{"version":4,"terraform_version":"1.0.0","serial":1,"lineage":"l","resources":[]}`, "adopted.jsonl", lines, "plan.json",
			`{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{"lineage":"l","serial":1,"version":"1.0.0"},"adopted":1}`)
	}
	deferred := func(line string) []byte {
		return zipOf(t, "mayfly", head, "deferred.jsonl", line, "plan.json",
			`{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{},"deferred":1,"resources":[{"mode":"resource"}],"provider_configs":[{}]}`)
	}
	good := write(t, fullFile(t))
	flipped := slices.Clone(good)
	flipped[bytes.Index(good, []byte("PK\x01\x02"))-40] ^= 1 // in the last entry, before the directory
	tests := map[string]struct {
		src  []byte
		kind error
		text string
	}{
		"empty":          {nil, ErrNotPlan, "not a zip file"},
		"text":           {[]byte("resource {}"), ErrNotPlan, "not a zip file"},
		"short":          {[]byte("PK"), ErrNotPlan, "not a zip file"},
		"cut off":        {good[:len(good)-30], ErrCorrupt, "cut off"},
		"cut in half":    {good[:len(good)/2], ErrCorrupt, "cut off"},
		"peer":           {zipOf(t, "tfplan", "x", "tfstate", "{}"), ErrForeign, "OpenTofu or Terraform"},
		"other zip":      {zipOf(t, "readme", "x"), ErrNotPlan, "other content"},
		"newer":          {zipOf(t, "mayfly", `{"format":8,"version":"9.9","x":1}`), ErrVersion, `"9.9", in format 8`},
		"older":          {zipOf(t, "mayfly", `{"format":4,"version":"0.1"}`), ErrVersion, `"0.1", in format 4, and this program reads only formats 6 to 7`},
		"bad header":     {zipOf(t, "mayfly", `[]`), ErrCorrupt, "mayfly"},
		"no plan":        {zipOf(t, "mayfly", head), ErrCorrupt, `"plan.json" is missing`},
		"not JSON":       {zipOf(t, "mayfly", head, "plan.json", `{"s3cret`), ErrCorrupt, "incomplete"},
		"two documents":  {zipOf(t, "mayfly", head, "plan.json", `{"timestamp":"2026-01-01T00:00:00Z"} 1`), ErrCorrupt, "more than one"},
		"entry twice":    {zipOf(t, "mayfly", head, "mayfly", head), ErrCorrupt, "twice"},
		"schemas":        {doc(`"provider_schemas":[{"provider":"a/b","protocol":6,"entry":"x"}]`), ErrCorrupt, "no entry of their own"},
		"no schemas":     {doc(`"provider_schemas":[{"provider":"a/b","protocol":6,"entry":"schemas/0"}]`), ErrCorrupt, `"schemas/0" is missing`},
		"schemas of":     {doc(`"provider_schemas":[{"provider":"a/b/c/d","protocol":6,"entry":"schemas/0"}]`), ErrCorrupt, "is not valid"},
		"extra entry":    {zipOf(t, "mayfly", head, "plan.json", `{"mode":"normal","state":{}}`, "x", ""), ErrCorrupt, `nothing in it refers to its entry "x"`},
		"flipped":        {flipped, ErrCorrupt, ""},
		"unknown member": {doc(`"s3cret":1`), ErrCorrupt, "does not know"},
		"wrong type":     {doc(`"drift":"s3cret"`), ErrCorrupt, `"drift" has the wrong type`},
		"mode":           {doc(`"mode":"x"`), ErrCorrupt, "unknown mode"},
		"no changes":     {doc(`"changes":1`), ErrCorrupt, `"changes.jsonl" is missing`},
		"missing index":  {doc(`"force_replace":[{"resource":0}]`), ErrCorrupt, "a resource that is not in it"},
		"negative index": {doc(`"targets":[{"module":-1}]`), ErrCorrupt, "a module that is not in it"},
		"parent":         {doc(`"modules":[{"parent":1}]`), ErrCorrupt, "a module that is not in it"},
		"bad type":       {doc(`"types":["nosuch"]`), ErrCorrupt, "type 0"},
		"provider":       {doc(`"provider_packages":{"a/b/c/d":"h"}`), ErrCorrupt, "provider address"},
		"provider row":   {doc(`"provider_configs":[{"module":0,"provider":"/"}]`), ErrCorrupt, "provider address"},
		"no meta":        {zipOf(t, "mayfly", head, "plan.json", `{"mode":"normal"}`), ErrCorrupt, "which state it starts from"},
		"null meta":      {zipOf(t, "mayfly", head, "plan.json", `{"mode":"normal","state":null}`), ErrCorrupt, "which state it starts from"},
		"adopted":        {zipOf(t, "mayfly", head, "adopted.jsonl", "{}", "plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{},"adopted":1}`), ErrCorrupt, "adopted.jsonl"},
		"claim mode":     {zipOf(t, "mayfly", head, "scope.json", `{"claims":[{"kind":"instance","address":"t.a","mode":"y"}],"relied":[]}`, "plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{}}`), ErrCorrupt, "unknown mode"},
		"row version":    {zipOf(t, "mayfly", head, "scope.json", `{"claims":[],"relied":[{"kind":"instance","address":"t.a","rows":[{"address":"t.a","version":"00"}]}]}`, "plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{}}`), ErrCorrupt, "version that is not valid"},
		"block hash":     {zipOf(t, "mayfly", head, "scope.json", `{"claims":[],"relied":[],"hashes":[{"blocks":[{"name":"t.a","hash":"00"}]}]}`, "plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{}}`), ErrCorrupt, "hash that is not valid"},
		"hashed module":  {zipOf(t, "mayfly", head, "scope.json", `{"claims":[],"relied":[],"hashes":[{"module":"x","blocks":[]}]}`, "plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{}}`), ErrCorrupt, "address of a module"},
		"settled rows":   {zipOf(t, "mayfly", head, "scope.json", `{"claims":[],"relied":[],"settling":{"moment":1,"units":[],"relied":[{"kind":"instance","address":"t.a","rows":[{"address":"t.a","version":"zz00000000000000000000000000000x"}]}]}}`, "plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{}}`), ErrCorrupt, "version that is not valid"},
		"optional claim": {zipOf(t, "mayfly", head, "scope.json", `{"claims":[],"optional":[[]],"relied":[]}`, "plan.json", `{"mode":"normal","timestamp":"2026-01-01T00:00:00Z","state":{}}`), ErrCorrupt, "claim on no instance"},
		"few adopted":    {adopted(``), ErrCorrupt, `records 1 changes for its entry "adopted.jsonl"`},
		"no adopted":     {adopted(`{"mode":"managed","type":"s3cret"}`), ErrCorrupt, "an object that is not valid"},
		"list adopted":   {adopted(`["s3cret"]`), ErrCorrupt, "an object that is not valid"},
		"torn adopted":   {adopted(`{"mode":"managed`), ErrCorrupt, "incomplete or not valid"},
		"config":         {doc(`"config":[{"path":"x","entry":"mayfly"}]`), ErrCorrupt, "no entry of its own"},
		"config missing": {doc(`"config":[{"path":"x","entry":"config/x"}]`), ErrCorrupt, "missing"},
		"config null":    {doc(`"variables":{"v":{"t":0,"v":""}}`), ErrCorrupt, "without content"},
		"key":            {doc(`"force_replace":[{"resource":0,"key":-1}]`), ErrCorrupt, "cannot be read"},
		"action":         {changed(`{"action":"s"}`), ErrCorrupt, "unknown action"},
		"null change":    {changed(`null`), ErrCorrupt, "unknown action"},
		"any key":        {changed(`{"action":"no-op","addr":{"key":true}}`), ErrCorrupt, "a key that is not known"},
		"any module":     {doc(`"modules":[{"call":"m","key":true}],"targets":[{"module":1}]`), ErrCorrupt, "a key that is not known"},
		"any dependency": {changed(`{"action":"no-op","deps":[{"resource":0,"key":true}]}`), ErrCorrupt, "a key that is not known"},
		"any provider":   {doc(`"resources":[{"mode":"action","type":"t","name":"n"}],"provider_configs":[{"key":true}],"action_invocations":[{}]`), ErrCorrupt, "a key that is not known"},
		"reason":         {deferred(`{"change":{"action":"create"},"reason":"s3cret"}`), ErrCorrupt, "a reason that is not valid"},
		"no change":      {deferred(`{"reason":"deferred_prereq"}`), ErrCorrupt, "has no change"},
		"few deferred":   {deferred(``), ErrCorrupt, `records 1 changes for its entry "deferred.jsonl"`},
		"torn deferred":  {deferred(`{"reason":`), ErrCorrupt, "incomplete or not valid"},
		"too few":        {changed(``), ErrCorrupt, "records 1"},
		"too many":       {changed(`{"action":"no-op"}{"action":"no-op"}`), ErrCorrupt, "records 1"},
		"block":          {changed(`{"action":"no-op","state_deps":[0]}`), ErrCorrupt, "a resource block that is not in it"},
		"step":           {changed(`{"action":"no-op","required_replace":[[{}]]}`), ErrCorrupt, "step that is not valid"},
		"huge index":     {changed(`{"action":"no-op","required_replace":[[{"index":"1e999999"}]]}`), ErrCorrupt, "step that is not valid"},
		"element":        {changed(`{"action":"no-op","required_replace":[[{"element":{"t":0,"v":"s3cret"}}]]}`), ErrCorrupt, "step that is not valid"},
		"value":          {changed(`{"action":"no-op","after":{"t":1,"v":"wA=="}}`), ErrCorrupt, "a type that is not in it"},
		"state":          {zipOf(t, "mayfly", head, "state.json", `{"s3cret`, "plan.json", `{"mode":"normal","state":{}}`), ErrCorrupt, `"state.json" is not a state`},
		"empty state":    {zipOf(t, "mayfly", head, "state.json", ``, "plan.json", `{"mode":"normal","state":{}}`), ErrCorrupt, `"state.json" is empty`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := decodeBytes(test.src)
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.text) {
				t.Fatalf("error %v, want %v with %q", err, test.kind, test.text)
			}
			if name != "unknown member" && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v, want an error that does not quote the content", err)
			}
		})
	}
}

// TestReadRefusesIncomplete reads plans whose parts are well-formed but don't belong together, as one made by
// hand may.
func TestReadRefusesIncomplete(t *testing.T) {
	object := seal(t, cty.EmptyObjectVal)
	for name, test := range map[string]struct {
		edit func(*File)
		want string
	}{
		"complete":          {func(*File) {}, ""},
		"no base":           {func(f *File) { f.Plan.Base, f.Plan.Adopted = nil, nil }, "lacks a state"},
		"no lineage":        {func(f *File) { f.Plan.Meta.Lineage = "" }, "does not say which one"},
		"no type":           {func(f *File) { f.Plan.Changes[0].Addr.Resource.Type = "" }, "not a resource"},
		"ephemeral":         {func(f *File) { f.Plan.Changes[0].Addr.Resource.Mode = addr.Ephemeral }, "not a resource"},
		"no provider":       {func(f *File) { f.Plan.Changes[0].Provider = addr.ProviderConfig{} }, "t.n names no provider"},
		"drift, no type":    {func(f *File) { f.Plan.Drift[0].Addr.Resource.Type = "" }, "not a resource"},
		"nothing planned":   {func(f *File) { f.Plan.Changes[0].After = value.Durable{} }, "lacks the planned object"},
		"null planned":      {func(f *File) { f.Plan.Changes[0].After = seal(t, cty.NullVal(cty.EmptyObject)) }, "lacks the planned object"},
		"a text planned":    {func(f *File) { f.Plan.Changes[0].After = seal(t, cty.StringVal("x")) }, "lacks the planned object"},
		"nothing before":    {func(f *File) { f.Plan.Changes[0].Before = value.Durable{} }, "lacks the object before"},
		"nothing to delete": {func(f *File) { f.Plan.Drift[0].Before = value.Durable{} }, "lacks the object before"},
		"errored": {func(f *File) {
			f.Plan.Errored, f.Plan.Changes[0].After = true, value.Durable{}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := fullFile(t)
			f.Plan.Errored = false
			own := addr.ProviderConfig{Provider: addr.BuiltinProvider}
			f.Plan.Changes = []*plan.Change{{Addr: instanceAt(t, "t.n"), Provider: own, Action: plan.Update, Before: object, After: object}}
			f.Plan.Drift = []*plan.Change{{Addr: instanceAt(t, "t.n"), Provider: own, Action: plan.Delete, Before: object}}
			test.edit(f)
			_, err := ReadBytes(write(t, f))
			if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q (none if empty)", err, test.want)
			}
		})
	}
}

// TestDamageIsFound flips each byte of a file in turn: it must not be read as anything but the same plan.
func TestDamageIsFound(t *testing.T) {
	f := &File{
		Plan: &plan.Plan{Changes: []*plan.Change{{Addr: instanceAt(t, "t.n"), After: seal(t, cty.True)}}}, Version: "1",
		Config: map[string][]byte{"main.tf": []byte("x")},
	}
	good := write(t, f)
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x10
		if back, err := decodeBytes(bad); err == nil {
			if diff := cmp.Diff(f, back, options); diff != "" {
				t.Fatalf("byte %d: %s", i, diff)
			}
		}
		if _, err := decodeBytes(good[:i]); err == nil {
			t.Fatalf("the first %d bytes are read as a plan", i)
		}
	}
}

func TestBombs(t *testing.T) {
	src := zipOf(t, "mayfly", "{}")
	at := bytes.LastIndex(src, []byte("PK\x01\x02"))
	for name, size := range map[string][4]byte{"too large": {0xfe, 0xff, 0xff, 0xff}, "lies": {1, 0, 0, 0}} {
		bad := slices.Clone(src)
		copy(bad[at+24:], size[:])
		_, err := decodeBytes(bad)
		if want := map[string]error{"too large": ErrTooBig, "lies": ErrCorrupt}[name]; !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReaderErrorsAreKept(t *testing.T) {
	if _, err := read(brokenReader{}, 100); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

type brokenReader struct{}

func (brokenReader) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

func TestIs(t *testing.T) {
	for name, test := range map[string]struct {
		content []byte
		want    bool
	}{"plan": {write(t, fullFile(t)), true}, "peer": {zipOf(t, "tfplan", ""), true}, "state": {[]byte("{}"), false}, "empty": {nil, false}} {
		if got := Is(test.content); got != test.want {
			t.Errorf("Is(%s): got %t, want %t", name, got, test.want)
		}
	}
}
