package secretscan

import (
	"cmp"
	"fmt"
	"slices"
)

// Scanner finds any number of secrets in one pass over a text. The zero value knows no secrets. Its methods
// may not be called concurrently with Add.
type Scanner struct {
	starts map[[Least]byte][]pattern
	may    [1 << 16]bool // by the first two bytes of the forms
}

// pattern is one form of a secret.
type pattern struct {
	secret string // its name
	form   string // its name
	text   string
}

// Finding is a secret in a text.
type Finding struct {
	Secret string // the name under which it was added
	Form   string // how it is spelled
	Entry  string // the entry of the archive in which it stands, "" if it is in the text itself
	Offset int    // in bytes, in the text or the entry
}

// String describes the finding without the secret.
func (f Finding) String() string {
	s := fmt.Sprintf("%s, %s, at byte %d", f.Secret, f.Form, f.Offset)
	if f.Entry != "" {
		s += " of its entry " + f.Entry
	}
	return s
}

// Add makes a secret known under a name, which findings have in its place. It panics if the secret is too
// short to be searched for, since a test would find nothing.
func (s *Scanner) Add(name, secret string) {
	if len(secret) < Least {
		panic("the secret " + name + " is too short to be searched for")
	}
	if s.starts == nil {
		s.starts = map[[Least]byte][]pattern{}
	}
	for form, text := range forms(secret) {
		s.may[prefix(text, 0)] = true
		start := [Least]byte([]byte(text))
		s.starts[start] = append(s.starts[start], pattern{name, form, text})
	}
}

// prefix is the first two bytes at a place.
func prefix[T string | []byte](text T, at int) int { return int(text[at])<<8 | int(text[at+1]) }

// Scan returns the first finding of each secret in each form, in the text and in files packed in it.
func (s *Scanner) Scan(text []byte) []Finding {
	var out []Finding
	s.scan(text, "", 0, &out)
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Secret, b.Secret), cmp.Compare(a.Form, b.Form))
	})
	return out
}

// scan searches a text, which is an entry of another at some depth, or at depth 0 the whole.
func (s *Scanner) scan(text []byte, entry string, depth int, out *[]Finding) {
	seen := map[[2]string]bool{}
	for i := 0; i+Least <= len(text); i++ {
		if !s.may[prefix(text, i)] {
			continue
		}
		for _, p := range s.starts[[Least]byte(text[i:])] {
			key := [2]string{p.secret, p.form}
			if !seen[key] && len(text)-i >= len(p.text) && string(text[i:i+len(p.text)]) == p.text {
				seen[key] = true
				*out = append(*out, Finding{Secret: p.secret, Form: p.form, Entry: entry, Offset: i})
			}
		}
	}
	if depth < maxDepth {
		for name, content := range unpacked(text) {
			s.scan(content, entry+name, depth+1, out)
		}
	}
}
