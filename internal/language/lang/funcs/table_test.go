package funcs

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

// documented lists every function of the language, in the words of its documentation.
const documented = `abs abspath alltrue anytrue
assumeequal assumelistlength assumelistlengthmax assumelistlengthmin assumemaplength assumemaplengthmax assumemaplengthmin assumenotnull
assumesetlength assumesetlengthmax assumesetlengthmin assumestringprefix base64decode base64encode base64gunzip base64gzip base64sha256 base64sha512 basename bcrypt
can ceil chomp chunklist cidrcontains cidrhost cidrnetmask cidrsubnet cidrsubnets coalesce coalescelist compact concat contains convert csvdecode
dirname distinct element endswith ephemeralasnull file filebase64 filebase64sha256 filebase64sha512 fileexists filemd5 fileset filesha1
filesha256 filesha512 fingerprint flatten floor format formatdate formatlist indent index issensitive join jsondecode jsonencode keys length list log
lookup lower map matchkeys max md5 merge min nonsensitive one parseint pathexpand plantimestamp pow range regex regexall replace reverse
rsadecrypt sensitive setintersection setproduct setsubtract setunion sha1 sha256 sha512 signum slice sort split startswith strcontains
strrev substr sum templatefile templatestring textdecodebase64 textencodebase64 timeadd timecmp timestamp title tobool tolist tomap
tonumber toset tostring transpose trim trimprefix trimspace trimsuffix try type upper urldecode urlencode uuid uuidv5 values yamldecode
yamlencode zipmap`

func TestEveryDocumentedFunctionUnderBothNames(t *testing.T) {
	var want []string
	for _, name := range strings.Fields(documented) {
		want = append(want, name, CorePrefix+name)
	}
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(Table(Options{Console: true})))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
}

func TestTypeIsForTheConsole(t *testing.T) {
	if _, ok := Table(Options{})["type"]; ok {
		t.Error("the function type exists outside the console")
	}
}

func TestDescriptionsAreComplete(t *testing.T) {
	got := Descriptions()
	if diff := cmp.Diff(strings.Fields(documented), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("descriptions (-want +got):\n%s", diff)
	}
	table := Table(Options{Console: true})
	for name, text := range got {
		if len(text) < 20 || !strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
			t.Errorf("%s: %q is not one sentence", name, text)
		}
		if table[name].Description() != text {
			t.Errorf("%s describes itself as: got %q, want %q", name, table[name].Description(), text)
		}
	}
}

func TestSignatures(t *testing.T) {
	table := Table(Options{})
	tests := []struct {
		name     string
		params   []string
		nullable string // the nullable parameters
		variadic string
		result   cty.Type
	}{
		{name: "md5", params: []string{"str"}, result: cty.String},
		{name: "lookup", params: []string{"inputMap", "key"}, nullable: "default", variadic: "default", result: cty.DynamicPseudoType},
		{name: "tolist", params: []string{"v"}, nullable: "v", result: cty.List(cty.DynamicPseudoType)},
		{name: "sum", params: []string{"list"}, result: cty.DynamicPseudoType},
		{name: "bcrypt", params: []string{"str"}, variadic: "cost", result: cty.String},
		{name: "templatefile", params: []string{"path", "vars"}, result: cty.DynamicPseudoType},
		{name: "fileset", params: []string{"path", "pattern"}, result: cty.Set(cty.String)},
	}
	for _, test := range tests {
		f := table[test.name]
		var params, nullable []string
		var types []cty.Type
		for _, p := range f.Params() {
			params = append(params, p.Name)
			types = append(types, p.Type)
			if p.AllowNull {
				nullable = append(nullable, p.Name)
			}
		}
		variadic := ""
		if v := f.VarParam(); v != nil {
			variadic = v.Name
			if v.AllowNull {
				nullable = append(nullable, v.Name)
			}
		}
		result, err := f.ReturnType(types)
		if err != nil || !result.Equals(test.result) {
			t.Errorf("%s returns %#v, %v; want %#v", test.name, result, err, test.result)
		}
		if !slices.Equal(params, test.params) || variadic != test.variadic || strings.Join(nullable, " ") != test.nullable {
			t.Errorf("%s: got the parameters %q, variadic %q, nullable %q, want %q, %q, %q", test.name, params, variadic, nullable, test.params, test.variadic, test.nullable)
		}
	}
}

func TestImpureFunctions(t *testing.T) {
	unknown := cty.UnknownVal(cty.String)
	runExprs(t, Options{PureOnly: true}, []exprTest{
		{expr: `timestamp()`, want: unknown},
		{expr: `uuid()`, want: unknown},
		{expr: `bcrypt("x")`, want: unknown},
		{expr: `bcrypt(e)`, want: eph(unknown)},
		{expr: `core::uuid()`, want: unknown},
		{expr: `plantimestamp()`, want: unknown},
		{expr: `uuidv5("dns", "tada")`, want: str("faa898db-9b9d-5b75-86a9-149e7bb8e3b8")},
	})
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	runExprs(t, Options{PureOnly: true, PlanTimestamp: at}, []exprTest{{expr: `plantimestamp()`, want: str("2026-01-02T02:04:05Z")}})

	table := Table(Options{})
	for _, name := range []string{"timestamp", "uuid"} {
		v, err := table[name].Call(nil)
		if err != nil || !v.IsWhollyKnown() || v.AsString() == "" {
			t.Errorf("%s() = %#v, %v", name, v, err)
		}
	}
}

// TestTableIsShared uses one table from many goroutines, templates included.
func TestTableIsShared(t *testing.T) {
	table := Table(Options{})
	vars := cty.ObjectVal(map[string]cty.Value{"n": str("x")})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				v, err := table["templatestring"].Call([]cty.Value{str(`${upper(n)}-${templatestring("y", {})}`), vars})
				if err != nil || !v.RawEquals(str("X-y")) {
					t.Errorf("got %#v, %v, want \"X-y\"", v, err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		Table(Options{BaseDir: "x"})
	}
}
