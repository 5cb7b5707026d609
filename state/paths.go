package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
)

// appendPaths appends attribute paths in the form of the state file: a list of lists of steps. A step into
// a set has no such form, since its key is the element's value. The path then ends before it, which hides
// more rather than less.
//
//	[[{"type":"get_attr","value":"tags"},{"type":"index","value":{"value":"key","type":"string"}}]]
func appendPaths(b []byte, paths []cty.Path) []byte {
	b = append(b, '[')
	for i, p := range paths {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPath(b, p)
	}
	return append(b, ']')
}

// appendPath appends one path of appendPaths.
func appendPath(b []byte, p cty.Path) []byte {
	b = append(b, '[')
	for j, step := range p {
		mark := len(b)
		if j > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = appendStep(b, step); !ok {
			b = b[:mark]
			break
		}
	}
	return append(b, ']')
}

// appendStep appends one step of a path, and returns false if the step has no stored form.
func appendStep(b []byte, step cty.PathStep) ([]byte, bool) {
	switch step := step.(type) {
	case cty.GetAttrStep:
		b = append(b, `{"type":"get_attr","value":`...)
		return append(appendString(b, step.Name), '}'), true
	case cty.IndexStep:
		key := step.Key
		if key == cty.NilVal || key.IsMarked() || !key.IsKnown() || key.IsNull() {
			return b, false
		}
		var name string
		switch key.Type() {
		case cty.String:
			name = "string"
		case cty.Number:
			name = "number"
		default:
			return b, false
		}
		v, err := ctyjson.Marshal(key, key.Type())
		if err != nil {
			return b, false
		}
		b = append(append(b, `{"type":"index","value":{"value":`...), v...)
		return append(append(append(b, `,"type":"`...), name...), `"}}`...), true
	default:
		return b, false
	}
}

// stepJSON is a step of an attribute path in the state file.
type stepJSON struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// parsePaths reads the form that appendPaths writes.
func parsePaths(src string) ([]cty.Path, error) {
	if src == "" || src == "[]" || src == "null" {
		return nil, nil
	}
	var raw [][]stepJSON
	if err := json.Unmarshal([]byte(src), &raw); err != nil {
		return nil, errors.New("its list of sensitive attributes is not in the form of paths")
	}
	paths := make([]cty.Path, len(raw))
	for i, steps := range raw {
		p, err := parsePath(steps)
		if err != nil {
			return nil, fmt.Errorf("its list of sensitive attributes: %w", err)
		}
		paths[i] = p
	}
	return paths, nil
}

// parsePath converts the steps of one path.
func parsePath(steps []stepJSON) (cty.Path, error) {
	p := make(cty.Path, len(steps))
	for i, s := range steps {
		step, err := s.parse()
		if err != nil {
			return nil, err
		}
		p[i] = step
	}
	return p, nil
}

// parse converts a step. Its errors are clauses for a sentence and contain no keys.
func (s stepJSON) parse() (cty.PathStep, error) {
	switch s.Type {
	case "get_attr":
		var name string
		if err := json.Unmarshal(s.Value, &name); err != nil {
			return nil, errors.New("an attribute's name must be a string")
		}
		return cty.GetAttrStep{Name: name}, nil
	case "index":
		if string(bytes.TrimSpace(s.Value)) == "null" || len(s.Value) == 0 {
			return nil, errors.New("an index step needs a key")
		}
		key, err := jsonvalue.Unmarshal(s.Value, cty.DynamicPseudoType)
		if err != nil || key.IsNull() || key.Type() != cty.String && key.Type() != cty.Number {
			return nil, errors.New("an index must be a string or a number")
		}
		return cty.IndexStep{Key: key}, nil
	default:
		return nil, fmt.Errorf("unknown kind of step %q", s.Type)
	}
}
