package withheld

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestIgnores ignores changes of withheld attributes alone, and those that the configuration names.
func TestIgnores(t *testing.T) {
	always, never := func(cty.Path) bool { return true }, func(cty.Path) bool { return false }
	for name, c := range map[string]struct {
		ignored func(cty.Path) bool
		at      cty.Path
		want    bool
	}{
		"nothing is ignored": {nil, password, false},
		"ignored":            {always, password, true},
		"another is ignored": {never, password, false},
		"not withheld":       {always, cty.GetAttrPath("other"), false},
	} {
		f := newFixture(t)
		f.Ignored = c.ignored
		if got := Ignores(&f.Attributes, c.at); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
