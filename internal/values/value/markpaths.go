package value

import "github.com/zclconf/go-cty/cty"

// MarkPaths returns v with the mark at each path that exists in it. It goes down the paths only, each step
// once, where the library compares every path with the path of every nested value.
func MarkPaths(v cty.Value, paths []cty.Path, m Mark) cty.Value {
	if len(paths) == 0 {
		return v
	}
	root := &markNode{}
	for _, p := range paths {
		if !root.add(p) {
			return markByLibrary(v, paths, m)
		}
	}
	return root.apply(v, m)
}

// markByLibrary marks the values at the paths with the function of cty, which also knows sets but compares
// each nested value with all the paths.
func markByLibrary(v cty.Value, paths []cty.Path, m Mark) cty.Value {
	pvm := make([]cty.PathValueMarks, len(paths))
	for i, p := range paths {
		pvm[i] = cty.PathValueMarks{Path: p, Marks: cty.NewValueMarks(m)}
	}
	return v.MarkWithPaths(pvm)
}

// markNode is a step of paths that begin alike.
type markNode struct {
	marked bool
	attrs  map[string]*markNode // attributes of an object
	keys   map[string]*markNode // keys of a map
	items  map[int]*markNode    // positions in a list or tuple
}

// add adds a path, unless it leads into a set.
func (n *markNode) add(p cty.Path) bool {
	for _, step := range p {
		switch step := step.(type) {
		case cty.GetAttrStep:
			n = next(&n.attrs, step.Name)
		case cty.IndexStep:
			key := step.Key
			if key.IsMarked() || !key.IsKnown() || key.IsNull() {
				return false
			}
			switch key.Type() {
			case cty.String:
				n = next(&n.keys, key.AsString())
			case cty.Number:
				at, accuracy := key.AsBigFloat().Int64()
				if accuracy != 0 {
					return false
				}
				n = next(&n.items, int(at))
			default:
				return false
			}
		default:
			return false
		}
	}
	n.marked = true
	return true
}

// next returns the child at the key, and makes it if there is none yet.
func next[K comparable](children *map[K]*markNode, key K) *markNode {
	if *children == nil {
		*children = map[K]*markNode{}
	}
	n := (*children)[key]
	if n == nil {
		n = &markNode{}
		(*children)[key] = n
	}
	return n
}

// apply returns v with m at every path below the node that v has. A path into an unknown or null value
// marks nothing below it.
func (n *markNode) apply(v cty.Value, m Mark) cty.Value {
	bare, marks := v.Unmark()
	if bare.IsKnown() && !bare.IsNull() {
		switch ty := bare.Type(); {
		case ty.IsObjectType() && len(n.attrs) > 0:
			v = cty.ObjectVal(applied(bare.AsValueMap(), n.attrs, m)).WithMarks(marks)
		case ty.IsMapType() && len(n.keys) > 0 && bare.LengthInt() > 0:
			v = cty.MapVal(applied(bare.AsValueMap(), n.keys, m)).WithMarks(marks)
		case ty.IsTupleType() && len(n.items) > 0:
			v = cty.TupleVal(n.appliedItems(bare.AsValueSlice(), m)).WithMarks(marks)
		case ty.IsListType() && len(n.items) > 0 && bare.LengthInt() > 0:
			v = cty.ListVal(n.appliedItems(bare.AsValueSlice(), m)).WithMarks(marks)
		case ty.IsSetType() && (len(n.keys) > 0 || len(n.items) > 0):
			v = n.inSet(v, m)
		}
	}
	if n.marked {
		v = v.Mark(m)
	}
	return v
}

// inSet has the library mark elements of a set of strings or numbers: the mark goes to the set.
func (n *markNode) inSet(v cty.Value, m Mark) cty.Value {
	var paths []cty.Path
	for key, child := range n.keys {
		if child.marked {
			paths = append(paths, cty.Path{cty.IndexStep{Key: cty.StringVal(key)}})
		}
	}
	for at, child := range n.items {
		if child.marked {
			paths = append(paths, cty.Path{cty.IndexStep{Key: cty.NumberIntVal(int64(at))}})
		}
	}
	return markByLibrary(v, paths, m)
}

// applied applies the children to the values with their names. It changes the map, which must be the
// caller's own.
func applied(values map[string]cty.Value, children map[string]*markNode, m Mark) map[string]cty.Value {
	for key, child := range children {
		if v, ok := values[key]; ok {
			values[key] = child.apply(v, m)
		}
	}
	return values
}

// appliedItems is applied for the elements of a list or tuple. Indexes outside of it are passed over.
func (n *markNode) appliedItems(values []cty.Value, m Mark) []cty.Value {
	for at, child := range n.items {
		if at >= 0 && at < len(values) {
			values[at] = child.apply(values[at], m)
		}
	}
	return values
}
