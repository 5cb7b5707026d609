package engine

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/contract"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/provider/processes"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/value"
)

// staleWriteOnly warns of values that the state has in write-only attributes of an object.
func staleWriteOnly(obj addr.Object, paths []cty.Path) diag.List {
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

// cleaner takes values out of write-only attributes of stored objects.
type cleaner struct {
	providers *processes.Set
	types     map[staleType]*staleSchema
	done      map[*state.Object]*state.Object
	found     func(addr.Object, []cty.Path) // what was taken out, by the address that the object has
}

type staleType struct {
	provider addr.Provider
	name     string
}

// staleSchema is what is known of a type. The zero value is that of a type without write-only attributes, or
// that nothing is known of.
type staleSchema struct {
	*schema.Schema
	names [][]byte // of write-only attributes, as they stand in stored objects
}

// dropWriteOnly takes out of the states that the plan keeps what another engine has left in write-only
// attributes: a saved plan would copy it. Planning has done so for the objects that it looked at, but only in
// what they become. Types of providers that planning had no use for are left as they are.
func (p *planner) dropWriteOnly() {
	c := &cleaner{providers: p.providers, types: map[staleType]*staleSchema{}, done: map[*state.Object]*state.Object{}}
	c.found = func(addr.Object, []cty.Path) {} // planning has warned of those that it looked at
	p.plan.Base = c.state(p.plan.Base)
	c.found = func(obj addr.Object, paths []cty.Path) { p.run.Report(staleWriteOnly(obj, paths)) }
	p.prior = c.state(p.prior)
}

// state returns s without what is in write-only attributes, s itself if there is nothing.
func (c *cleaner) state(s *state.State) *state.State {
	if !c.concerns(s) {
		return s
	}
	out := s
	change := func(obj addr.Object, o *state.Object, in *state.Instance) {
		n := c.object(obj, o, in.Provider.Provider)
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
func (c *cleaner) concerns(s *state.State) bool {
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

// object returns o without what is in its write-only attributes, o itself if there is nothing, or if its
// provider must upgrade it first.
func (c *cleaner) object(obj addr.Object, o *state.Object, p addr.Provider) *state.Object {
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
		c.found(obj, paths)
	}
	if n := c.done[o]; n != nil {
		return n
	}
	v = value.MarkPaths(s.Block.NullWriteOnly(v), contract.OutsideWriteOnly(s.Block, o.Sensitive), value.Sensitive)
	d, err := value.Seal(v, s.Block.Type(), s.Block)
	if err != nil {
		return o
	}
	n, err := o.WithValue(d)
	if err == nil && p == addr.BuiltinProvider {
		n, err = withoutAdditions(n)
	}
	if err != nil {
		return o
	}
	c.done[o] = n
	return n
}

func (c *cleaner) schema(p addr.Provider, typeName string) *staleSchema {
	key := staleType{p, typeName}
	if s := c.types[key]; s != nil {
		return s
	}
	s := &staleSchema{Schema: c.providers.Loaded(p, addr.Managed, typeName)}
	if s.Schema != nil && s.Block.HasWriteOnly() {
		for name := range s.Block.WriteOnlyNames() {
			s.names = append(s.names, []byte(fmt.Sprintf("%q:", name)))
		}
	}
	c.types[key] = s
	return s
}

// mayHold reports whether the attributes of an object, which are compact JSON, may have a value in a
// write-only attribute. It is much cheaper than decoding them.
func (s *staleSchema) mayHold(attrs []byte) bool {
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
