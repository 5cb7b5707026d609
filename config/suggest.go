package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
)

// Prefix returns what references of a kind begin with, for a word that people write in its place; "" if the
// word is none of these.
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

// literals are what words of other languages are called here.
var literals = map[string]string{
	"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false",
	"null": "null", "none": "null", "nil": "null", "undefined": "null",
}

// MeantBy returns sentences, after a space, on what someone may have meant who wrote a single word where a
// reference is expected, or as an interpolation.
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

// named returns the references to what has the name.
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
