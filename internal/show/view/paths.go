package view

import (
	"strconv"

	"github.com/zclconf/go-cty/cty"
)

// paths is a tree of the attribute paths that force a replacement; differs walk it beside the values. The nil
// tree is empty. A path into a set ends at the set, whose elements have no keys.
type paths struct {
	end  bool
	next map[string]*paths
}

// newPaths returns the tree of the paths in a list, nil if the list is empty. A path that leads through an
// unknown or non-scalar key ends before it.
func newPaths(list []cty.Path) *paths {
	if len(list) == 0 {
		return nil
	}
	root := &paths{}
	for _, p := range list {
		at := root
		for _, step := range p {
			key, ok := stepKey(step)
			if !ok {
				break
			}
			if at.next == nil {
				at.next = map[string]*paths{}
			}
			if at.next[key] == nil {
				at.next[key] = &paths{}
			}
			at = at.next[key]
		}
		at.end = true
	}
	return root
}

// stepKey returns the key of a step in the tree, false if it has none. Attributes and string keys share the
// prefix ".", because maps and objects are looked up alike; numbers have none, so that ["1"] and [1]
// differ.
func stepKey(step cty.PathStep) (string, bool) {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return "." + step.Name, true
	case cty.IndexStep:
		k, _ := step.Key.Unmark()
		switch {
		case !k.IsKnown() || k.IsNull():
			return "", false
		case k.Type() == cty.String:
			return "." + k.AsString(), true
		case k.Type() == cty.Number:
			n, _ := k.AsBigFloat().Int64()
			return strconv.FormatInt(n, 10), true
		}
	}
	return "", false
}

// here reports whether a path ends here: a change of this value forces a replacement.
func (p *paths) here() bool { return p != nil && p.end }

// key returns the paths below an attribute or the element of a map.
func (p *paths) key(k string) *paths {
	if p == nil {
		return nil
	}
	return p.next["."+k]
}

// index returns the paths below the element of a list.
func (p *paths) index(i int) *paths {
	if p == nil {
		return nil
	}
	return p.next[strconv.Itoa(i)]
}
