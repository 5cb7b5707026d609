package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
)

// unknownV4 has the unknown members of a file by their places. The nil pointers of all three types mean that
// there are none.
type unknownV4 struct {
	own       fields
	resources []unknownResource
}

// unknownResource has the unknown members of a resource and of its instances, by their positions.
type unknownResource struct {
	own       fields
	instances []fields
}

func (u *unknownV4) file() fields {
	if u == nil {
		return nil
	}
	return u.own
}

func (u *unknownV4) resource(i int) *unknownResource {
	if u == nil || i >= len(u.resources) {
		return nil
	}
	return &u.resources[i]
}

func (u *unknownResource) instance(i int) fields {
	if u == nil || i >= len(u.instances) {
		return nil
	}
	return u.instances[i]
}

// findUnknown collects the unknown members of a valid file. It takes a second pass and is called only for
// files that have any.
func findUnknown(src []byte) (*unknownV4, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(src, &doc); err != nil {
		return nil, err
	}
	u := &unknownV4{own: unknownFields(doc, reflect.TypeFor[fileV4]())}
	var resources []map[string]json.RawMessage
	if err := unmarshalMember(doc, "resources", &resources); err != nil {
		return nil, err
	}
	u.resources = make([]unknownResource, len(resources))
	for i, r := range resources {
		u.resources[i].own = unknownFields(r, reflect.TypeFor[resourceV4]())
		var instances []map[string]json.RawMessage
		if err := unmarshalMember(r, "instances", &instances); err != nil {
			return nil, err
		}
		u.resources[i].instances = make([]fields, len(instances))
		for j, in := range instances {
			u.resources[i].instances[j] = unknownFields(in, instanceType)
		}
	}
	return u, nil
}

// UnknownMembers returns the members of a resource in a state file that this program does not know, as a JSON
// object; nil for none. It is for stores that keep objects apart.
func (r *Resource) UnknownMembers() []byte {
	if len(r.extra) == 0 {
		return nil
	}
	return append(append([]byte{'{'}, r.extra[1:]...), '}')
}

// SetUnknownMembers gives a resource of s the result of UnknownMembers. It does nothing if s does not have
// the resource.
func (s *State) SetUnknownMembers(a addr.AbsResource, members []byte) error {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(members, &doc); err != nil {
		return corrupt("the unknown members of the resource %s are not a JSON object", a)
	}
	if r := s.own(a); r != nil {
		r.extra = unknownFields(doc, reflect.TypeFor[resourceV4]())
	}
	return nil
}

// unmarshalMember decodes one member, whose name matches regardless of case, as encoding/json does for
// struct fields.
func unmarshalMember(doc map[string]json.RawMessage, name string, into any) error {
	for _, k := range slices.Sorted(maps.Keys(doc)) {
		if strings.EqualFold(k, name) {
			return json.Unmarshal(doc[k], into)
		}
	}
	return nil
}

// unknownFields returns the members of doc that the struct type known has no field for, sorted by name.
// Names are compared regardless of case, as encoding/json does.
func unknownFields(doc map[string]json.RawMessage, known reflect.Type) fields {
	var names []string
	for i := range known.NumField() {
		names = append(names, known.Field(i).Tag.Get("json"))
	}
	var x fields
	for _, k := range slices.Sorted(maps.Keys(doc)) {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, k) }) {
			continue
		}
		var buf bytes.Buffer
		if json.Compact(&buf, doc[k]) == nil {
			x = append(append(appendString(append(x, ','), k), ':'), buf.Bytes()...)
		}
	}
	return x
}

var instanceType = reflect.TypeFor[instanceV4]()
