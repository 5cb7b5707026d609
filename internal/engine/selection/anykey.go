package selection

import (
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// withoutAnyKey returns an address without the keys that plans show for instances which are not known yet.
// It returns false if there are none. A block may have an instance with the same key.
func withoutAnyKey(t addr.Target) (out addr.Target, found bool) {
	shown := func(k addr.Key) bool { return k.Str() != "" && k.String() == addr.AnyKey.String() }
	out = addr.Target{Resource: t.Resource, Key: t.Key}
	for _, m := range t.Module.Path() {
		_, call, key := m.Parent()
		if shown(key) {
			key, found = addr.NoKey, true
		}
		out.Module = out.Module.Child(call, key)
	}
	if shown(t.Key) {
		out.Key, found = addr.NoKey, true
	}
	return out, found
}

// shownKey explains that the key in an address is the one that plans show for instances which are not known
// yet, in a sentence after a space that has the address of all instances; "" for other keys. option is "" for
// addresses that are given in another way.
func shownKey(t addr.Target, option string) string {
	all, found := withoutAnyKey(t)
	if !found {
		return ""
	}
	if option == "" {
		return fmt.Sprintf(" In plans, %s stands for keys that are not known yet. The address of all instances is %s.", addr.AnyKey, all)
	}
	return fmt.Sprintf(" In plans, %s stands for keys that are not known yet. For all instances, use -%s=%s.", addr.AnyKey, option, diag.Argument(all.String()))
}

// ShownKey explains that the key in the address of one instance is the one that plans show for instances
// which are not known yet, in a sentence after a space; "" for other keys.
func ShownKey(i addr.Instance) string {
	if _, found := withoutAnyKey(only(i)); !found {
		return ""
	}
	return fmt.Sprintf(" In plans, %s stands for keys that are not known yet. Name each instance by its own key.", addr.AnyKey)
}

// only returns the target that selects one instance.
func only(i addr.Instance) addr.Target {
	return addr.Target{Module: i.Module, Resource: &i.Resource, Key: i.Key}
}
