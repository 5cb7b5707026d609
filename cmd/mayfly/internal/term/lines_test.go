package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompletions(t *testing.T) {
	names := []string{"core::max(", "max(", "min(", "module.m", "var.max"}
	for word, want := range map[string][]string{
		"m": {"max(", "min(", "module.m"}, "ma": {"max("}, "var.": {"var.max"}, "core::": {"core::max("}, "c": nil, "x": nil,
	} {
		if diff := cmp.Diff(want, completions(names, word), cmp.Transformer("empty", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
			t.Errorf("%s: %s", word, diff)
		}
	}
}

func TestLineHistory(t *testing.T) {
	skip := false
	h := &lineHistory{skip: func() bool { return skip }}
	for _, line := range []string{"a", "a", " ", "b"} {
		h.Add(line)
	}
	skip = true
	h.Add("given up")
	if h.Len() != 2 || h.At(0) != "b" || h.At(1) != "a" {
		t.Errorf("lines: got %v, want b and a", h.lines)
	}
	skip = false
	for range maxHistory {
		h.Add("x")
		h.Add("y")
	}
	if h.Len() != maxHistory {
		t.Errorf("got %d lines, want %d", h.Len(), maxHistory)
	}
}
