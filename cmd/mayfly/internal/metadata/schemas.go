package metadata

import (
	"bytes"
	"encoding/json"

	"github.com/mayfly-iac/mayfly/docs/schemas"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// Schemas returns the JSON document of all schemas by name, on one line.
func Schemas() ([]byte, error) {
	all := map[string]json.RawMessage{}
	for _, name := range schemas.Names() {
		all[name], _ = schemas.Read(name)
	}
	return json.Marshal(struct {
		FormatVersion string                     `json:"format_version"`
		Schemas       map[string]json.RawMessage `json:"schemas"`
	}{"1.0", all})
}

// toFile is a reference of a schema to another file.
var toFile = pattern.New(`"\$ref": "([a-z-]+)\.json`)

// Schema returns one schema that stands for itself: those that it refers to are among its definitions. It
// returns false if there is none of the name.
func Schema(name string) (doc []byte, ok bool, err error) {
	text, ok := schemas.Read(name)
	if !ok {
		return nil, false, nil
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, true, err
	}
	defs := map[string]json.RawMessage{}
	if own := whole["$defs"]; own != nil {
		if err := json.Unmarshal(own, &defs); err != nil {
			return nil, true, err
		}
	}
	addReferenced(defs, name, text)
	if len(defs) > 0 {
		if whole["$defs"], err = json.Marshal(defs); err != nil {
			return nil, true, err
		}
	}
	var out bytes.Buffer
	compact, err := json.Marshal(whole)
	if err == nil {
		err = json.Indent(&out, compact, "", "  ")
	}
	return out.Bytes(), true, err
}

// addReferenced adds the schemas that a text refers to, and those that they refer to. References find them by
// their identifiers.
func addReferenced(defs map[string]json.RawMessage, root string, text []byte) {
	for _, m := range toFile().FindAllSubmatch(text, -1) {
		name := string(m[1])
		key := name + ".json"
		if other, ok := schemas.Read(name); ok && name != root && defs[key] == nil {
			defs[key] = other
			addReferenced(defs, root, other)
		}
	}
}
