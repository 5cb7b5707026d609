package config

import "github.com/mayfly-iac/mayfly/addr"

// WrongKey reports an instance key in an address of a kind that no instance of its block or of a module
// around it can have, as the first part of a sentence; "" if there is none. Blocks that the configuration
// does not declare may have had any keys. instead is the address without such keys, "" if they are to be
// replaced by others, since the block or module is repeated.
func (t *Tree) WrongKey(a addr.Target) (why, instead string) {
	right, repeated := addr.Target{Module: addr.RootInstance, Resource: a.Resource, Key: a.Key}, false
	check := func(block string, r Repetition, key *addr.Key) {
		if r.Allows(*key) {
			return
		}
		*key = addr.NoKey
		repeated = repeated || r.keyKind() != addr.KeyNone
		if why == "" {
			why = block + r.keys()
		}
	}
	for _, step := range a.Module.Path() {
		parent, name, key := step.Parent()
		m := t.Modules[parent.Module()]
		if m == nil || m.Calls[name] == nil {
			return "", ""
		}
		check(step.Module().String(), m.Calls[name].Repeat, &key)
		right.Module = right.Module.Child(name, key)
	}
	if a.Resource != nil {
		path := a.Module.Module()
		m := t.Modules[path]
		if m == nil || m.Resources[*a.Resource] == nil {
			return "", ""
		}
		check(addr.ConfigResource{Module: path, Resource: *a.Resource}.String(), m.Resources[*a.Resource].Repeat, &right.Key)
	}
	if why == "" || repeated {
		return why, ""
	}
	return why, right.String()
}

// Allows reports whether an address may have the key: there is none, or it is of the kind that instances
// have.
func (r Repetition) Allows(k addr.Key) bool { return k == addr.NoKey || k.Kind() == r.keyKind() }

// keyKind returns the kind of the keys that instances have.
func (r Repetition) keyKind() addr.KeyKind {
	switch {
	case r.Count != nil:
		return addr.KeyInt
	case r.ForEach != nil:
		return addr.KeyString
	}
	return addr.KeyNone
}

// keys describes the keys of the instances, after the name of the block.
func (r Repetition) keys() string {
	switch r.keyKind() {
	case addr.KeyInt:
		return " has count, so the keys of its instances are numbers"
	case addr.KeyString:
		return " has for_each, so the keys of its instances are strings"
	}
	return " has neither count nor for_each, so it has no instance key"
}
