package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
)

// Prefix returns the beginning of references of a kind, for a word that users write in its place, or "" for
// any other word.
func Prefix(word string) string {
	switch word {
	case "variable", "variables", "vars", "input", "inputs":
		return "var"
	case "locals":
		return "local"
	case "modules":
		return "module"
	}
	return ""
}

// literals maps words of other languages to words of this one.
var literals = map[string]string{
	"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false",
	"null": "null", "none": "null", "nil": "null", "undefined": "null",
}

// MeantBy returns sentences, preceded by a space, on the possible meaning of a single word where a reference
// is expected, or in an interpolation. It tries, in this order: an object of that name, a resource type, a
// literal of another language, and a similar name. It is never empty.
func (m *Module) MeantBy(word string, interpolated bool) string {
	if meant := m.named(word); len(meant) > 0 {
		return " Did you mean " + diag.Series("or", meant) + "?"
	}
	for _, r := range m.Order {
		if r.Addr.Type == word {
			return fmt.Sprintf(" It is a type: a reference has the name of an object as well, such as %s.", r.Addr)
		}
	}
	if literal := literals[strings.ToLower(word)]; literal != "" {
		return " Did you mean " + literal + "?"
	}
	if near := diag.Nearest(word, slices.Collect(maps.Keys(m.Variables))); near != "" {
		return " Did you mean var." + near + "?"
	}
	if near := diag.Nearest(word, slices.Collect(maps.Keys(m.Locals))); near != "" {
		return " Did you mean local." + near + "?"
	}
	if interpolated {
		return fmt.Sprintf(" If it is meant for another language, such as that of a shell, double the dollar sign: $${%s}. If it is a reference, write what it refers to in full, such as var.NAME, local.NAME, or TYPE.NAME for a resource.", word)
	}
	return fmt.Sprintf(" If it is text, write it in quotes: %q. If it is a reference, write what it refers to in full, such as var.NAME, local.NAME, or TYPE.NAME for a resource.", word)
}

// named returns the references to objects with the name.
func (m *Module) named(name string) []string {
	var out []string
	if m.Variables[name] != nil {
		out = append(out, "var."+name)
	}
	if m.Locals[name] != nil {
		out = append(out, "local."+name)
	}
	if m.Calls[name] != nil {
		out = append(out, "module."+name)
	}
	for _, r := range m.Order {
		if r.Addr.Name == name {
			out = append(out, r.Addr.String())
		}
	}
	return out
}
