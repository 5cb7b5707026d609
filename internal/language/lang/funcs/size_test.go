package funcs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestBounds has calls that would exhaust memory, stack or time. Each must end with an error.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	const n = 100_000
	texts := map[string]string{
		"parens":   "${" + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + "}",
		"nested":   "${" + strings.Repeat("upper(", 900) + `templatefile("nested", {})` + strings.Repeat(")", 900) + "}",
		"brackets": strings.Repeat("[", n) + strings.Repeat("]", n),
		"dashes":   strings.Repeat("- ", n) + "x",
		"bomb":     yamlBomb(9, 9),
		"chain":    yamlChain(100, 50),
		"cycle":    "a: &a [*a]",
		"long":     strings.Repeat("a", 1<<20),
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for range bounds.MaxText>>20 + 1 {
		_, _ = w.Write(make([]byte, 1<<20))
	}
	_ = w.Close()
	texts["gzip"] = packed.String()
	filetest.Lay(t, dir, texts)
	if f, err := os.Create(filepath.Join(dir, "huge")); err != nil || errors.Join(f.Truncate(bounds.MaxText+1), f.Close()) != nil {
		t.Fatal(err)
	}
	for expr, want := range map[string]string{
		`templatefile("parens", {})`:                                     "Nested too deep",
		`templatestring(file("parens"), {})`:                             "Nested too deep",
		`templatefile("nested", {})`:                                     "maximum recursion depth",
		`yamldecode(file("brackets"))`:                                   "nested",
		`yamldecode(file("dashes"))`:                                     "nested",
		`yamldecode(file("bomb"))`:                                       "more than 1000000 values",
		`yamldecode(file("chain"))`:                                      "more than 1000 levels",
		`yamldecode(file("cycle"))`:                                      "cannot refer to anchor",
		`jsondecode(file("brackets"))`:                                   "nested too deep",
		`jsondecode("1e9999999")`:                                        "out of range",
		`jsondecode("{\"a\":[1e-9999999]}")`:                             "out of range",
		`yamldecode("[1e9999999]")`:                                      "out of range",
		`tonumber("1e9999999")`:                                          "out of range",
		`tonumber("1e999999999")`:                                        "out of range",
		`format("%999999999d", 1)`:                                       "up to 1000000",
		`format("%.999999999f", 1)`:                                      "up to 1000000",
		`format("%-99999999999999999999s", "")`:                          "up to 1000000",
		`format("%[1]9999999d", 1)`:                                      "up to 1000000",
		`formatlist("%9999999d", [1])`:                                   "up to 1000000",
		`formatlist("%999999d", range(1000))`:                            "the result is too long",
		`parseint("` + strings.Repeat("9", 20_000) + `", 10)`:            "out of range",
		`max("1e9999999", 1)`:                                            "out of range",
		`sum(["1e9999999"])`:                                             "out of range",
		`setproduct(range(1000), range(1000), range(1000), range(1000))`: "the result is too large",
		`replace(file("long"), "a", file("long"))`:                       "the result is too long",
		`replace(file("long"), "/a/", file("long"))`:                     "the result is too long",
		`replace(file("long"), "", file("long"))`:                        "the result is too long",
		`base64gunzip(filebase64("gzip"))`:                               "the result is too long",
		`file("huge")`:                                                   "the result is too long",
		`join(file("long"), range(1000))`:                                "the result is too long",
		`join(sensitive(file("long")), range(1000))`:                     "the result is too long",
	} {
		if _, err := evalIn(t, Options{BaseDir: dir}, expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: got error %v, want %q", expr, err, want)
		}
	}
}

// TestWithinBounds has what looks like an excess and is none.
func TestWithinBounds(t *testing.T) {
	for _, expr := range []string{
		`length(setproduct(range(100), range(100))) == 10000`,
		`length(setproduct(range(1000), range(1000), range(1000), [])) == 0`,
		`length(join("", [for i in range(1000) : "x"])) == 1000`,
		`jsondecode("1e300") > 1`,
		`length(yamldecode("a: &a {x: 1}\nb: *a")) == 2`,
		`replace("aaa", "a", "") == ""`,
	} {
		if v, err := evalIn(t, Options{}, expr); err != nil || !v.RawEquals(cty.True) {
			t.Errorf("%s: got %#v, %v, want true", expr, v, err)
		}
	}
}

// yamlBomb returns a document with as many anchors as levels, each with a list of aliases of the one before.
func yamlBomb(levels, width int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), width), ", "))
	}
	return b.String()
}

// yamlChain returns a document with anchors that are nested one in the other by aliases.
func yamlChain(anchors, levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i <= anchors; i++ {
		fmt.Fprintf(&b, "a%d: &a%d %s*a%d%s\n", i, i, strings.Repeat("[", levels), i-1, strings.Repeat("]", levels))
	}
	return b.String()
}
