package state

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

// New returns an empty state.
func New() *State {
	return &State{Resources: map[addr.AbsResource]*Resource{}, Outputs: map[string]*Output{}}
}

// Empty reports whether s contains neither resources nor outputs. Check results and salts don't count.
func (s *State) Empty() bool { return len(s.Resources) == 0 && len(s.Outputs) == 0 }

// Instance returns a resource instance, or nil if s does not contain it. The caller must change it only
// through the methods of s.
func (s *State) Instance(a addr.Instance) *Instance {
	r := s.Resources[a.Abs()]
	if r == nil {
		return nil
	}
	return r.Instances[a.Key]
}

// Object returns one object, or nil if s does not contain it.
func (s *State) Object(a addr.Object) *Object {
	i := s.Instance(a.Instance)
	if i == nil {
		return nil
	}
	return i.object(a.Deposed)
}

// object returns the current or a deposed object, or nil.
func (i *Instance) object(d addr.Deposed) *Object {
	if d == addr.Current {
		return i.Current
	}
	return i.Deposed[d]
}

// become makes i the same as another instance.
func (i *Instance) become(other *Instance) {
	*i = *other
	i.Deposed = maps.Clone(other.Deposed)
}

func (i *Instance) empty() bool { return i.Current == nil && len(i.Deposed) == 0 }

// SetObject stores an object, replacing the one at its address, and assigns the whole instance to provider.
// A nil object removes it.
func (s *State) SetObject(a addr.Object, o *Object, provider addr.ProviderConfig) {
	if o == nil {
		s.RemoveObject(a)
		return
	}
	i := s.ensure(a.Instance)
	i.Provider = provider
	if a.Deposed == addr.Current {
		i.Current = o
		return
	}
	if i.Deposed == nil {
		i.Deposed = map[addr.Deposed]*Object{}
	}
	i.Deposed[a.Deposed] = o
}

// ensure returns the instance, after adding it if necessary. The caller must give it an object: a state has
// no instances without one.
func (s *State) ensure(a addr.Instance) *Instance {
	r := s.own(a.Abs())
	if r == nil {
		r = &Resource{Addr: a.Abs(), Instances: map[addr.Key]*Instance{}, owner: s.owner}
		s.Resources[a.Abs()] = r
	}
	i := r.Instances[a.Key]
	if i == nil {
		i = &Instance{}
		r.Instances[a.Key] = i
	}
	return i
}

// SetOutput stores an output of the root module. One with an unknown value is not stored; nil or a null value
// removes it.
func (s *State) SetOutput(name string, o *Output) {
	if o == nil {
		delete(s.Outputs, name)
		return
	}
	v, err := o.Value.Unmarked()
	if err != nil || v == cty.NilVal || !v.IsWhollyKnown() {
		return
	}
	if o.Value.IsNull() {
		delete(s.Outputs, name)
		return
	}
	if s.Outputs == nil {
		s.Outputs = map[string]*Output{}
	}
	s.Outputs[name] = o
}

// RemoveObject removes an object, and its instance and resource if it was their last. It does nothing if
// there is no such object.
func (s *State) RemoveObject(a addr.Object) {
	i := s.ownInstance(a.Instance)
	if i == nil {
		return
	}
	if a.Deposed == addr.Current {
		i.Current = nil
	} else {
		delete(i.Deposed, a.Deposed)
	}
	if i.empty() {
		s.RemoveInstance(a.Instance)
	}
}

// RemoveInstance removes an instance with all its objects.
func (s *State) RemoveInstance(a addr.Instance) {
	if s.Instance(a) == nil {
		return
	}
	r := s.own(a.Abs())
	delete(r.Instances, a.Key)
	if len(r.Instances) == 0 {
		delete(s.Resources, a.Abs())
	}
}

// Move changes the address of an instance with its deposed objects. It fails without changing s if from
// does not exist or to does.
func (s *State) Move(from, to addr.Instance) error {
	i := s.Instance(from)
	if i == nil {
		return fmt.Errorf("the state has no resource instance %s to move", from)
	}
	if s.Instance(to) != nil {
		return fmt.Errorf("cannot move %s to %s: the state already has a resource instance of that address", from, to)
	}
	s.RemoveInstance(from)
	s.ensure(to).become(i)
	return nil
}

// NewDeposedKey returns a key for a deposed object that taken does not report. It reads random, four bytes at
// a time.
func NewDeposedKey(taken func(addr.Deposed) bool, random io.Reader) (addr.Deposed, error) {
	for range 1000 {
		var b [4]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return "", fmt.Errorf("choosing a key for a deposed object: %w", err)
		}
		if key := addr.Deposed(hex.EncodeToString(b[:])); !taken(key) {
			return key, nil
		}
	}
	return "", errors.New("choosing a key for a deposed object: the source of randomness repeats itself")
}

// Copy returns a state that can be changed without changing s, and the other way round. It shares the
// resources with s until one of both changes them, so it takes time and memory for each resource, not for
// each instance.
func (s *State) Copy() *State {
	c := &State{Resources: maps.Clone(s.Resources), Outputs: maps.Clone(s.Outputs), Checks: slices.Clone(s.Checks), Salts: slices.Clone(s.Salts), Unrecorded: s.Unrecorded, owner: owners.Add(1)}
	if c.Resources == nil {
		c.Resources = map[addr.AbsResource]*Resource{}
	}
	if c.Outputs == nil {
		c.Outputs = map[string]*Output{}
	}
	atomic.StoreUint64(&s.owner, owners.Add(1)) // copies may be made side by side
	return c
}

// owners counts the numbers that say which state may change a resource in place.
var owners atomic.Uint64

// own returns a resource that s may change in place, nil if there is none: it replaces one that s shares with
// another state by a copy.
func (s *State) own(a addr.AbsResource) *Resource {
	r := s.Resources[a]
	if r == nil || r.owner == s.owner {
		return r
	}
	c := &Resource{Addr: r.Addr, Instances: make(map[addr.Key]*Instance, len(r.Instances)), extra: r.extra, owner: s.owner}
	for k, i := range r.Instances {
		c.Instances[k] = &Instance{}
		c.Instances[k].become(i)
	}
	s.Resources[a] = c
	return c
}

// ownInstance is own for an instance.
func (s *State) ownInstance(a addr.Instance) *Instance {
	if s.Instance(a) == nil {
		return nil
	}
	return s.own(a.Abs()).Instances[a.Key]
}

// AddSalts adds the salts that s lacks. They are never removed: without its salt, a fingerprint cannot be
// compared with anything.
func (s *State) AddSalts(salts ...fingerprint.Salt) {
	for _, salt := range salts {
		if !slices.ContainsFunc(s.Salts, func(have fingerprint.Salt) bool { return sameSalt(have, salt) }) {
			s.Salts = append(s.Salts, salt)
		}
	}
}

func sameSalt(a, b fingerprint.Salt) bool {
	return a.ID == b.ID && a.Scheme == b.Scheme && bytes.Equal(a.Bytes, b.Bytes)
}

// With returns a state that has the instances of both and nothing else. Where both have one, s counts.
func (s *State) With(other *State) *State {
	out := New()
	for _, st := range []*State{other, s} {
		for a, in := range st.AllInstances() {
			out.ensure(a).become(in)
		}
	}
	return out
}

// AllResources yields the resources in the order of the state file: by module, mode, type and name.
func (s *State) AllResources() iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) {
		byModule := s.ByModule()
		for _, m := range sortedModules(maps.Keys(byModule)) {
			for _, r := range byModule[m] {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// AllInstances yields the resource instances in the order of the state file. Changing s while it yields is
// allowed only for instances that were already yielded.
func (s *State) AllInstances() iter.Seq2[addr.Instance, *Instance] {
	return func(yield func(addr.Instance, *Instance) bool) {
		for r := range s.AllResources() {
			for _, k := range r.Keys() {
				if !yield(r.Addr.Instance(k), r.Instances[k]) {
					return
				}
			}
		}
	}
}

// Managed returns the managed objects, in the order of the state file. Objects of data sources are not
// included.
func (s *State) Managed() []addr.Object {
	var out []addr.Object
	for a, i := range s.AllInstances() {
		if a.Resource.Mode != addr.Managed {
			continue
		}
		if i.Current != nil {
			out = append(out, addr.Object{Instance: a})
		}
		for _, key := range i.DeposedKeys() {
			out = append(out, addr.Object{Instance: a, Deposed: key})
		}
	}
	return out
}

// Keys returns the instance keys of r in order.
func (r *Resource) Keys() []addr.Key {
	return slices.SortedFunc(maps.Keys(r.Instances), addr.Key.Compare)
}

// DeposedKeys returns the keys of the deposed objects of i in order.
func (i *Instance) DeposedKeys() []addr.Deposed {
	if len(i.Deposed) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(i.Deposed))
}

// ByModule returns the resources of every module instance that has any, each list in the order of the state
// file. It takes linear time.
func (s *State) ByModule() map[addr.ModuleInstance][]*Resource {
	byModule := map[addr.ModuleInstance][]*Resource{}
	for a, r := range s.Resources {
		byModule[a.Module] = append(byModule[a.Module], r)
	}
	for _, rs := range byModule {
		slices.SortFunc(rs, func(a, b *Resource) int { return a.Addr.Resource.Compare(b.Addr.Resource) })
	}
	return byModule
}

// sortedModules orders module instances by the text of their addresses, as other engines do.
func sortedModules(modules iter.Seq[addr.ModuleInstance]) []addr.ModuleInstance {
	type named struct {
		m    addr.ModuleInstance
		text string
	}
	var list []named
	for m := range modules {
		list = append(list, named{m, m.String()})
	}
	slices.SortFunc(list, func(a, b named) int { return cmp.Compare(a.text, b.text) })
	sorted := make([]addr.ModuleInstance, len(list))
	for i, n := range list {
		sorted[i] = n.m
	}
	return sorted
}

// Equal reports whether both states would be stored as the same bytes, so that storing one over the other
// would change only the serial. It is cheap if the states share their objects.
func (s *State) Equal(other *State) bool {
	if len(s.Resources) != len(other.Resources) || len(s.Outputs) != len(other.Outputs) {
		return false
	}
	for a, r := range s.Resources {
		o := other.Resources[a]
		if o != r && (o == nil || !r.equal(o)) {
			return false
		}
	}
	for name, v := range s.Outputs {
		if o := other.Outputs[name]; o == nil || !v.equal(o) {
			return false
		}
	}
	return slices.EqualFunc(s.Salts, other.Salts, sameSalt) && slices.EqualFunc(sortedChecks(s.Checks), sortedChecks(other.Checks), CheckResult.equal)
}

// equal reports whether both resources would be stored as the same bytes, apart from their address.
func (r *Resource) equal(o *Resource) bool {
	if string(r.extra) != string(o.extra) {
		return false
	}
	return maps.EqualFunc(r.Instances, o.Instances, func(a, b *Instance) bool {
		return a.Provider == b.Provider && a.Current.Equal(b.Current) && maps.EqualFunc(a.Deposed, b.Deposed, (*Object).Equal)
	})
}

// equal compares the packed forms, which are equal only for equal values.
func (o *Output) equal(p *Output) bool {
	return o == p || o.sensitive() == p.sensitive() && o.Value.Type().Equals(p.Value.Type()) &&
		string(o.Value.Packed()) == string(p.Value.Packed())
}

// sensitive reports whether any part of the output must be hidden; the file can mark only the whole output.
func (o *Output) sensitive() bool { return o.Sensitive || len(o.Value.Sensitive()) > 0 }

func (c CheckResult) equal(o CheckResult) bool {
	return c.Kind == o.Kind && c.Config == o.Config && c.Status == o.Status && slices.EqualFunc(c.Objects, o.Objects, CheckObject.equal)
}

func (c CheckObject) equal(o CheckObject) bool {
	return c.Addr == o.Addr && c.Status == o.Status && slices.Equal(c.Failures, o.Failures)
}

// checkKinds is the order in which the kinds of check results are stored.
var checkKinds = []string{"resource", "var", "output", "check"}

// sortedChecks returns check results, and the objects in each, in the order in which they are stored.
func sortedChecks(checks []CheckResult) []CheckResult {
	sorted := slices.Clone(checks)
	slices.SortStableFunc(sorted, func(a, b CheckResult) int {
		return cmp.Or(cmp.Compare(slices.Index(checkKinds, a.Kind), slices.Index(checkKinds, b.Kind)), strings.Compare(a.Config, b.Config))
	})
	for i := range sorted {
		sorted[i].Objects = slices.Clone(sorted[i].Objects)
		slices.SortStableFunc(sorted[i].Objects, func(a, b CheckObject) int { return strings.Compare(a.Addr, b.Addr) })
	}
	return sorted
}
