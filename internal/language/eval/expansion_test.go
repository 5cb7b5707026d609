package eval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// TestListedKeys compares the instances of for_each = toset(x), which makes no set where it can do without,
// with those of the same set, and the errors.
func TestListedKeys(t *testing.T) {
	instances := func(forEach string) (string, string) {
		w := planned(t, fmt.Sprintf(`
locals { list = tolist(["y", "x"]) }
resource "sim_thing" "other" {}
resource "sim_thing" "r" {
  for_each = %s
  name     = each.value
}`, forEach))
		list, known := w.run.Root.resources[addr.Resource{Type: "sim_thing", Name: "r"}].Instances(w.task)
		out := fmt.Sprint(known)
		for _, in := range list {
			out += " " + in.Key.String()
		}
		var summaries []string
		for _, d := range w.run.Diags.List() {
			summaries = append(summaries, d.Summary+": "+d.Detail)
		}
		return out, strings.Join(summaries, "\n")
	}
	for _, x := range []string{
		`["b", "a", "b"]`, `[]`, `[for i in range(20) : "k${i}"]`, `local.list`, `split(",", "q,p,q")`, `toset(["a"])`, `[["b", "a"]]...`, `["a"]...`,
		`["a", 1]`, `[1, 2]`, `["a", null]`, `null`, `["a", sensitive("b")]`, `sensitive(["a"])`, `["a", sim_thing.other.id]`, `[["a"]]`, `"a"`, `{ a = "b" }`, `["a", local.list[7]]`,
	} {
		got, errors := instances("toset(" + x + ")")
		want, wantErrors := instances("one([toset(" + x + ")])")
		if got != want || errors != wantErrors {
			t.Errorf("toset(%s): got %s, errors %q, want %s, errors %q", x, got, errors, want, wantErrors)
		}
	}
}
