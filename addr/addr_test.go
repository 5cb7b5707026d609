package addr

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

var (
	drawName = rapid.StringMatching(`[a-z_][a-z0-9_-]{0,5}`).Filter(func(s string) bool {
		return !slices.Contains([]string{"module", "data", "ephemeral", "resource", "provider", "null", "true", "false", "for", "if", "in"}, s)
	})
	drawText = rapid.OneOf(
		rapid.Map(rapid.String(), norm.NFC.String),
		rapid.Map(rapid.StringOf(rapid.SampledFrom([]rune("a$%{}\"\\\n\r\t\x00[].é€😀\u200b\ufeff\u0085"))), norm.NFC.String),
	)
	drawAnyKey = rapid.Custom(func(t *rapid.T) Key {
		switch rapid.IntRange(0, 2).Draw(t, "kind of key") {
		case 0:
			return NoKey
		case 1:
			return IntKey(rapid.OneOf(rapid.IntRange(0, 12), rapid.IntMin(0)).Draw(t, "index"))
		default:
			return StringKey(drawText.Draw(t, "key"))
		}
	})
	drawModule = rapid.Custom(func(t *rapid.T) ModuleInstance {
		m := RootInstance
		for range rapid.IntRange(0, 3).Draw(t, "depth") {
			m = m.Child(drawName.Draw(t, "call"), drawAnyKey.Draw(t, "module key"))
		}
		return m
	})
	drawInstance = rapid.Custom(func(t *rapid.T) Instance {
		return Instance{
			Module:   drawModule.Draw(t, "module"),
			Resource: Resource{Mode(rapid.IntRange(0, 2).Draw(t, "mode")), drawName.Draw(t, "type"), drawName.Draw(t, "name")},
			Key:      drawAnyKey.Draw(t, "key"),
		}
	})
)

func TestInstanceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawInstance.Draw(t, "instance")
		got, err := ParseInstance(want.String())
		if err != nil || got != want {
			t.Fatalf("ParseInstance(%s): got %s, %v, want the same instance", want, got, err)
		}
		target, err := ParseTarget(want.String())
		if err != nil || target.String() != want.String() || !target.Selects(want) {
			t.Fatalf("ParseTarget: got %s, %v, want %s, which selects the instance", target, err, want)
		}
	})
}

func TestModuleInstanceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawModule.Draw(t, "module")
		got, err := ParseModuleInstance(want.String())
		if err != nil || got != want {
			t.Fatalf("ParseModuleInstance(%s): got %s, %v, want the same instance", want, got, err)
		}
		if path := want.Path(); len(path) > 0 && path[len(path)-1] != want || len(path) != len(want.Module().Calls()) {
			t.Fatalf("path of %s: got %v, want %d instances that end with it", want, path, len(want.Module().Calls()))
		}
		parent, call, key := want.Parent()
		if !want.IsRoot() && parent.Child(call, key) != want {
			t.Fatalf("child of the parent: got %s, want %s", parent.Child(call, key), want)
		}
		if !parent.Contains(want) || !RootInstance.Contains(want) || !want.IsRoot() && want.Contains(parent) {
			t.Fatalf("what contains %s is wrong", want)
		}
	})
}

func TestProviderConfigRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := ProviderConfig{
			Module:   drawModule.Draw(t, "module"),
			Provider: rapid.SampledFrom([]Provider{DefaultProvider("random"), BuiltinProvider, mustProvider(t, "example.com:8080/ns/x-y"), mustProvider(t, "ns/x")}).Draw(t, "provider"),
		}
		if rapid.Bool().Draw(t, "aliased") {
			want.Alias, want.Key = drawName.Draw(t, "alias"), drawAnyKey.Draw(t, "key")
		}
		got, err := ParseProviderConfig(want.String())
		if err != nil || got != want {
			t.Fatalf("ParseProviderConfig(%s): got %s, %v, want the same configuration", want, got, err)
		}
	})
}

func mustProvider(t interface{ Fatal(...any) }, s string) Provider {
	p, err := ParseProvider(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCompareIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(drawInstance, 2, 6).Draw(t, "instances")
		slices.SortFunc(all, Instance.Compare)
		for i, a := range all {
			for j, b := range all {
				c := a.Compare(b)
				if (c == 0) != (a == b) || i < j && c > 0 || (c > 0) != (b.Compare(a) < 0) {
					t.Fatalf("Compare(%s, %s): got %d, and %d the other way round, want opposite signs that agree with the order", a, b, c, b.Compare(a))
				}
			}
		}
	})
}

func TestModuleInstancesInOrder(t *testing.T) {
	a := RootInstance.Child("a", IntKey(2))
	order := []ModuleInstance{
		RootInstance, a, a.Child("x", NoKey), a.Child("x", StringKey("k")), a.Child("y", NoKey),
		RootInstance.Child("a", IntKey(10)), RootInstance.Child("b", NoKey), RootInstance.Child("b", NoKey).Child("a", IntKey(0)),
	}
	if !slices.IsSortedFunc(order, ModuleInstance.Compare) {
		t.Error("module instances are out of order")
	}
	if n := testing.AllocsPerRun(10, func() { _ = slices.IsSortedFunc(order, ModuleInstance.Compare) }); n != 0 {
		t.Errorf("comparing allocates %v times, want 0", n)
	}
}

func TestKeys(t *testing.T) {
	tests := []struct {
		key  Key
		text string
	}{
		{NoKey, ``},
		{IntKey(0), `[0]`},
		{IntKey(12), `[12]`},
		{StringKey(""), `[""]`},
		{StringKey("0"), `["0"]`},
		{StringKey(`a"b\c`), `["a\"b\\c"]`},
		{StringKey("${x} $x %{y} %y $"), `["$${x} $x %%{y} %y $"]`},
		{StringKey("$${x}"), `["$$${x}"]`},
		{StringKey("a\nb\tc\rd"), `["a\nb\tc\rd"]`},
		{StringKey("é😀"), `["é😀"]`},
		{StringKey("\x00\u200b\U000e0001"), `["\u0000\u200b\U000e0001"]`},
	}
	for _, test := range tests {
		if got := test.key.String(); got != test.text {
			t.Errorf("%s: got %s, want %s", test.text, got, test.text)
		}
		if i, err := ParseInstance("t.n" + test.text); err != nil || i.Key != test.key {
			t.Errorf("ParseInstance(t.n%s): got the key %s, %v, want %s", test.text, i.Key, err, test.key)
		}
	}
	order := []Key{NoKey, IntKey(0), IntKey(2), IntKey(10), StringKey("10"), StringKey("2")}
	if !slices.IsSortedFunc(order, Key.Compare) {
		t.Error("keys are out of order")
	}
}

func TestKeyFromValue(t *testing.T) {
	tests := []struct {
		v    cty.Value
		want Key
		bad  bool
	}{
		{cty.StringVal("a").Mark("m"), StringKey("a"), false},
		{cty.NumberIntVal(3), IntKey(3), false},
		{cty.MustParseNumberVal("1e3"), IntKey(1000), false},
		{cty.NumberFloatVal(1.5), NoKey, true},
		{cty.NumberIntVal(-1), NoKey, true},
		{cty.MustParseNumberVal("1e40"), NoKey, true},
		{cty.PositiveInfinity, NoKey, true},
		{cty.True, NoKey, true},
		{cty.NullVal(cty.String), NoKey, true},
		{cty.UnknownVal(cty.Number), NoKey, true},
		{cty.DynamicVal, NoKey, true},
		{cty.EmptyObjectVal, NoKey, true},
	}
	for _, test := range tests {
		if got, err := KeyFromValue(test.v); got != test.want || (err != nil) != test.bad {
			t.Errorf("KeyFromValue(%#v): got %v, %v, want %v, an error: %t", test.v, got, err, test.want, test.bad)
		}
	}
	for _, key := range []Key{IntKey(7), StringKey("x")} {
		if back, err := KeyFromValue(key.Value()); err != nil || back != key {
			t.Errorf("KeyFromValue(%s): got %v, %v, want the same key", key, back, err)
		}
	}
	if NoKey.Value() != cty.NilVal {
		t.Error("no key has a value")
	}
}

func TestParseErrors(t *testing.T) {
	for _, s := range []string{
		"", "t", "data.t", "ephemeral.t", "resource.t", "module", "module.a.", "module.a.b", "t.n.x", "t.n[0][1]", "t.n[1.5]", "t.n[-1]", "t.n[*]",
		"t.n[x]", `t.n["${x}"]`, "t.n[", "t[0].n", "module[0].t.n", "module.a[0][1].t.n", `module["a"].t.n`, "t n", "0.n", "t.n[true]", "t.*.n",
	} {
		if i, err := ParseInstance(s); err == nil {
			t.Errorf("%q was parsed as %s", s, i)
		} else if strings.Contains(err.Error(), "invalid") {
			t.Errorf("%q: the message around the error names the text and what is wrong with it: %v", s, err)
		}
	}
	if _, err := ParseInstance("module.a"); err == nil || !strings.Contains(err.Error(), "names a module, not a resource") {
		t.Errorf("a module for an instance: %v", err)
	}
	if m, err := ParseModuleInstance("module.a.t.n"); err == nil {
		t.Errorf("a resource for a module: %s", m)
	}
}

func TestParsedForms(t *testing.T) {
	for in, want := range map[string]string{
		"resource.t.n":                   "t.n",
		"module.a.resource.t.n[0]":       "module.a.t.n[0]",
		"module.a[ 1 ].data.t.n":         "module.a[1].data.t.n",
		`module.a["b"].ephemeral.t.n[0]`: `module.a["b"].ephemeral.t.n[0]`,
	} {
		if got, err := ParseInstance(in); err != nil || got.String() != want {
			t.Errorf("ParseInstance(%s): got %s, %v, want %s", in, got, err, want)
		}
	}
}

func TestTargetSelects(t *testing.T) {
	tests := []struct {
		target string
		yes    []string
		no     []string
	}{
		{"t.n", []string{"t.n", "t.n[0]", `t.n["k"]`}, []string{"t.m", "data.t.n", "ephemeral.t.n", "module.a.t.n"}},
		{"t.n[0]", []string{"t.n[0]"}, []string{"t.n", "t.n[1]", `t.n["0"]`}},
		{"data.t.n", []string{"data.t.n[0]"}, []string{"t.n"}},
		{"module.a", []string{"module.a.t.n", "module.a[0].t.n", "module.a.module.b[1].data.t.n[2]"}, []string{"t.n", "module.ab.t.n", "module.b.module.a.t.n"}},
		{"module.a[0]", []string{"module.a[0].t.n[3]", "module.a[0].module.b.t.n"}, []string{"module.a.t.n", "module.a[1].t.n"}},
		{"module.a.t.n", []string{"module.a.t.n", "module.a[0].t.n[1]"}, []string{"module.a.module.b.t.n", "t.n"}},
		{"module.a.module.b[0].t.n[1]", []string{"module.a[5].module.b[0].t.n[1]"}, []string{"module.a.module.b.t.n[1]", "module.a.module.b[0].t.n"}},
	}
	for _, test := range tests {
		target, err := ParseTarget(test.target)
		if err != nil {
			t.Fatal(err)
		}
		for want, list := range map[bool][]string{true: test.yes, false: test.no} {
			for _, s := range list {
				i, err := ParseInstance(s)
				if err != nil {
					t.Fatal(err)
				}
				if got := target.Selects(i); got != want {
					t.Errorf("%s selects %s: got %v, want %v", target, i, got, want)
				}
			}
		}
	}
}

func TestTargetSelectsModule(t *testing.T) {
	a := RootInstance.Child("a", IntKey(0))
	for s, want := range map[string]bool{"module.a": true, "module.a[0]": true, "module.a[1]": false, "module.a.t.n": false, "module.a[0].module.b": false} {
		target, err := ParseTarget(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := target.SelectsModule(a); got != want {
			t.Errorf("%s selects %s: got %v, want %v", s, a, got, want)
		}
		if keyless := s == "module.a" || s == "module.a[0].module.b"; target.ModuleKeyless != keyless {
			t.Errorf("%s: ModuleKeyless: got %v, want %v", s, target.ModuleKeyless, keyless)
		}
	}
}

func TestProviderConfigForms(t *testing.T) {
	tests := []struct{ in, want string }{
		{`provider["registry.opentofu.org/hashicorp/random"]`, `provider["registry.opentofu.org/hashicorp/random"]`},
		{`provider["hashicorp/random"].east`, `provider["registry.opentofu.org/hashicorp/random"].east`},
		{`provider["hashicorp/random"].by["x.provider[\"y\"]"]`, `provider["registry.opentofu.org/hashicorp/random"].by["x.provider[\"y\"]"]`},
		{`module.a["provider["].provider["ns/t"]`, `module.a["provider["].provider["registry.opentofu.org/ns/t"]`},
		{`module.a.module.b.provider["terraform.io/builtin/terraform"]`, `module.a.module.b.provider["terraform.io/builtin/terraform"]`},
		{`provider.aws`, `provider["registry.opentofu.org/hashicorp/aws"]`},
		{`provider.aws.west`, `provider["registry.opentofu.org/hashicorp/aws"].west`},
		{`module.a.provider.google-beta.eu`, `module.a.provider["registry.opentofu.org/hashicorp/google-beta"].eu`},
		{`provider.terraform`, `provider["terraform.io/builtin/terraform"]`},
	}
	for _, test := range tests {
		if got, err := ParseProviderConfig(test.in); err != nil || got.String() != test.want {
			t.Errorf("ParseProviderConfig(%s): got %s, %v, want %s", test.in, got, err, test.want)
		}
	}
	for _, s := range []string{
		"", "aws", "provider", "provider[", "provider[]", "provider[0]", `provider["a/b/c/d/e"]`, `provider["x/y"`, `provider["x/y"].`, `provider["x/y"].a.b`,
		`provider["x/y"].a[0][1]`, `provider["x/y"].a[1.5]`, `module.provider["x/y"]`, `module.a[provider["x/y"]`, `t.n.provider["x/y"]`, "provider.a.b.c", "x.provider.aws", "provider.a--b", "provider.a_b",
	} {
		if pc, err := ParseProviderConfig(s); err == nil {
			t.Errorf("%q was parsed as %s", s, pc)
		}
	}
}

func TestSmallForms(t *testing.T) {
	i := Instance{RootInstance.Child("a", IntKey(1)), Resource{Data, "t", "n"}, StringKey("k")}
	for _, test := range []struct{ got, want string }{
		{i.Local(), `data.t.n["k"]`},
		{i.Abs().String(), `module.a[1].data.t.n`},
		{i.Config().String(), `module.a.data.t.n`},
		{i.Abs().Config().String(), `module.a.data.t.n`},
		{Object{i, "0badcafe"}.String(), `module.a[1].data.t.n["k"] (deposed object 0badcafe)`},
		{Object{Instance: i}.String(), i.String()},
		{RootModule.Child("a").Child("b").String(), "module.a.module.b"},
		{Ephemeral.String() + Managed.String() + Data.String(), "ephemeralresourcedata"},
		{DefaultProvider("a--b").Type, "a--b"},
		{DefaultProvider("Random").Type, "random"},
		{DefaultProvider("terraform").String(), "terraform.io/builtin/terraform"},
		{mustProvider(t, "random").String(), "registry.opentofu.org/hashicorp/random"},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"t.n", `module.a["x"].data.t.n[0]`, `provider["a/b"].c["d"]`, "provider.x.y", `t.n["$${a}\u00e9"]`, "module.a[*].t.n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if i, err := ParseInstance(s); err == nil {
			if again, err := ParseInstance(i.String()); err != nil || again != i {
				t.Errorf("ParseInstance(%q): got %s, %v when it is parsed again, want %s", s, again, err, i)
			}
		}
		if pc, err := ParseProviderConfig(s); err == nil {
			if again, err := ParseProviderConfig(pc.String()); err != nil || again != pc {
				t.Errorf("ParseProviderConfig(%q): got %s, %v when it is parsed again, want %s", s, again, err, pc)
			}
		}
	})
}
