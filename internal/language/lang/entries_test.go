package lang

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func TestEntries(t *testing.T) {
	for src, want := range map[string]string{
		"a.b": "a.b", "local.l": "local.l", "var.v": "var.v", "module.m.o": "module.m.o", "module.m[\"k\"].o": "module.m[\"k\"].o", "(a.b)": "a.b",
		"module.m": "", "a.b[\"k\"]": "", "a.b.c": "", "local.l.c": "", "each.value": "", "a[0].b": "",
		"{ for k, v in a.b : k => v.c }": "a.b", "{ for k, v in (a.b) : k => v.c if v.d }": "a.b", "{ for k, v in a.b : v.id => v }": "", "{ for v in a.b : v => v }": "",
		"{ for k, v in a.b : k => v... }": "", "{ for k, k in a.b : k => k }": "", "{ for k, v in a.b : k.x => v }": "", "{ for k, v in a.b : \"x${k}\" => v }": "",
		"[for k, v in a.b : v]": "", "{ for k, v in { for n, w in a.b : n => w } : k => v }": "a.b", "{ for k, v in a.b : k => c.d[k].x }": "a.b",
		"{ for k, v in a.b : k => length(a.b) }": "", "{ for k, v in a.b : k => a.b[k] }": "", "{ for k, v in a.b : k => a.c[k] }": "a.b",
		"{ for k, v in module.m.o : k => module.m.p }": "module.m.o", "{ for k, v in module.m.o : k => module.m }": "", "{ for k, v in module.m.o : k => module.m[k].o }": "",
		"merge(a.b, { for k, v in local.l : k => v })": "a.b local.l", "core::merge(a.b)": "a.b", "merge(a.b, { x = 1 })": "a.b", "merge(a.b...)": "", "merge(a.b, a.b)": "", "tomap(a.b)": "",
		"a.b == 1 ? a.b : {}": "", "{ x = a.b }": "", "1": "",
	} {
		e, diags := hclsyntax.ParseExpression([]byte(src), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		x, _ := Compile(e)
		var got []string
		for _, ref := range x.Entries() {
			got = append(got, string(ref.Range.SliceBytes([]byte(src))))
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: got %q, want %q", src, text, want)
		}
	}
}
