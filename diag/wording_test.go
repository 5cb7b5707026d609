package diag

import "testing"

func TestTypeWords(t *testing.T) {
	for given, want := range map[string]string{
		"list of dynamic required, but have string":                      "list of any single type required, but have string",
		"map of set of dynamic required":                                 "map of set of any single type required",
		"number required, but have list of string":                       "number required, but have list of string",
		"The 'true' value is tuple, but the 'false' value is object.":    "The 'true' value is a tuple, but the 'false' value is an object.",
		"The 'false' value includes object attribute \"dynamic\", which": "The 'false' value includes object attribute \"dynamic\", which",
	} {
		if got := TypeWords(given); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}
