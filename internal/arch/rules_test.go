package arch

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestRulesAreListed compares the numbers of rules in comments and in the names of tests with docs/rules.md:
// each number has its line there, and each line has a test.
func TestRulesAreListed(t *testing.T) {
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(top, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{} // by number: whether a test has it in its name
	for _, m := range regexp.MustCompile(`(?m)^\| (E\d+) \|`).FindAllStringSubmatch(string(page), -1) {
		if _, twice := listed[m[1]]; twice {
			t.Errorf("docs/rules.md lists %s twice", m[1])
		}
		listed[m[1]] = false
	}
	number, test := regexp.MustCompile(`\bE\d+\b`), regexp.MustCompile(`^func Test((?:E\d+)+)`)
	cited := func(where, n string) {
		if _, ok := listed[n]; !ok {
			t.Errorf("%s: docs/rules.md has no rule %s", where, n)
		}
	}
	numbers := regexp.MustCompile(`E\d+`)
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				for _, n := range number.FindAllString(c.Text, -1) {
					cited(s.at(c.Pos()), n)
				}
			}
		}
		for _, f := range functions(s) {
			if m := test.FindStringSubmatch("func " + f.name); s.test && m != nil {
				for _, n := range numbers.FindAllString(m[1], -1) {
					cited(s.at(f.pos), n)
					listed[n] = true
				}
			}
		}
	}
	script := regexp.MustCompile(`^E\d+(?:E\d+)*`)
	walk(t, func(name, _ string) {
		if path.Ext(name) == ".txtar" {
			for _, n := range numbers.FindAllString(script.FindString(path.Base(name)), -1) {
				cited(name, n)
				listed[n] = true
			}
		}
	})
	var untested []string
	for n, tested := range listed {
		if !tested {
			untested = append(untested, n)
		}
	}
	if slices.Sort(untested); len(untested) > 0 || len(listed) == 0 {
		t.Errorf("no test has these of the %d rules in its name: %q", len(listed), untested)
	}
}
