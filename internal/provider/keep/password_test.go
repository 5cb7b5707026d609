package keep

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPassword(t *testing.T) {
	h := newHost(t)
	o := mustOpen(h, "keep_password", attrs{})
	if got := o.result["result"].(string); len(got) != 24 || o.result["length"] != 24 || o.result["special"] != true || o.result["min_upper"] != 0 {
		t.Errorf("defaults: got %v, want a password of 24 characters with special ones, and no minimum of upper-case letters", o.result)
	}
	if again := mustOpen(h, "keep_password", attrs{}); again.result["result"] == o.result["result"] {
		t.Error("the same password twice")
	}
	o = mustOpen(h, "keep_password", attrs{"length": 40, "lower": false, "upper": false, "override_special": "é", "min_special": 39, "exclude": "02468", "min_numeric": 1})
	got := o.result["result"].(string)
	if utf8.RuneCountInString(got) != 40 || strings.Count(got, "é") != 39 || !strings.ContainsAny(got, "13579") {
		t.Errorf("got %q, want 40 characters: 39 times é and an odd digit", got)
	}
	if len(o.private) != 0 && strings.Contains(string(o.private), got) {
		t.Error("the private data holds the password")
	}
}

func TestImpossiblePasswords(t *testing.T) {
	h := newHost(t)
	for name, config := range map[string]attrs{
		"too short": {"length": 0}, "negative": {"length": -1}, "too long": {"length": 4097},
		"minimums": {"length": 4, "min_lower": 3, "min_upper": 2}, "negative minimum": {"min_lower": -1}, "huge minimum": {"min_lower": 1 << 60},
		"minimum of a class that is off": {"upper": false, "min_upper": 1},
		"nothing left":                   {"lower": false, "upper": false, "numeric": false, "special": false},
		"all excluded":                   {"lower": false, "upper": false, "special": false, "exclude": "0123456789"},
		"minimum of an excluded class":   {"min_numeric": 1, "exclude": "0123456789"},
		"no special characters":          {"lower": false, "upper": false, "numeric": false, "override_special": ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := h.open("keep_password", config)
			h.fails(diags, "Impossible password")
		})
	}
	if _, diags := h.open("keep_password", attrs{"length": 5, "min_lower": 3, "min_upper": 2}); len(diags) > 0 {
		t.Errorf("minimums that just fit: %s", texts(diags))
	}
}

// Whatever the recipe, the password has its length, its minimums, and no character from elsewhere.
func TestPasswordFollowsRecipe(t *testing.T) {
	alphabet := rapid.StringMatching(`[a-eéß0-9!?]{0,12}`)
	rapid.Check(t, func(rt *rapid.T) {
		r := recipe{length: rapid.Int64Range(1, 40).Draw(rt, "length")}
		for _, name := range []string{"one", "two", "three"} {
			r.classes = append(r.classes, class{
				name, rapid.Bool().Draw(rt, name),
				[]rune(alphabet.Draw(rt, name+" chars")), rapid.Int64Range(0, 8).Draw(rt, name+" min"),
			})
		}
		exclude := alphabet.Draw(rt, "exclude")
		if r.prepare(exclude) != nil {
			return
		}
		got, err := r.generate()
		if err != nil {
			rt.Fatal(err)
		}
		counted := int64(0)
		for _, c := range r.classes {
			n := int64(0)
			for _, ch := range got {
				if strings.ContainsRune(string(c.chars), ch) {
					n++
				}
			}
			if n < c.min {
				rt.Errorf("%q has %d of %s, wanted %d", got, n, c.name, c.min)
			}
			counted += n
		}
		// Classes don't overlap after preparation, so a character from elsewhere would leave the sum short.
		if int64(utf8.RuneCountInString(got)) != r.length || counted != r.length || (exclude != "" && strings.ContainsAny(got, exclude)) {
			rt.Errorf("got %q with %d characters of the classes, want %d, and none of %q", got, counted, r.length, exclude)
		}
	})
}

// Repeats in the alphabet must not make a character more likely: with 3 distinct ones each is drawn a third
// of the time.
func TestPasswordIsUnbiased(t *testing.T) {
	r := recipe{length: 4096, classes: []class{{"special", true, []rune("aaaaaaabc"), 0}, {"other", true, []rune("ab"), 0}}}
	if err := r.prepare(""); err != nil {
		t.Fatal(err)
	}
	counts := map[rune]int{}
	for range 10 {
		got, err := r.generate()
		if err != nil {
			t.Fatal(err)
		}
		for _, ch := range got {
			counts[ch]++
		}
	}
	// The standard deviation is about 95: the bounds are ten of them away.
	for _, ch := range "abc" {
		if n := counts[ch]; n < 12700 || n > 14600 {
			t.Errorf("%c was drawn %d times of 40960", ch, n)
		}
	}
}
