// Package schemas has the JSON schemas of the documents that the program writes. The files beside this one
// are the only form of them: the program prints them, and tests check documents by them.
//
// As published, they allow members that they do not know, since later versions may add some. Tests are
// stricter: see internal/testing/schematest.
//
// It may import nothing. It must not know how documents are made.
package schemas

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// Base is the beginning of the identifiers of schemas, before the names of files.
const Base = "https://raw.githubusercontent.com/mayfly-iac/mayfly/main/docs/schemas/"

// Common is the name of the schema that no document has: the others refer to its parts.
const Common = "common"

// Names returns the names of all schemas, in order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // embedded files can be read
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(out) // the order of files is another one
	return out
}

// Read returns the text of a schema; ok is false if there is none of the name.
func Read(name string) (text []byte, ok bool) {
	text, err := files.ReadFile(name + ".json")
	return text, err == nil
}
