package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestLimits has expressions whose results would take minutes to print or all memory. Each is an error at
// once.
func TestLimits(t *testing.T) {
	for expr, want := range map[string]string{
		`"${"1e9999999" + 0}"`:       "Number out of range",
		`1 + "1e999999999"`:          "Number out of range",
		`0 * -"1e999999999"`:         "Number out of range",
		`"1e9999999" * 1`:            "Number out of range",
		`1e9000 * 1e9000`:            "Number out of range",
		`1 / "1e9999999"`:            "Number out of range",
		`"${tonumber("1e9999999")}"`: "numbers may have up to",
		`"${join("", [for i in range(100) : local.mega])}"`:      "strings made by templates and functions",
		`"${local.mega}${local.half}${local.half}${local.half}"`: "Result too long",
		`"%{for i in range(100)}${local.mega}%{endfor}"`:         "Result too long",
		`try([for i in range(1000) : "${local.mega}${i}"], "")`:  "Result too large",
	} {
		text := "locals {\n  half = join(\"\", [for i in range(32) : local.mega])\n  mega = var.mega\n}\n" +
			"variable \"mega\" { type = string }\noutput \"o\" { value = " + expr + " }\n"
		w := open(t, Planning, text, map[string]cty.Value{"mega": cty.StringVal(strings.Repeat("x", 1<<20))})
		got := w.output("o")
		if errs := w.errors(); !strings.Contains(errs, want) || strings.Count(errs, "error:") != 1 {
			t.Errorf("%s = %.80s: %.300s, want the one error %q", expr, got, errs, want)
		}
	}
	within := planned(t, `output "o" { value = "${1e9000 * 10} ${2 / 3}" }`)
	if got := within.output("o"); len(got) < 9000 {
		t.Errorf("got %.80s", got)
	}
	within.clean()
	// What has no elements yet, or cannot be walked through as it is, is not counted.
	for _, expr := range []string{`tolist(null)`, `sensitive([1, [2]])`, `[sensitive([[1]]), null, {}]`, `null`, `var.l`, `[var.l, [var.l]]`} {
		w := open(t, Planning, "variable \"l\" {}\noutput \"o\" {\n  sensitive = true\n  value = "+expr+"\n}\n",
			map[string]cty.Value{"l": cty.UnknownVal(cty.List(cty.DynamicPseudoType))})
		w.output("o")
		if errs := w.errors(); errs != "" {
			t.Errorf("%s: got %s, want no errors", expr, errs)
		}
	}
}

// TestSharedElements has values that grow by the same factor with each local value: they take little memory,
// but walking through the last one would not end. With this factor, the first one that is too large is hardly
// larger than the limit, and so costs least. The innermost values are attributes, which are walked through
// fastest.
func TestSharedElements(t *testing.T) {
	const factor, times = 21, 6
	var members strings.Builder
	for i := range factor {
		fmt.Fprintf(&members, "k%d = local.aN, ", i)
	}
	elements := strings.Repeat("local.aN, ", factor)
	ones := strings.ReplaceAll(members.String(), "local.aN", "1")
	for name, grown := range map[string]string{"tuple": "[" + elements + "]", "object": "{ " + members.String() + " }", "list": "tolist([" + elements + "])"} {
		text := "locals {\n  a0 = { " + ones + " }\n"
		for i := range times {
			text += fmt.Sprintf("  a%d = %s\n", i+1, strings.ReplaceAll(grown, "N", fmt.Sprint(i)))
		}
		w := open(t, Planning, text+fmt.Sprintf("}\noutput \"o\" { value = local.a%d }\n", times), nil)
		w.output("o")
		if errs := w.errors(); !strings.Contains(errs, "Result too large") || strings.Count(errs, "error:") != 1 {
			t.Errorf("%s: got %.300s, want one error: Result too large", name, errs)
		}
	}
}
