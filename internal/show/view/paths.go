package view

import (
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/plan"
)

// paths is a tree of the paths of attributes that a plan says something about besides their values; differs
// walk it beside the values. The nil tree is empty. A path into a set ends at the set, whose elements have no
// keys.
type paths struct {
	forces   bool                // the change of the value forces a replacement
	withheld plan.WithheldStatus // "" if the value is in the plan
	next     map[string]*paths
}

// newPaths returns the tree of a change's remarks about paths; nil if there are none.
func newPaths(c *plan.Change) *paths {
	if len(c.RequiredReplace) == 0 && len(c.Withheld) == 0 {
		return nil
	}
	root := &paths{}
	for _, p := range c.RequiredReplace {
		root.at(p).forces = true
	}
	for _, w := range c.Withheld {
		root.at(w.Path).withheld = w.Status
	}
	return root
}

// at returns the place of a path in the tree, which it makes. A path that leads through an unknown or
// non-scalar key ends before it.
func (p *paths) at(path cty.Path) *paths {
	for _, step := range path {
		key, ok := stepKey(step)
		if !ok {
			break
		}
		if p.next == nil {
			p.next = map[string]*paths{}
		}
		if p.next[key] == nil {
			p.next[key] = &paths{}
		}
		p = p.next[key]
	}
	return p
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
func (p *paths) here() bool { return p != nil && p.forces }

// status returns how a value that is kept out of the plan compares with the one before; "" if it is in the
// plan.
func (p *paths) status() plan.WithheldStatus {
	if p == nil {
		return ""
	}
	return p.withheld
}

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
