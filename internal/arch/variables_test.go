package arch

import (
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestVariablesAreInTheReference compares the names of environment variables in the code with the pages of
// the reference: none is missing, and none is there that the code does not have.
func TestVariablesAreInTheReference(t *testing.T) {
	used := map[string]string{}                                                 // by name: where
	name := regexp.MustCompile(`^(?:TF|MAYFLY|KEEP|OPENTOFU|OTEL)_[A-Z0-9_]*$`) // or only the beginning of one
	for _, s := range sources(t) {
		if !s.shipped() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && name.MatchString(text) {
					used[text] = s.at(lit.Pos())
				}
			}
			return true
		})
	}
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	word := regexp.MustCompile("`((?:TF|MAYFLY|KEEP|OPENTOFU|OTEL)_[A-Z0-9_]+)`")
	for _, page := range []string{"environment.md", "backends.md"} {
		lines(t, filepath.Join(dir, "docs", "reference", page), func(_ int, line string) {
			for _, m := range word.FindAllStringSubmatch(line, -1) {
				documented[m[1]] = true
			}
		})
	}
	// A page has the last part of a name that varies in capitals too.
	matches := func(used, documented string) bool {
		return used == documented || strings.HasSuffix(used, "_") && strings.HasPrefix(documented, used)
	}
	for _, u := range slices.Sorted(maps.Keys(used)) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(documented)), func(d string) bool { return matches(u, d) }) {
			t.Errorf("%s: docs/reference/environment.md does not have the variable %s", used[u], u)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(documented)) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(used)), func(u string) bool { return matches(u, d) }) {
			t.Errorf("docs/reference has the variable %s, which the code does not have", d)
		}
	}
}
