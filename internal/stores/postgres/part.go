//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

var _ store.PartReader = (*manager)(nil)

// ReadPart implements store.PartReader.
func (m *manager) ReadPart(ctx context.Context, part state.Part) (*state.File, error) {
	return m.readState(ctx, func(t *tx) (*state.File, error) {
		workspace, f, err := t.document(m.name)
		if err != nil || f == nil {
			return nil, err
		}
		found, err := t.objects(workspace, part)
		if err == nil {
			f.State.AddMissing(found)
			err = t.members(workspace, f.State)
		}
		return f, err
	}, true)
}

// ReadMore implements store.PartReader.
func (m *manager) ReadMore(ctx context.Context, part state.Part, keep func(addr.Instance) bool) (*state.State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found *state.State
	err := m.store.again(ctx, reading, func(t *tx) error {
		workspace, f, err := t.document(m.name)
		if err != nil || f == nil {
			found = state.New()
			return err
		}
		if found, err = t.objects(workspace, part); err != nil {
			return err
		}
		for a := range found.AllInstances() {
			if !keep(a) {
				found.RemoveInstance(a)
			}
		}
		return t.members(workspace, found)
	})
	if err != nil {
		return nil, m.failed("read", err)
	}
	if m.known != nil {
		m.known.State.AddMissing(found)
	}
	return found, nil
}

// objects returns a state with the objects of a part.
func (t *tx) objects(workspace int64, part state.Part) (*state.State, error) {
	st := state.New()
	addresses := map[state.SubjectKind][]string{}
	within := map[string][]string{} // blocks by the module instance
	for _, s := range part.Subjects {
		if s.Kind == state.AllWithin {
			within[s.Within] = append(within[s.Within], s.Addr)
		} else {
			addresses[s.Kind] = append(addresses[s.Kind], s.Addr)
		}
	}
	others, err := readTargets(t, workspace, part.Targets, addresses)
	if err != nil {
		return nil, err
	}
	for kind, list := range addresses {
		switch kind {
		case state.OneInstance:
			err = t.eachObject(st, `workspace = $1 AND address = ANY($2)`, workspace, pq.StringArray(list))
		case state.AllInstances:
			err = t.eachObject(st, `workspace = $1 AND resource = ANY($2)`, workspace, pq.StringArray(list))
		case state.Dependents:
			err = t.eachObject(st, `workspace = $1 AND dependencies && $2`, workspace, pq.StringArray(list))
		case state.WholeState:
			err = t.eachObject(st, `workspace = $1`, workspace)
		default:
			err = fmt.Errorf("%s is not a set of objects", state.DescribeKey(state.Subject{Kind: kind, Addr: list[0]}.Key()))
		}
		if err != nil {
			return nil, err
		}
	}
	for in, blocks := range within {
		if err := t.eachObject(st, `workspace = $1 AND block = ANY($2) AND ($3 = '' OR starts_with(address, $3 || '.'))`, workspace, pq.StringArray(blocks), in); err != nil {
			return nil, err
		}
	}
	st.AddMissing(others)
	return st, nil
}

// readTargets adds targets that name a resource or an instance by all keys to the addresses to read, and
// returns the objects of the others.
func readTargets(t *tx, workspace int64, targets []addr.Target, addresses map[state.SubjectKind][]string) (*state.State, error) {
	found := state.New()
	var others []addr.Target
	for _, x := range targets {
		switch prefix, keyed := keyedPart(x.Module); {
		case x.Resource != nil && keyed && x.Key != addr.NoKey:
			addresses[state.OneInstance] = append(addresses[state.OneInstance], x.String())
		case x.Resource != nil && keyed:
			addresses[state.AllInstances] = append(addresses[state.AllInstances], x.String())
		case x.Resource != nil:
			others = append(others, x)
			block, suffix := addr.ConfigResource{Module: x.Module.Module(), Resource: *x.Resource}, ""
			if x.Key != addr.NoKey {
				suffix = "." + addr.Instance{Resource: *x.Resource, Key: x.Key}.String()
			}
			if err := t.eachObject(found, `workspace = $1 AND block = $2 AND starts_with(address, $3) AND right(address, length($4)) = $4`, workspace, block.String(), prefix, suffix); err != nil {
				return nil, err
			}
		default:
			others = append(others, x)
			if err := t.eachObject(found, `workspace = $1 AND starts_with(address, $2) AND starts_with(block, $3)`, workspace, prefix, x.Module.Module().String()+"."); err != nil {
				return nil, err
			}
		}
	}
	set := addr.NewTargetSet(others)
	for a := range found.AllInstances() {
		if !set.Selects(a) {
			found.RemoveInstance(a)
		}
	}
	return found, nil
}

// keyedPart returns how the addresses of objects in a module begin, as far as all its steps have keys, with
// the name of the first one that has none and stands for any. It returns false if there is one.
func keyedPart(m addr.ModuleInstance) (prefix string, keyed bool) {
	for _, step := range m.Path() {
		outer, name, key := step.Parent()
		if key == addr.NoKey {
			return outer.Join("module." + name), false
		}
	}
	if m.IsRoot() {
		return "", true
	}
	return strings.TrimSuffix(m.String(), ".") + ".", true
}
