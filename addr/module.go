package addr

import (
	"strings"
	"unique"
)

// Module is the static path of a module in the configuration tree: the names of the module calls from the
// root. The root module is the empty path. It carries no instance keys; see ModuleInstance for those.
type Module struct{ h unique.Handle[moduleNode] }

type moduleNode struct {
	parent Module
	call   string
}

// RootModule is the path of the root module.
var RootModule = Module{}

// IsRoot reports whether m is the root module.
func (m Module) IsRoot() bool { return m == RootModule }

// Child returns the path of the module called by name from m.
func (m Module) Child(call string) Module {
	return Module{unique.Make(moduleNode{m, call})}
}

// Parent returns the calling module and the name of the call. It must not be used on the root module, for
// which it returns the root and "".
func (m Module) Parent() (Module, string) {
	if m.IsRoot() {
		return m, ""
	}
	n := m.h.Value()
	return n.parent, n.call
}

// Calls returns the names of the calls from the root to m.
func (m Module) Calls() []string {
	var calls []string
	for !m.IsRoot() {
		parent, call := m.Parent()
		calls = append(calls, call)
		m = parent
	}
	reverse(calls)
	return calls
}

// Instance returns the instance of m whose path has no keys. It stands for all instances of m.
func (m Module) Instance() ModuleInstance {
	out := RootInstance
	for _, call := range m.Calls() {
		out = out.Child(call, NoKey)
	}
	return out
}

// String returns the address in the form "module.a.module.b", or "" for the root module.
func (m Module) String() string {
	var sb strings.Builder
	for i, c := range m.Calls() {
		if i > 0 {
			sb.WriteByte('.')
		}
		sb.WriteString("module.")
		sb.WriteString(c)
	}
	return sb.String()
}

// ModuleInstance is the path of one instance of a module: call names with instance keys. Values are interned,
// so they are cheap to copy, comparable with ==, and usable as map keys. The zero value is the root module
// instance.
type ModuleInstance struct {
	h unique.Handle[moduleInstanceNode]
}

type moduleInstanceNode struct {
	parent ModuleInstance
	module Module
	call   string
	key    Key
}

// RootInstance is the only instance of the root module.
var RootInstance = ModuleInstance{}

// IsRoot reports whether m is the root module instance.
func (m ModuleInstance) IsRoot() bool { return m == RootInstance }

// Child returns the instance of the named call in m with the given key.
func (m ModuleInstance) Child(call string, key Key) ModuleInstance {
	return ModuleInstance{unique.Make(moduleInstanceNode{parent: m, module: m.Module().Child(call), call: call, key: key})}
}

// Parent returns the calling module instance, the call's name and the instance key. For the root it returns
// the root, "" and NoKey.
func (m ModuleInstance) Parent() (ModuleInstance, string, Key) {
	if m.IsRoot() {
		return m, "", NoKey
	}
	n := m.h.Value()
	return n.parent, n.call, n.key
}

// Module returns the static module path that m is an instance of.
func (m ModuleInstance) Module() Module {
	if m.IsRoot() {
		return RootModule
	}
	return m.h.Value().module
}

// Path returns the module instances from the first call below the root down to m itself.
func (m ModuleInstance) Path() []ModuleInstance {
	var path []ModuleInstance
	for !m.IsRoot() {
		path = append(path, m)
		m, _, _ = m.Parent()
	}
	reverse(path)
	return path
}

// Contains reports whether other is m or lies below m.
func (m ModuleInstance) Contains(other ModuleInstance) bool {
	for {
		if other == m {
			return true
		}
		if other.IsRoot() {
			return false
		}
		other, _, _ = other.Parent()
	}
}

// String returns the address in the form `module.a["k"].module.b[0]`, or "" for the root module.
func (m ModuleInstance) String() string {
	if m.IsRoot() {
		return ""
	}
	var sb strings.Builder
	m.write(&sb)
	return sb.String()
}

func (m ModuleInstance) write(sb *strings.Builder) {
	parent, call, key := m.Parent()
	if !parent.IsRoot() {
		parent.write(sb)
		sb.WriteByte('.')
	}
	sb.WriteString("module.")
	sb.WriteString(call)
	sb.WriteString(key.String())
}

// Compare orders module instances by path, shorter paths first, keys in Key order. It builds no paths,
// because sorting all instances of a run compares each of them many times.
func (m ModuleInstance) Compare(o ModuleInstance) int {
	if m == o {
		return 0
	}
	deeper := m.depth() - o.depth()
	if c := m.ancestor(deeper).compareSteps(o.ancestor(-deeper)); c != 0 {
		return c
	}
	return deeper
}

// compareSteps compares two instances of the same depth.
func (m ModuleInstance) compareSteps(o ModuleInstance) int {
	if m == o {
		return 0
	}
	mp, mc, mk := m.Parent()
	op, oc, ok := o.Parent()
	if c := mp.compareSteps(op); c != 0 {
		return c
	}
	if c := strings.Compare(mc, oc); c != 0 {
		return c
	}
	return mk.Compare(ok)
}

// depth returns the number of calls between the root and m.
func (m ModuleInstance) depth() int {
	n := 0
	for ; !m.IsRoot(); n++ {
		m, _, _ = m.Parent()
	}
	return n
}

// ancestor returns the instance that is levels above m; m itself if levels is not positive.
func (m ModuleInstance) ancestor(levels int) ModuleInstance {
	for ; levels > 0; levels-- {
		m, _, _ = m.Parent()
	}
	return m
}

func reverse[T any](s []T) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// Join returns the address of something in the module, such as "module.a.local.x".
func (m Module) Join(rest string) string { return join(m.String(), rest) }

// Join returns the address of something in the module instance, such as "module.a[0].local.x".
func (m ModuleInstance) Join(rest string) string { return join(m.String(), rest) }

func join(module, rest string) string {
	if module == "" {
		return rest
	}
	return module + "." + rest
}

// In returns the instance of another module that has the keys of m, from the root on. It is false if the
// modules are not equally deep.
func (m ModuleInstance) In(other Module) (ModuleInstance, bool) {
	path, calls := m.Path(), other.Calls()
	if len(path) != len(calls) {
		return RootInstance, false
	}
	out := RootInstance
	for i, call := range calls {
		_, _, key := path[i].Parent()
		out = out.Child(call, key)
	}
	return out, true
}
