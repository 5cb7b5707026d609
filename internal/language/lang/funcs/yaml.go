package funcs

import (
	"bytes"
	"fmt"
	"strings"

	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v3"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// maxYAMLNodes bounds the values that a document has once its aliases are replaced by the nodes that they
// refer to.
const maxYAMLNodes = 1_000_000

// yamldecodeFunc is the library's, which replaces each alias by a copy and takes the square of the depth, on
// documents that have been checked for both.
var yamldecodeFunc = function.New(&function.Spec{
	Description: ctyyaml.YAMLDecodeFunc.Description(),
	Params:      ctyyaml.YAMLDecodeFunc.Params(),
	Type: func(args []cty.Value) (cty.Type, error) {
		if args[0].IsKnown() && !args[0].IsNull() {
			if err := checkYAML(args[0].AsString()); err != nil {
				return cty.NilType, function.NewArgError(0, err)
			}
		}
		return ctyyaml.YAMLDecodeFunc.ReturnTypeForValues(args)
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return ctyyaml.YAMLDecodeFunc.Call(args) },
})

// checkYAML returns an error if a document is nested too deep or its aliases would make too much of it.
// Errors of syntax are left to the decoder.
func checkYAML(text string) error {
	src := []byte(text)
	hasAliases := bytes.IndexByte(src, '&') >= 0 && bytes.IndexByte(src, '*') >= 0
	if !hasAliases && yamlLevels(src) <= bounds.MaxLevels {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		if strings.Contains(err.Error(), "exceeded max depth") {
			return bounds.ErrTooDeep
		}
		return nil
	}
	size := make(yamlSizes).of(&doc, 0)
	switch {
	case size.levels > bounds.MaxLevels:
		return fmt.Errorf("the document is nested more than %d levels deep", bounds.MaxLevels)
	case size.nodes > maxYAMLNodes:
		return fmt.Errorf("the document has more than %d values once its aliases are replaced by what they refer to", maxYAMLNodes)
	}
	return nil
}

// yamlLevels returns an upper bound of the nesting of a document: brackets, indentation, and items on one
// line.
func yamlLevels(src []byte) int {
	brackets, deepest, indent := 0, 0, 0
	for line := range bytes.Lines(src) {
		n := 0
		for i, c := range line {
			switch c {
			case '[', '{':
				brackets++
			case ' ', '\t':
				n++
			case '-', '?', ':':
				if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
					n++
				}
			}
		}
		indent = max(indent, n)
		deepest = max(deepest, brackets+indent)
	}
	return deepest
}

// yamlSize is the size of a node as if aliases were copies of their anchors.
type yamlSize struct{ nodes, levels int }

// yamlSizes are the sizes of anchored nodes, so that each is measured once. One that is being measured has
// none.
type yamlSizes map[*yaml.Node]yamlSize

// of returns the size of a node at a level. Neither number grows much beyond its bound.
func (s yamlSizes) of(n *yaml.Node, level int) yamlSize {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, ok := s[n]; ok {
		return size
	}
	size := yamlSize{nodes: 1, levels: 1}
	if level > bounds.MaxLevels {
		return yamlSize{nodes: 1, levels: bounds.MaxLevels + 1}
	}
	if n.Anchor != "" {
		s[n] = yamlSize{}
	}
	for _, child := range n.Content {
		below := s.of(child, level+1)
		size.nodes = min(size.nodes+below.nodes, maxYAMLNodes+1)
		size.levels = max(size.levels, min(below.levels+1, bounds.MaxLevels+1))
	}
	if n.Anchor != "" {
		s[n] = size
	}
	return size
}
