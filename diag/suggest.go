package diag

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest returns the candidate most similar to name, or "" if none is similar enough. Of equally similar
// candidates it returns the first in alphabetical order.
func Nearest(name string, candidates []string) string {
	best, limit := "", 2+min(2, len(name)/4) // only smaller distances count
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if strings.EqualFold(c, name) {
			return c
		}
		d := levenshtein.Distance(name, c, nil)
		if swapped(name, c) {
			d = 1
		}
		if d < limit && d < len(name) && (d == 1 || sameStart(name, c)) {
			best, limit = c, d
		}
	}
	return best
}

// sameStart reports whether the names begin with the same letter. With more than one slip in them, others are
// seldom meant.
func sameStart(a, b string) bool { return a != "" && b != "" && strings.EqualFold(a[:1], b[:1]) }

// swapped reports whether a and b differ only by two adjacent characters that are swapped.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// DidYouMean returns a sentence, preceded by a space, that suggests the candidate nearest to name, or "" if
// none is near.
func DidYouMean(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}

// mostNames is the maximum number of names in a message.
const mostNames = 8

// Names lists names in alphabetical order for a sentence, each in quotes, such as `"a", "b", and "c"`. A
// long list is cut to the first names and the number of the others.
func Names(names []string) string {
	names = slices.Sorted(slices.Values(names))
	var quoted []string
	for _, n := range names[:min(len(names), mostNames)] {
		quoted = append(quoted, fmt.Sprintf("%q", n))
	}
	if more := len(names) - len(quoted); more > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", more))
	}
	return Series("and", quoted)
}

// Series joins the parts of a sentence: "a", "a and b", "a, b, and c".
func Series(conjunction string, parts []string) string {
	switch n := len(parts); n {
	case 0:
		return ""
	case 1:
		return parts[0]
	case 2:
		return parts[0] + " " + conjunction + " " + parts[1]
	default:
		return strings.Join(parts[:n-1], ", ") + ", " + conjunction + " " + parts[n-1]
	}
}

// mostLines is how many items a message lists.
const mostLines = 20

// Lines lists items one a line, each after a marker. Of many, it has the first ones and the number of the
// others.
func Lines[T fmt.Stringer](marker string, items []T) string {
	var sb strings.Builder
	for _, item := range items[:min(len(items), mostLines)] {
		sb.WriteString("\n  " + marker + item.String())
	}
	if more := len(items) - mostLines; more > 0 {
		fmt.Fprintf(&sb, "\n  %sand %d more", marker, more)
	}
	return sb.String()
}
