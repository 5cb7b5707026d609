package lines

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

type piece struct {
	text string
	ends bool
}

func read(r io.Reader) (out []piece) {
	Read(r, func(text string, ends bool) { out = append(out, piece{text, ends}) })
	return out
}

func TestRead(t *testing.T) {
	for _, row := range []struct {
		text string
		want []piece
	}{
		{"", nil},
		{"a\nb\r\n\nc", []piece{{"a", true}, {"b", true}, {"", true}, {"c", false}}},
		{"a\r", []piece{{"a", false}}},
	} {
		if got := read(strings.NewReader(row.text)); !slices.Equal(got, row.want) {
			t.Errorf("%q: got %v, want %v", row.text, got, row.want)
		}
	}
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errors.New("broken")))
	if got := read(broken); !slices.Equal(got, []piece{{"a", true}, {"b", false}}) {
		t.Errorf("got %v, want %v", got, []piece{{"a", true}, {"b", false}})
	}
}

// TestLongLines reads lines that are longer than memory should have room for.
func TestLongLines(t *testing.T) {
	const secret = "CANARY-of-a-long-line"
	for name, text := range map[string]string{
		"without spaces": strings.Repeat("x", 5*Longest),
		"with spaces":    strings.Repeat("x "+secret+" ", 5*Longest/len(secret)),
		"then a line":    strings.Repeat("y", Longest) + "\nz",
	} {
		var all strings.Builder
		whole := 0
		for _, p := range read(strings.NewReader(text)) {
			if len(p.text) > Longest*3/2 {
				t.Errorf("%s: a piece of %d bytes", name, len(p.text))
			}
			whole += strings.Count(p.text, secret)
			all.WriteString(p.text)
			if p.ends {
				all.WriteByte('\n')
			}
		}
		if all.String() != text || whole != strings.Count(text, secret) {
			t.Errorf("%s: got pieces of %d bytes with %d whole secrets, want %d bytes with %d", name, all.Len(), whole, len(text), strings.Count(text, secret))
		}
	}
}
