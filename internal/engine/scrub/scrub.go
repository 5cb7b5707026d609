package scrub

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// Scrubber takes values out of write-only attributes of stored objects. It remembers its results, so that an
// object that several states share is shared afterwards too. It belongs to one goroutine. It enforces E62:
// whatever wrote the state, a write-only value in it goes no further.
type Scrubber struct {
	options Options
	types   map[typeKey]*knownType
	done    map[*state.Object]*state.Object
}

// Options are the parameters of a Scrubber.
type Options struct {
	// Schema returns the schema of a managed resource type; nil if nothing is known of it.
	Schema func(p addr.Provider, typeName string) *schema.Schema
	// Absent returns the attributes that stored objects of the provider omit if they are null.
	Absent func(p addr.Provider) []string
}

// New returns a Scrubber.
func New(opt Options) *Scrubber {
	return &Scrubber{options: opt, types: map[typeKey]*knownType{}, done: map[*state.Object]*state.Object{}}
}

// typeKey identifies a resource type. Two providers may have types of the same name.
type typeKey struct {
	provider addr.Provider
	name     string
}

// knownType has the schema of a type. The zero value stands for an unknown type, or one without write-only
// attributes.
type knownType struct {
	*schema.Schema
	names [][]byte // of write-only attributes, as they are in stored objects
}

// State returns s without the values of write-only attributes, s itself if there are none, and calls found
// with the address and the paths of the values it takes out. s is not changed. Objects of unknown types, or
// that their provider must upgrade first, are left as they are.
func (c *Scrubber) State(s *state.State, found func(addr.Object, []cty.Path)) *state.State {
	if !c.concerns(s) {
		return s
	}
	out := s
	change := func(obj addr.Object, o *state.Object, in *state.Instance) {
		n := c.object(obj, o, in.Provider.Provider, found)
		if n == o {
			return
		}
		if out == s {
			out = s.Copy()
		}
		out.SetObject(obj, n, in.Provider)
	}
	for i, in := range s.AllInstances() {
		if i.Resource.Mode != addr.Managed || c.schema(in.Provider.Provider, i.Resource.Type).names == nil {
			continue
		}
		if in.Current != nil {
			change(addr.Object{Instance: i}, in.Current, in)
		}
		for key, o := range in.Deposed {
			change(addr.Object{Instance: i, Deposed: key}, o, in)
		}
	}
	return out
}

// concerns reports whether s has an object of a type with write-only attributes.
func (c *Scrubber) concerns(s *state.State) bool {
	for a, r := range s.Resources {
		if a.Mode != addr.Managed {
			continue
		}
		for _, in := range r.Instances {
			if c.schema(in.Provider.Provider, a.Type).names != nil {
				return true
			}
		}
	}
	return false
}

// object returns o without the values of its write-only attributes, o itself if there are none, or if its
// provider must upgrade it first.
func (c *Scrubber) object(obj addr.Object, o *state.Object, p addr.Provider, found func(addr.Object, []cty.Path)) *state.Object {
	s := c.schema(p, obj.Resource.Type)
	if o.SchemaVersion != s.Version || o.Flatmap != nil || !s.mayHold(o.JSON()) {
		return o
	}
	v, err := o.DecodeUnmarked(s.Block.Type())
	if err != nil {
		return o
	}
	paths := s.Block.WriteOnlyPaths(v)
	if len(paths) > 0 {
		found(obj, paths)
	}
	if n := c.done[o]; n != nil {
		return n
	}
	v = value.MarkPaths(s.Block.NullWriteOnly(v), s.Block.OutsideWriteOnly(o.Sensitive), value.Sensitive)
	d, err := value.Seal(v, s.Block.Type(), s.Block)
	if err != nil {
		return o
	}
	n, err := o.WithValue(d, c.options.Absent(p)...)
	if err != nil {
		return o
	}
	c.done[o] = n
	return n
}

// schema returns the known type of the given name, made on first use.
func (c *Scrubber) schema(p addr.Provider, typeName string) *knownType {
	key := typeKey{p, typeName}
	if s := c.types[key]; s != nil {
		return s
	}
	s := &knownType{Schema: c.options.Schema(p, typeName)}
	if s.Schema != nil && s.Block.HasWriteOnly() {
		for name := range s.Block.WriteOnlyNames() {
			s.names = append(s.names, []byte(fmt.Sprintf("%q:", name)))
		}
	}
	c.types[key] = s
	return s
}

// mayHold reports whether the attributes of an object, which are compact JSON, may have a value in a
// write-only attribute. It is much cheaper than decoding them. Another attribute may have the same name, or a
// text contain it, so true is not certain; false is.
func (s *knownType) mayHold(attrs []byte) bool {
	for _, name := range s.names {
		for rest := attrs; ; {
			_, after, found := bytes.Cut(rest, name)
			if !found {
				break
			}
			if !bytes.HasPrefix(after, []byte("null")) {
				return true
			}
			rest = after
		}
	}
	return false
}

// Warning warns of values that the state has in write-only attributes of an object.
func Warning(obj addr.Object, paths []cty.Path) diag.List {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = schema.PathString(path)
	}
	return diag.List{{
		Severity: diag.Warning, Summary: "State holds a write-only value",
		Detail: fmt.Sprintf("The state has a value for %s of %s, which is write-only and belongs in no state. It is treated as null, and is removed when the state is next written. Backups and older versions of the state still have it, so replace the secret.",
			strings.Join(names, ", "), obj),
		Address: obj.Instance.String(),
	}}
}
