package arch

import (
	"maps"
	"regexp"
	"slices"
	"testing"
)

// standIns counts words of comments that stand for a noun the reader would rather see.
type standIns struct {
	what   int // "what": write the noun, and a verb in the active voice
	thatOf int // "that of", "those of" and "the one(s) of": repeat the noun
}

// maxStandIns bounds the stand-ins in the comments of each wing, without tests and generated code. The bounds
// may only fall.
var maxStandIns = map[string]standIns{
	"base":     {0, 0},
	"engine":   {0, 0},
	"install":  {1, 2},
	"language": {2, 0},
	"library":  {3, 0},
	"model":    {0, 0},
	"names":    {1, 0},
	"programs": {3, 0},
	"provider": {1, 0},
	"show":     {2, 0},
	"stores":   {0, 0},
	"testing":  {1, 0},
	"values":   {0, 0},
}

// slack is the share of a bound, in percent, by which a count may lie below it before the bound must fall.
const slack = 5

var (
	whatWord   = regexp.MustCompile(`(?i)\bwhat\b`)
	thatOfWord = regexp.MustCompile(`(?i)\b(?:that|those|the\s+ones?)\s+of\b`)
	anyWord    = regexp.MustCompile(`[\pL\pN][\pL\pN'_-]*`)
)

func countStandIns(text string) standIns {
	return standIns{len(whatWord.FindAllString(text, -1)), len(thatOfWord.FindAllString(text, -1))}
}

// TestStandIns keeps comments from falling back into a dialect in which pronouns stand for nouns. With -v, it
// prints the counts of each wing.
func TestStandIns(t *testing.T) {
	found, written := map[string]standIns{}, map[string]int{}
	for _, s := range sources(t) {
		if s.test || s.generated {
			continue
		}
		wing := inWing[s.pkg]
		for _, group := range s.file.Comments {
			n, sum := countStandIns(group.Text()), found[wing]
			found[wing] = standIns{sum.what + n.what, sum.thatOf + n.thatOf}
			written[wing] += len(anyWord.FindAllString(group.Text(), -1))
		}
	}
	for _, wing := range slices.Sorted(maps.Keys(written)) {
		n, limit := found[wing], maxStandIns[wing]
		t.Logf("%-10s %6d words, %3d \"what\", %3d \"that of\"", wing, written[wing], n.what, n.thatOf)
		checkStandIns(t, wing, `"what"`, n.what, limit.what)
		checkStandIns(t, wing, `"that of", "those of" or "the one of"`, n.thatOf, limit.thatOf)
	}
}

func checkStandIns(t *testing.T, wing, phrase string, n, limit int) {
	t.Helper()
	switch {
	case n > limit:
		t.Errorf("comments of the wing %q say %s %d times, more than %d: write the noun instead", wing, phrase, n, limit)
	case limit-n > limit*slack/100:
		t.Errorf("comments of the wing %q say %s only %d times: lower the limit of %d in maxStandIns", wing, phrase, n, limit)
	}
}

func TestCountStandIns(t *testing.T) {
	for text, want := range map[string]standIns{
		"":                                       {},
		"What it does is what counts.":           {what: 2},
		"whatever somewhat":                      {},
		"that of the plan, and those\nof a step": {thatOf: 2},
		"the one of the plan, the ones\nof a step": {thatOf: 2},
		"that often, the one often":                {},
	} {
		if got := countStandIns(text); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}
