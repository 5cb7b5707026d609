package addr

import (
	"cmp"
	"strings"
)

// Mode tells the lifecycle of a resource.
type Mode uint8

// The resource modes.
const (
	Managed   Mode = iota // declared by a resource block; owned, kept in state
	Data                  // declared by a data block; read, kept in state
	Ephemeral             // declared by an ephemeral block; opened and closed within one walk, kept nowhere
	List                  // declared by a list block of a query file; its results are shown, and kept nowhere
	Action                // declared by an action block; invoked, and kept nowhere
)

// String returns the block type that declares the mode: "resource", "data", "ephemeral", "list" or "action".
func (m Mode) String() string {
	switch m {
	case Data:
		return "data"
	case Ephemeral:
		return "ephemeral"
	case List:
		return "list"
	case Action:
		return "action"
	default:
		return "resource"
	}
}

// Fleeting reports whether no state ever has anything of the mode.
func (m Mode) Fleeting() bool { return m == Ephemeral || m == List || m == Action }

// Resource names a resource within one module.
type Resource struct {
	Mode Mode
	Type string
	Name string
}

// String returns "type.name", after the mode if the resource is not managed, as in "data.type.name".
func (r Resource) String() string {
	if r.Mode == Managed {
		return r.Type + "." + r.Name
	}
	return r.Mode.String() + "." + r.Type + "." + r.Name
}

// Compare orders resources the way the state file does: data first, then managed, ephemeral, lists and
// actions, by type and name each.
func (r Resource) Compare(o Resource) int {
	if c := cmp.Compare(modeOrder(r.Mode), modeOrder(o.Mode)); c != 0 {
		return c
	}
	if c := strings.Compare(r.Type, o.Type); c != 0 {
		return c
	}
	return strings.Compare(r.Name, o.Name)
}

func modeOrder(m Mode) int {
	switch m {
	case Data:
		return 0
	case Managed:
		return 1
	default:
		return int(m)
	}
}

// ConfigResource names a resource block in the configuration tree.
type ConfigResource struct {
	Module Module
	Resource
}

// String returns the address without instance keys, for example "module.a.data.t.n".
func (r ConfigResource) String() string { return r.Module.Join(r.Resource.String()) }

// AbsResource names a resource in one module instance, without an instance key.
type AbsResource struct {
	Module ModuleInstance
	Resource
}

// Config returns the resource block that r belongs to.
func (r AbsResource) Config() ConfigResource { return ConfigResource{r.Module.Module(), r.Resource} }

// Instance returns the instance of r with the given key.
func (r AbsResource) Instance(k Key) Instance { return Instance{r.Module, r.Resource, k} }

// String returns the absolute address, for example `module.a["x"].t.n`.
func (r AbsResource) String() string { return r.Module.Join(r.Resource.String()) }

// Compare orders by module instance, then resource.
func (r AbsResource) Compare(o AbsResource) int {
	if c := r.Module.Compare(o.Module); c != 0 {
		return c
	}
	return r.Resource.Compare(o.Resource)
}

// Instance names one resource instance. It is comparable and usable as a map key.
type Instance struct {
	Module   ModuleInstance
	Resource Resource
	Key      Key
}

// Abs returns the resource that i is an instance of.
func (i Instance) Abs() AbsResource { return AbsResource{i.Module, i.Resource} }

// Config returns the resource block that i belongs to.
func (i Instance) Config() ConfigResource { return ConfigResource{i.Module.Module(), i.Resource} }

// Unkeyed reports whether i stands for instances that are not known yet: its key, or one of its module path,
// is AnyKey.
func (i Instance) Unkeyed() bool {
	if i.Key == AnyKey {
		return true
	}
	for m := i.Module; !m.IsRoot(); {
		outer, _, key := m.Parent()
		if key == AnyKey {
			return true
		}
		m = outer
	}
	return false
}

// String returns the absolute address, for example `module.a["x"].t.n[0]`.
func (i Instance) String() string {
	return i.Module.Join(i.Resource.String()) + i.Key.String()
}

// Local returns the address within its module, for example "t.n[0]".
func (i Instance) Local() string { return i.Resource.String() + i.Key.String() }

// Compare orders by module instance, resource, key.
func (i Instance) Compare(o Instance) int {
	if c := i.Abs().Compare(o.Abs()); c != 0 {
		return c
	}
	return i.Key.Compare(o.Key)
}

// Deposed is the key of a deposed object: eight hexadecimal digits, "" for the current object.
type Deposed string

// Current is the deposed key that stands for the current object.
const Current Deposed = ""

// Object names one object of a resource instance: the current one or a deposed one.
type Object struct {
	Instance
	Deposed Deposed
}

// String returns the instance's address, followed by "(deposed object KEY)" for a deposed one.
func (o Object) String() string {
	if o.Deposed == Current {
		return o.Instance.String()
	}
	return o.Instance.String() + " (deposed object " + string(o.Deposed) + ")"
}
