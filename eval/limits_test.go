package eval

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestLimits has expressions whose results would take minutes to print or all memory. Each is an error at
// once.
func TestLimits(t *testing.T) {
	for expr, want := range map[string]string{
		`"${"1e9999999" + 0}"`:       "Number out of range",
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
}
