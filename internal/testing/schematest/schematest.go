// Package schematest checks documents of the program by their JSON schemas, in tests.
//
// The published schemas allow members that they do not know. Here they allow none: a document with a member
// that is not described is an error, and so is a word that a schema does not list.
//
// It may import the schemas. It must not know how documents are made.
package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mayfly-iac/mayfly/docs/schemas"
	"github.com/mayfly-iac/mayfly/internal/testing/schematest/checker"
)

// Compile returns the schemas by name, as published or strict.
func Compile(strict bool) (map[string]*jsonschema.Schema, error) {
	c := newCompiler(strict)
	out := map[string]*jsonschema.Schema{}
	for _, name := range schemas.Names() {
		s, err := c.Compile(address(name)) // checks it by the metaschema
		if err != nil {
			return nil, err
		}
		out[name] = s
	}
	return out, nil
}

// address returns the identifier of a schema.
func address(name string) string { return schemas.Base + name + ".json" }

func newCompiler(strict bool) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(loader{strict})
	return c
}

// loader reads the schemas that are compiled, and those that they refer to.
type loader struct{ strict bool }

// Load returns the schema of an identifier. It may be called concurrently.
func (l loader) Load(url string) (any, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(url, schemas.Base), ".json")
	text, ok := schemas.Read(name)
	if !ok {
		return nil, fmt.Errorf("there is no schema %s", name)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s.json: %w", name, err)
	}
	if l.strict {
		restrict(doc, false)
	}
	return doc, nil
}

// restrict closes the objects of a schema, and makes of examples the only words. A schema whose parts depend
// on conditions is closed as a whole; part says that this one is such a part.
func restrict(schema any, part bool) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	_, object := s["properties"]
	_, whole := s["allOf"]
	switch {
	case whole && object:
		s["unevaluatedProperties"] = false
		closeTypes(s)
	case object && !part && s["additionalProperties"] == nil:
		s["additionalProperties"] = false
	}
	if words, ok := s["examples"].([]any); ok && s["type"] == "string" {
		s["enum"] = words
	}
	for _, key := range []string{"properties", "$defs"} {
		if all, ok := s[key].(map[string]any); ok {
			for _, one := range all {
				restrict(one, false)
			}
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		restrict(s[key], false)
	}
	for _, key := range []string{"if", "then"} {
		restrict(s[key], true)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if all, ok := s[key].([]any); ok {
			for _, one := range all {
				restrict(one, key == "allOf")
			}
		}
	}
}

// closeTypes allows only the types of a line that have a condition.
func closeTypes(s map[string]any) {
	var known []any
	for _, one := range s["allOf"].([]any) {
		condition := one.(map[string]any)["if"].(map[string]any)["properties"].(map[string]any)
		known = append(known, condition["type"].(map[string]any)["const"])
	}
	s["properties"].(map[string]any)["type"].(map[string]any)["enum"] = known
}

// strict compiles schemas when they are needed: most programs that check write one kind of document.
var strict = struct {
	sync.Mutex
	*jsonschema.Compiler
}{Compiler: newCompiler(true)}

// Check returns an error for a document that violates its schema. It may be called concurrently.
func Check(name string, doc []byte) error {
	strict.Lock()
	s, err := strict.Compile(address(name)) // which remembers compiled schemas
	strict.Unlock()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err == nil {
		err = s.Validate(value)
	}
	if err != nil {
		return fmt.Errorf("this is not as docs/schemas/%s.json says: %w\n%.4000s", name, err, doc)
	}
	return nil
}

// Judge checks a document in one of the ways of the functions below. It may be called concurrently.
func Judge(r checker.Request) (schema string, err error) {
	if r.Args != nil {
		return Output(r.Args, r.Text)
	}
	if r.Schema == "" {
		r.Schema = File(r.Text)
	}
	return r.Schema, Check(r.Schema, r.Text)
}

// CheckLines checks each line of a stream of events.
func CheckLines(stream []byte) error {
	for line := range bytes.Lines(stream) {
		if err := Check("events", line); err != nil {
			return err
		}
	}
	return nil
}

// Output checks the standard output of a command by its arguments, which begin with the command, and returns
// the name of the schema, "" if the output is not one of the program's documents.
func Output(args []string, out []byte) (string, error) {
	name := schemaOf(args, out)
	switch {
	case name == "" || len(bytes.TrimSpace(out)) == 0:
		return "", nil
	case name == "events":
		return name, CheckLines(out)
	case slices.Contains(args, "state") && name == "state":
		first, rest, _ := bytes.Cut(out, []byte("\n")) // the version comes before the document
		if err := Check("events", first); err != nil {
			return "", err
		}
		if len(rest) > 0 && !bytes.Contains(rest, []byte(`"format_version"`)) {
			return "events", CheckLines(rest)
		}
		return name, Check(name, rest)
	}
	return name, Check(name, out)
}

// schemaOf returns the name of the schema for the output of a command with -json.
func schemaOf(args []string, out []byte) string {
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(words) == 0 {
		words = []string{"version"} // as an option of the program
	}
	begins := func(command ...string) bool {
		return len(words) >= len(command) && slices.Equal(words[:len(command)], command)
	}
	switch {
	case begins("state", "pull"):
		return File(out)
	case begins("metadata", "schemas") && len(words) > 2:
		return ""
	case begins("metadata") && len(words) > 1:
		return words[1]
	case begins("output") && len(words) > 1, begins("console"):
		return "" // a value
	case begins("output"):
		return "outputs"
	case begins("validate"):
		return "validation"
	case begins("workspace", "list") && bytes.Contains(out, []byte(`"is_current"`)):
		return "workspaces"
	case begins("version"):
		return "version"
	case begins("doctor"):
		return "examination"
	case begins("explain"):
		return "explanation"
	case begins("providers", "schema"):
		return "provider-schemas"
	case begins("state", "diff"):
		return "state-diff"
	case begins("state", "history") && len(words) > 2:
		return "object-history"
	case begins("state", "history"):
		return "run-history"
	case begins("state", "query"):
		return "query-result"
	case begins("state", "runs"):
		return "active-runs"
	case begins("state", "sensitive"):
		return "sensitive-attributes"
	case begins("show"), begins("state", "show"):
		return shown(args, out)
	}
	return "events"
}

// shown returns the name of the schema for the output of the command show.
func shown(args []string, out []byte) string {
	for _, a := range args {
		if a = strings.TrimLeft(a, "-"); a == "config" || a == "module" || strings.HasPrefix(a, "module=") {
			return "configuration"
		}
	}
	if bytes.Contains(out, []byte(`"planned_values":`)) {
		return "plan"
	}
	return "state"
}

// File returns the name of the schema of a stored file: a state or an encrypted file. It returns "" for a
// state in a form that is not written any more.
func File(text []byte) string {
	var head struct {
		Version   int    `json:"version"`
		Encrypted string `json:"encryption_version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return ""
	}
	switch {
	case head.Encrypted != "":
		return "encrypted-file"
	case head.Version == 4:
		return "state-file"
	default:
		return ""
	}
}
