package schema

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// attrWalk visits the attributes of an object together with their schemas. Paths given to visit are only
// valid during the call. Inside a set, paths end at the set: its elements have no keys but themselves, which
// would put their content into the path. want decides by the traits of a part whether it is walked through at
// all. block, which may be nil, is called for each nested block before its attributes.
type attrWalk struct {
	want  func(traits) bool
	visit func(path cty.Path, a *Attribute, v cty.Value)
	block func(path cty.Path, b *Block, v cty.Value)
	inSet bool
}

// ofBlock visits the attributes of an object that a block describes, at any depth.
func (w attrWalk) ofBlock(b *Block, path cty.Path, v cty.Value) {
	v, _ = v.Unmark()
	if !w.want(b.known().has) || !isOpen(v) || !v.Type().IsObjectType() {
		return
	}
	for i, name := range b.known().attrNames {
		if w.want(b.known().attrTraits[i]) {
			w.attr(b.Attributes[name], name, path, v)
		}
	}
	for _, name := range b.known().blockNames {
		nested := b.Blocks[name]
		if !has(v, name) {
			continue
		}
		w.each(nested.Nesting, w.at(path, name), v.GetAttr(name), func(w attrWalk, path cty.Path, one cty.Value) {
			if w.block != nil {
				w.block(path, &nested.Block, one)
			}
			w.ofBlock(&nested.Block, path, one)
		})
	}
}

// at returns the path of an attribute; within a set, the path of the set.
func (w attrWalk) at(path cty.Path, name string) cty.Path {
	if w.inSet {
		return path
	}
	return append(path, cty.GetAttrStep{Name: name})
}

// attr visits one attribute and the nested ones.
func (w attrWalk) attr(a *Attribute, name string, path cty.Path, object cty.Value) {
	if !has(object, name) {
		return
	}
	path, v := w.at(path, name), object.GetAttr(name)
	w.visit(path, a, v)
	if a.Nested == nil {
		return
	}
	w.each(a.Nested.Nesting, path, v, func(w attrWalk, path cty.Path, one cty.Value) {
		w.ofObject(a.Nested, path, one)
	})
}

// ofObject visits the attributes of one object of a nested attribute.
func (w attrWalk) ofObject(o *Object, path cty.Path, v cty.Value) {
	v, _ = v.Unmark()
	if !isOpen(v) || !v.Type().IsObjectType() {
		return
	}
	for _, name := range o.names() {
		if a := o.Attributes[name]; w.want(a.traits()) {
			w.attr(a, name, path, v)
		}
	}
}

// each calls f for each object in v. Nothing is known about the objects of unknown collections.
func (w attrWalk) each(nesting Nesting, path cty.Path, v cty.Value, f func(attrWalk, cty.Path, cty.Value)) {
	v, _ = v.Unmark()
	if !isOpen(v) {
		return
	}
	if nesting == Single || nesting == Group {
		f(w, path, v)
		return
	}
	if !v.CanIterateElements() {
		return
	}
	w.inSet = w.inSet || v.Type().IsSetType()
	for it := v.ElementIterator(); it.Next(); {
		key, one := it.Element()
		if w.inSet {
			f(w, path, one)
		} else {
			f(w, append(path, stepTo(v.Type(), key)), one)
		}
	}
}

// isOpen reports whether an unmarked value has content to look at.
func isOpen(v cty.Value) bool { return v != cty.NilVal && v.IsKnown() && !v.IsNull() }

// stepTo is the path step to the element with the given key of a value of type typ.
func stepTo(typ cty.Type, key cty.Value) cty.PathStep {
	if typ.IsObjectType() {
		return cty.GetAttrStep{Name: key.AsString()}
	}
	return cty.IndexStep{Key: key}
}

// paths collects distinct paths from a walk, which visits equal ones in a row.
type paths []cty.Path

// add adds a copy of a path. It returns false for one that is already there.
func (p *paths) add(path cty.Path) bool {
	if n := len(*p); n > 0 && (*p)[n-1].Equals(path) {
		return false
	}
	*p = append(*p, path.Copy())
	return true
}

// WriteOnlyPaths returns the paths of all write-only attributes that are not null in v, an object of the
// block's type. Unknown values count as not null. For an attribute within a set the path leads to the set;
// attributes within a write-only one are left out.
func (b *Block) WriteOnlyPaths(v cty.Value) []cty.Path {
	if b.plainlyNull(v) {
		return nil
	}
	var found paths
	attrWalk{
		want: func(t traits) bool { return t.writeOnly },
		visit: func(path cty.Path, a *Attribute, v cty.Value) {
			v, _ = v.Unmark()
			if n := len(found); n > 0 && path.HasPrefix(found[n-1]) {
				return
			}
			if a.WriteOnly && !v.IsNull() {
				found.add(path)
			}
		},
	}.ofBlock(b, nil, v)
	return found
}

// plainlyNull reports whether all write-only attributes in v are null, if that is seen without a walk: v has
// no mark, and there are none deeper down.
func (b *Block) plainlyNull(v cty.Value) bool {
	if v == cty.NilVal || v.IsMarked() {
		return false
	}
	for _, name := range b.content().writeOnly {
		if a := b.Attributes[name]; a == nil || !a.WriteOnly {
			return false
		}
		if one := part(v, name); one != cty.NilVal && !one.IsNull() {
			return false
		}
	}
	return true
}

// SensitivePaths returns the paths of all attributes in v that the schema calls sensitive, whether they are
// null or not. For an attribute within a set the path leads to the set.
func (b *Block) SensitivePaths(v cty.Value) []cty.Path {
	if !b.HasSensitive() {
		return nil
	}
	var found paths
	attrWalk{
		want: func(t traits) bool { return t.sensitive },
		visit: func(path cty.Path, a *Attribute, _ cty.Value) {
			if a.Sensitive {
				found.add(path)
			}
		},
	}.ofBlock(b, nil, v)
	return found
}

// NullRequired returns the paths of the required attributes that are null in v. For an attribute within a set
// the path leads to the set.
func (b *Block) NullRequired(v cty.Value) []cty.Path {
	var found paths
	attrWalk{
		want: func(traits) bool { return true },
		visit: func(path cty.Path, a *Attribute, v cty.Value) {
			if v, _ = v.Unmark(); a.Required && v.IsNull() {
				found.add(path)
			}
		},
	}.ofBlock(b, nil, v)
	return found
}

// DeprecatedUses returns a warning for each deprecated attribute that is not null in v and for each
// deprecated block, with its path.
func (b *Block) DeprecatedUses(v cty.Value) diag.List {
	if !b.known().has.deprecated {
		return nil
	}
	var found paths
	var list diag.List
	warn := func(path cty.Path, what, message string) {
		if !found.add(path) {
			return
		}
		if message == "" {
			message = "The provider no longer recommends " + PathString(path) + " and gives no alternative."
		}
		list = append(list, diag.Diagnostic{
			Severity: diag.Warning, Summary: what + " is deprecated", Detail: message, Path: found[len(found)-1],
		})
	}
	attrWalk{
		want: func(t traits) bool { return t.deprecated },
		visit: func(path cty.Path, a *Attribute, v cty.Value) {
			if v, _ = v.Unmark(); a.Deprecated && !v.IsNull() {
				warn(path, "Argument", a.DeprecationMessage)
			}
		},
		block: func(path cty.Path, b *Block, v cty.Value) {
			if v, _ = v.Unmark(); b.Deprecated && !v.IsNull() {
				warn(path, "Block", b.DeprecationMessage)
			}
		},
	}.ofBlock(b, nil, v)
	return list
}
