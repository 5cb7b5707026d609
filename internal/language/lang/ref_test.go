package lang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"

	"github.com/mayfly-iac/mayfly/addr"
)

func parse(t testing.TB, src string) hcl.Expression {
	t.Helper()
	e, diags := hclsyntax.ParseExpression([]byte(src), "t.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %s", src, diags)
	}
	return e
}

// describe writes a reference as object, index, output and rest, separated by spaces. The key of an index
// that must be evaluated is given by its own references.
func describe(r Ref) string {
	words := []string{r.String()}
	if r.Index != nil && r.Index.Expr == nil {
		words = append(words, r.Index.Key.String())
	} else if r.Index != nil {
		words = append(words, "[<"+strings.Join(describeAll(r.Index.Expr.Refs), ", ")+">]")
	}
	if names := r.Outputs(); names != nil {
		words = append(words, "output="+strings.Join(names, ","))
	}
	rest := ""
	for _, step := range r.Rest {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			rest += "." + step.Name
		case hcl.TraverseIndex:
			key, err := addr.KeyFromValue(step.Key)
			if err != nil {
				rest += "[" + err.Error() + "]"
			}
			rest += key.String()
		}
	}
	if rest != "" {
		words = append(words, rest)
	}
	return strings.Join(words, " ")
}

func describeAll(refs []Ref) []string {
	var all []string
	for _, r := range refs {
		all = append(all, describe(r))
	}
	return all
}

func TestReferences(t *testing.T) {
	tests := []struct {
		src  string
		want []string
	}{
		{`1 + 2`, nil},
		{`var.a`, []string{"var.a"}},
		{`var.a.b[0].c`, []string{"var.a .b[0].c"}},
		{`local.l["k"]`, []string{`local.l ["k"]`}},
		{`each.key`, []string{"each.key"}},
		{`each.value.x`, []string{"each.value .x"}},
		{`count.index`, []string{"count.index"}},
		{`path.module`, []string{"path.module"}},
		{`terraform.workspace`, []string{"terraform.workspace"}},
		{`tofu.applying`, []string{"tofu.applying"}},
		{`self.id`, []string{"self .id"}},
		{`self`, []string{"self"}},

		{`t.n`, []string{"t.n"}},
		{`t.n.id`, []string{"t.n .id"}},
		{`t.n[0].id`, []string{"t.n [0] .id"}},
		{`t.n["k"].id`, []string{`t.n ["k"] .id`}},
		{`t.n["a.b"]["c"]`, []string{`t.n ["a.b"] ["c"]`}},
		{`t.n.0.id`, []string{"t.n [0] .id"}},
		{`resource.t.n.id`, []string{"t.n .id"}},
		{`data.t.n.id`, []string{"data.t.n .id"}},
		{`ephemeral.t.n[1].id`, []string{"ephemeral.t.n [1] .id"}},
		{`module.m`, []string{"module.m"}},
		{`module.m.out.x`, []string{"module.m output=out .x"}},
		{`module.m["k"].out[0]`, []string{`module.m ["k"] output=out [0]`}},
		{`module.m["k"]`, []string{`module.m ["k"]`}},

		{`t.n[each.key].id`, []string{"t.n [<each.key>] .id", "each.key"}},
		{`t.n[each.key]`, []string{"t.n [<each.key>]", "each.key"}},
		{`t.n[count.index + 1].a.b`, []string{"t.n [<count.index>] .a.b", "count.index"}},
		{`data.t.n["${each.key}-x"].id`, []string{"data.t.n [<each.key>] .id", "each.key"}},
		{`module.m[each.key].out.x`, []string{"module.m [<each.key>] output=out .x", "each.key"}},
		{`module.m[each.key]`, []string{"module.m [<each.key>]", "each.key"}},
		{`module.m.out[var.i].x`, []string{"module.m output=out", "var.i"}},
		{`t.n[t.m[each.key].i].id`, []string{"t.n [<t.m [<each.key>] .i, each.key>] .id", "t.m [<each.key>] .i", "each.key"}},
		{`t.n[var.i][var.j].id`, []string{"t.n [<var.i>]", "var.i", "var.j"}},
		{`t.n[0][var.j]`, []string{"t.n [0]", "var.j"}},
		{`t.n[0].list[var.j].x`, []string{"t.n [0] .list", "var.j"}},
		{`t.n.list[var.j].x`, []string{"t.n .list", "var.j"}},
		{`var.m[each.key].x`, []string{"var.m", "each.key"}},
		{`local.l[t.n.id]`, []string{"local.l", "t.n .id"}},
		{`(t.n)[each.key]`, []string{"t.n", "each.key"}},
		{`t.n[each.key].a[var.i].b`, []string{"t.n [<each.key>] .a", "each.key", "var.i"}},

		{`t.n[*].id`, []string{"t.n"}},
		{`t.n.*.id`, []string{"t.n"}},
		{`t.n[0].list[*].id`, []string{"t.n [0] .list"}},
		{`t.n[each.key].list[*].id`, []string{"t.n [<each.key>] .list", "each.key"}},
		{`module.m[*].out`, []string{"module.m output=out"}},
		{`module.m.*.out`, []string{"module.m output=out"}},
		{`module.m[*]`, []string{"module.m"}},
		{`[for k, m in module.m : "${k}${m.a}" if m.b.c]`, []string{"module.m output=a,b"}},
		{`[for m in module.m : m]`, []string{"module.m"}},
		{`[for m in module.m : m["a"]]`, []string{"module.m"}},
		{`[for m in module.m : 1]`, []string{"module.m"}},
		{`[for m in module.m : [for m in var.l : m.x]]`, []string{"module.m", "var.l"}},

		{`[for k, v in t.n : v.id if k != var.skip]`, []string{"t.n", "var.skip"}},
		{`{ for k in var.keys : k => t.n[k].id }`, []string{"var.keys", "t.n"}},
		{`[for k in var.keys : t.n["x"].id + k]`, []string{"var.keys", `t.n ["x"] .id`}},
		{`[for k in var.keys : t.n[each.key].id]`, []string{"var.keys", "t.n [<each.key>] .id", "each.key"}},
		{`[for var in local.l : var.x]`, []string{"local.l"}},
		{`[for each in local.l : t.n[each.key].id]`, []string{"local.l", "t.n"}},
		{`[for a in local.l : [for b in a.bs : t.n[a.k][b].id]]`, []string{"local.l", "t.n"}},
		{`[for t in local.l : t.n[each.key]]`, []string{"local.l", "each.key"}},
		{`t.n[[for k in var.l : k][0]].id`, []string{"t.n [<var.l>] .id", "var.l"}},

		{`"a ${t.n.id} ${"b ${var.x}"}"`, []string{"t.n .id", "var.x"}},
		{"<<-E\n  %{ for k, v in t.n ~}\n  ${k} ${v.id} ${t.m[each.key].id}\n  %{ endfor ~}\n  E\n", []string{"t.n", "t.m [<each.key>] .id", "each.key"}},
		{`"%{ if var.a }${var.b}%{ else }${var.c}%{ endif }"`, []string{"var.a", "var.b", "var.c"}},
		{`var.c ? t.n[each.key].id : t.m[0].id`, []string{"var.c", "t.n [<each.key>] .id", "each.key", "t.m [0] .id"}},
		{`f(var.a, g(t.n...)...)`, []string{"var.a", "t.n"}},
		{`{ (var.k) = var.v, plain = 1, "t.n" = 2 }`, []string{"var.k", "var.v"}},
		{`!var.a && -var.b > 0`, []string{"var.a", "var.b"}},
		{`f(t.n[each.key])[each.value].x`, []string{"t.n [<each.key>]", "each.key", "each.value"}},
	}
	for _, test := range tests {
		x, diags := Compile(parse(t, test.src))
		if len(diags) > 0 {
			t.Errorf("%s: %s", test.src, diags.Err())
			continue
		}
		if diff := cmp.Diff(test.want, describeAll(x.Refs)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.src, diff)
		}
	}
}

func TestRangesCoverTheReference(t *testing.T) {
	src := "1 + t.n.id + t.m[each.key].id"
	x, _ := Compile(parse(t, src))
	var got []string
	for _, r := range x.Refs {
		got = append(got, src[r.Range.Start.Byte:r.Range.End.Byte])
	}
	if diff := cmp.Diff([]string{"t.n.id", "t.m", "each.key"}, got); diff != "" {
		t.Errorf("ranges (-want +got)\n%s", diff)
	}
}

func TestScope(t *testing.T) {
	x, diags := Compile(parse(t, `"${rule.value.x} ${t.n[rule.key].id} ${t.m[inner.key].id} ${t.o[each.key].id}"`), "rule", "inner")
	if len(diags) > 0 {
		t.Fatal(diags.Err())
	}
	if diff := cmp.Diff([]string{"t.n", "t.m", "t.o [<each.key>] .id", "each.key"}, describeAll(x.Refs)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNilExpression(t *testing.T) {
	if x, diags := Compile(nil); x != nil || diags != nil {
		t.Errorf("got %v, %v", x, diags)
	}
}

func TestReferenceErrors(t *testing.T) {
	tests := []struct{ src, at, summary, detail string }{
		{`var`, `var`, "Invalid reference", `The "var" object cannot be accessed directly. It must be followed by a dot and the name of a variable, as in var.NAME.`},
		{`local[0]`, `local[0]`, "Invalid reference", `The "local" object cannot be accessed directly. It must be followed by a dot and the name of a local value, as in local.NAME.`},
		{`var["a"]`, `var["a"]`, "Invalid reference", `The "var" object cannot be accessed directly`},
		{`module`, `module`, "Invalid reference", `The "module" object cannot be accessed directly. It must be followed by a dot and the name of a module call, as in module.NAME.`},
		{`each`, `each`, "Invalid reference", `Use each.key or each.value.`},
		{`each.keys`, `each.keys`, `Invalid "each" attribute`, `The "each" object does not have an attribute named "keys". Did you mean each.key?`},
		{`count.count`, `count.count`, `Invalid "count" attribute`, `Use count.index.`},
		{`path.here`, `path.here`, `Invalid "path" attribute`, `Use path.module, path.root, or path.cwd.`},
		{`terraform.env`, `terraform.env`, `Invalid "terraform" attribute`, `Use terraform.workspace or terraform.applying.`},
		{`tofu.x`, `tofu.x`, `Invalid "tofu" attribute`, `The "tofu" object`},
		{`t`, `t`, "Invalid reference", `"t" alone refers to nothing.`},
		{`t[0]`, `t[0]`, "Invalid reference", `"t" alone refers to nothing`},
		{`t["n"].id`, `t["n"].id`, "Invalid reference", `"t" alone refers to nothing`},
		{`data.t`, `data.t`, "Invalid reference", `A reference to a data source must have its type and its name, as in data.TYPE.NAME.`},
		{`data`, `data`, "Invalid reference", `as in data.TYPE.NAME`},
		{`ephemeral.t[0].n`, `ephemeral.t[0].n`, "Invalid reference", `A reference to an ephemeral resource must have its type and its name, as in ephemeral.TYPE.NAME.`},
		{`resource.t`, `resource.t`, "Invalid reference", `as in resource.TYPE.NAME`},
		{`t.n[1.5].id`, `[1.5]`, "Invalid index", `This is not a valid instance key: an instance key must be a whole number, zero or greater.`},
		{`module.m[1.5].out`, `[1.5]`, "Invalid index", `a whole number`},
		{`t.n[each.keys].id`, `each.keys`, `Invalid "each" attribute`, `Did you mean each.key?`},
	}
	for _, test := range tests {
		x, diags := Compile(parse(t, test.src))
		if len(diags) != 1 {
			t.Errorf("%s: got %v, want one diagnostic", test.src, diags)
			continue
		}
		d := diags[0]
		at := test.src[d.Subject.Start.Byte:d.Subject.End.Byte]
		if at != test.at || d.Summary != test.summary || !strings.Contains(d.Detail, test.detail) {
			t.Errorf("%s: got at %s: %s: %s, want at %s: %s: %s", test.src, at, d.Summary, d.Detail, test.at, test.summary, test.detail)
		}
		if x == nil {
			t.Errorf("%s: no expression", test.src)
		}
	}
}

func TestEveryBadReferenceIsReported(t *testing.T) {
	x, diags := Compile(parse(t, `[var, t.n, local, each.x]`))
	var invalid []bool
	for _, ref := range x.Refs {
		invalid = append(invalid, ref.Invalid)
	}
	if diff := cmp.Diff([]bool{true, false, true, true}, invalid); len(diags) != 3 || diff != "" {
		t.Errorf("%d errors, references %v: invalid (-want +got)\n%s", len(diags), describeAll(x.Refs), diff)
	}
}

func TestProviderFunctions(t *testing.T) {
	src := `[provider::a::f(1), upper("x"), { k = "${provider::b::g(provider::a::h(var.x))}" }]`
	want := []string{"provider::a::f", "provider::b::g", "provider::a::h"}
	x, diags := Compile(parse(t, src))
	if diff := cmp.Diff(want, x.Functions); diff != "" || len(diags) > 0 {
		t.Errorf("native syntax (-want +got)\n%s%v", diff, diags)
	}
	e, hclDiags := json.ParseExpression([]byte(`["${provider::a::f(1)}", {"k": "x ${provider::b::g(provider::a::h(var.x))}", "${upper(\"x\")}": 1}, "${"]`), "t.tf.json")
	if hclDiags.HasErrors() {
		t.Fatal(hclDiags)
	}
	x, _ = Compile(e)
	if diff := cmp.Diff(want, x.Functions); diff != "" {
		t.Errorf("JSON syntax (-want +got)\n%s", diff)
	}
}

func TestReferencesInJSON(t *testing.T) {
	tests := []struct {
		src  string
		want []string
	}{
		{`1`, nil},
		{`"plain t.n"`, nil},
		{`"${t.n[0].id}-${var.a}"`, []string{"t.n [0] .id", "var.a"}},
		{`{"${var.k}": ["${local.l}"]}`, []string{"local.l", "var.k"}},
		{`"${[for k in var.l : t.n[k].id]}"`, []string{"var.l", "t.n"}},
	}
	for _, test := range tests {
		e, hclDiags := json.ParseExpression([]byte(test.src), "t.tf.json")
		if hclDiags.HasErrors() {
			t.Fatal(hclDiags)
		}
		x, diags := Compile(e)
		less := cmp.Transformer("set", func(l []string) map[string]bool {
			set := map[string]bool{}
			for _, s := range l {
				set[s] = true
			}
			return set
		})
		if diff := cmp.Diff(test.want, describeAll(x.Refs), less); diff != "" || len(diags) > 0 {
			t.Errorf("%s (-want +got)\n%s%v", test.src, diff, diags)
		}
	}
}
