package diag

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCollectorTake(t *testing.T) {
	var c Collector
	c.Add(Errorf("a", "first"))
	c.Add(Errorf("a", "first"))
	if got := c.Take(); len(got) != 1 || c.HasErrors() {
		t.Errorf("Take: got %v, errors left: %t, want one diagnostic, and none left", got, c.HasErrors())
	}
	c.Add(Errorf("a", "first"))
	if got := c.Take(); len(got) != 1 {
		t.Errorf("Take after it is said again: got %v, want one diagnostic", got)
	}
	if got := c.Take(); len(got) != 0 {
		t.Errorf("Take once more: got %v, want none", got)
	}
}

// withCanary is a diagnostic with a word in each of its texts, each of which may hold what a provider said.
func withCanary(word string) Diagnostic {
	return Diagnostic{
		Severity: Warning, Summary: "summary " + word, Detail: "detail " + word, Address: "address." + word,
		Statements: map[string]string{"name." + word: "is " + word}, Parts: []Part{{Path: "[" + word + "]", Statement: "is " + word}},
	}
}

// TestRedacted looks at every text of a diagnostic on its own.
func TestRedacted(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "canary", "***") }
	var c Collector
	c.Redact = redact
	given := withCanary("canary")
	c.Add(List{given})
	for way, list := range map[string]List{"Redacted": List{given}.Redacted(redact), "Collector": c.List()} {
		if diff := cmp.Diff(List{withCanary("***")}, list); diff != "" {
			t.Errorf("%s: %s", way, diff)
		}
	}
	if List(nil).Redacted(redact) != nil {
		t.Error("no diagnostics became some")
	}
	if diff := cmp.Diff(withCanary("canary"), given); diff != "" {
		t.Errorf("what was given has changed: %s", diff)
	}
	// A field that is added to Diagnostic must be redacted, or be one that cannot hold a text of a provider.
	other := []string{"Subject", "Context", "Source", "Expression", "EvalContext", "Path", "Extra"}
	for i := range reflect.TypeFor[Diagnostic]().NumField() {
		name := reflect.TypeFor[Diagnostic]().Field(i).Name
		if reflect.ValueOf(given).Field(i).IsZero() != slices.Contains(other, name) {
			t.Errorf("field %s: got it zero in the test: %t, want it set unless it is one of %q", name, reflect.ValueOf(given).Field(i).IsZero(), other)
		}
	}
	c.Redact = nil
	c.Add(List{given})
	if n := len(c.List()); n != 2 {
		t.Errorf("without a function, %d diagnostics are there, want 2", n)
	}
}

func TestCollectorHasErrors(t *testing.T) {
	unknown := Diagnostic{Severity: Error, Summary: "unknown", Extra: Unknown{}}
	certain := Diagnostic{Severity: Error, Summary: "certain"}
	warning := Diagnostic{Severity: Warning, Summary: "warning"}
	for _, test := range []struct {
		list       List
		errs, sure bool
	}{
		{nil, false, false},
		{List{warning}, false, false},
		{List{unknown}, true, false},
		{List{certain}, true, true},
		{List{certain, warning}, true, true},
		{List{unknown, warning}, true, false},
		{List{certain, unknown}, true, true},
		{List{unknown, certain, warning}, true, true},
	} {
		var together, alone Collector
		together.Add(test.list)
		for _, d := range test.list {
			alone.Add(List{d})
		}
		for name, c := range map[string]*Collector{"together": &together, "one by one": &alone} {
			if errs, sure := c.HasErrors(), c.HasCertainErrors(); errs != test.errs || sure != test.sure {
				t.Errorf("%v, %s: got errors %t, certain ones %t, want %t, %t", test.list, name, errs, sure, test.errs, test.sure)
			}
			if got := c.List(); len(got) != len(test.list) {
				t.Errorf("%s: got %v, want %v", name, got, test.list)
			}
		}
	}
	var c Collector
	c.Add(List{certain})
	c.List()[0].Summary = "changed"
	if c.List()[0].Summary != "certain" {
		t.Error("the list is not the caller's own")
	}
	if c.Take(); c.HasErrors() || c.HasCertainErrors() {
		t.Error("there are errors after they were taken")
	}
}
