package documents

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Difference is a place at which two documents differ. One side is "" if it has nothing there.
type Difference struct {
	Document string
	Path     string // such as .resource_changes[0].change.after
	One, Two string
}

// String tells the difference on one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s\n    %s\n    %s", d.Document, d.Path, orNothing(d.One), orNothing(d.Two))
}

func orNothing(s string) string {
	if s == "" {
		return "(absent)"
	}
	return s
}

// Rule is a deliberate difference: where it is, and why.
type Rule struct {
	Document *regexp.Regexp // matches the name of the document; nil for any
	Path     *regexp.Regexp
	Added    bool // only members that the first lacks
	Why      string
}

// Excuses reports whether the difference is the rule's.
func (r Rule) Excuses(d Difference) bool {
	return (r.Document == nil || r.Document.MatchString(d.Document)) && r.Path.MatchString(d.Path) && (!r.Added || d.One == "")
}

// Compare returns the differences between the documents of two runs of a case, in order.
func Compare(one, two []Document) []Difference {
	return CompareAs(func(v any) any { return v }, one, two)
}

// CompareAs is like Compare, for documents whose normal form is passed through a function.
func CompareAs(form func(any) any, one, two []Document) []Difference {
	var out []Difference
	for i := range max(len(one), len(two)) {
		if i >= len(one) || i >= len(two) || one[i].Name != two[i].Name {
			return append(out, Difference{"all", "", names(one[min(i, len(one)):]), names(two[min(i, len(two)):])})
		}
		out = append(out, compareOne(form, one[i], two[i])...)
	}
	return out
}

func names(docs []Document) string {
	var out []string
	for _, d := range docs {
		out = append(out, d.Name)
	}
	return strings.Join(out, ", ")
}

func compareOne(form func(any) any, one, two Document) []Difference {
	c := &comparison{document: one.Name}
	if one.Exit != two.Exit {
		c.add("exit", fmt.Sprint(one.Exit), fmt.Sprint(two.Exit))
	}
	if one.Kind == Status {
		return c.out
	}
	a, errA := normalise(one)
	b, errB := normalise(two)
	if errA != nil || errB != nil {
		if fmt.Sprint(errA) != fmt.Sprint(errB) || one.Out != two.Out {
			c.add("form", fmt.Sprint(errA, one.Out), fmt.Sprint(errB, two.Out))
		}
		return c.out
	}
	a, b = form(a), form(b)
	if one.Kind == Stream {
		c.streams(a.(map[string]any), b.(map[string]any))
	} else {
		c.values("", a, b)
	}
	return c.out
}

type comparison struct {
	document string
	out      []Difference
}

func (c *comparison) add(path, one, two string) {
	c.out = append(c.out, Difference{c.document, path, one, two})
}

func (c *comparison) streams(a, b map[string]any) {
	for _, key := range union(a, b) {
		c.values("<"+key+">", at(a, key), at(b, key))
	}
}

// absent stands for a key that is not there, which is not the same as null.
type absent struct{}

func (c *comparison) values(path string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			for _, key := range union(a, b) {
				c.values(path+"."+key, at(a, key), at(b, key))
			}
			return
		}
	case []any:
		if b, ok := b.([]any); ok {
			for i := range max(len(a), len(b)) {
				c.values(fmt.Sprintf("%s[%d]", path, i), element(a, i), element(b, i))
			}
			return
		}
	}
	if one, two := text(a), text(b); one != two {
		c.add(path, one, two)
	}
}

func union(a, b map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

func at(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return absent{}
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return absent{}
}

func text(v any) string {
	switch v.(type) {
	case absent:
		return ""
	case nil:
		return "null"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
