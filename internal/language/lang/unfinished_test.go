package lang

import (
	"strings"
	"testing"
)

func TestUnfinished(t *testing.T) {
	for text, want := range map[string]Openness{
		"":                        Closed,
		"1 + 1":                   Closed,
		"1 +":                     Closed, // an error that evaluating tells
		"[1,":                     WithinBrackets,
		"[1,\n2]":                 Closed,
		"{ a = (":                 WithinBrackets,
		"f(":                      WithinBrackets,
		"]":                       Closed,
		`"(["`:                    Closed,
		`"${`:                     WithinBrackets,
		"\"${\n1}\"":              Closed,
		`"%{ if true }x`:          Closed,
		"# (":                     Closed,
		"<<E":                     WithinHeredoc,
		"<<E\nx":                  WithinHeredoc,
		"<<E\nx\nE":               Closed,
		"{ a = <<-E\n  x\n  E":    WithinBrackets,
		"{ a = <<-E\n  x\n  E\n}": Closed,
		"<<E\n${\n":               WithinBrackets,
		"'":                       Closed,
		"[ # (\n1":                WithinBrackets,
		"[ /* (\n*/ 1":            WithinBrackets,
		"[ /* (\n*/ 1\n]":         Closed,
		"[<<E\n(\nE\n]":           Closed,
		"[\"${\n(1)}\",\n{\n}\n]": Closed,
		"[\n[\n(\n)\n":            WithinBrackets,
	} {
		var u Unfinished
		for line := range strings.SplitSeq(text, "\n") {
			u.Add(line)
		}
		if u.State != want {
			t.Errorf("%q: got %d, want %d", text, u.State, want)
		}
	}
}

// TestManyLines takes long if each line costs as much as all before it.
func TestManyLines(t *testing.T) {
	var u Unfinished
	u.Add("[")
	for range 100_000 {
		if u.Add("  { a = [1], b = (2) },") != WithinBrackets {
			t.Fatal("complete too early")
		}
	}
	if u.Add("]") != Closed {
		t.Error("not complete")
	}
}
