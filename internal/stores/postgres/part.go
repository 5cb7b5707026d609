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

// spans are the indexes for objects of a block, and for all, within a module instance. Addresses are compared
// by bytes, whatever the collation of the database.
const spans = `
DROP INDEX mayfly.objects_of_block;
CREATE INDEX objects_of_block ON mayfly.objects (workspace, block text_pattern_ops, address text_pattern_ops);
CREATE INDEX objects_within ON mayfly.objects (workspace, address text_pattern_ops);`

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
		workspace, f, err := head(t, m.name)
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
		where, args := blocksWithin(blocks, in)
		if err := t.eachObject(st, where, append([]any{workspace}, args...)...); err != nil {
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
			where, args := beginning("workspace = $1", nil, "address", prefix)
			if !keyed { // with and without a key
				where, args = beginning("workspace = $1", nil, "address", prefix+".", prefix+"[")
				where, args = beginning(where, args, "block", x.Module.Module().String()+".")
			}
			if err := t.eachObject(found, where, append([]any{workspace}, args...)...); err != nil {
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

// blocksWithin returns the condition for the objects of blocks within a module instance, "" for the root
// module, in the workspace $1. args are its other parameters.
func blocksWithin(blocks []string, in string) (where string, args []any) {
	where, args = `workspace = $1 AND block = ANY($2)`, []any{pq.StringArray(blocks)}
	if in == "" {
		return where, args
	}
	return beginning(where, args, "address", in+".")
}

// beginning adds the condition that a column begins with one of the prefixes. args are the parameters from $2
// on. Unlike starts_with, which servers before version 15 compare with each row, an index answers it.
func beginning(where string, args []any, column string, prefixes ...string) (string, []any) {
	var either []string
	for _, p := range prefixes {
		last, n := len(p)-1, len(args)+2
		either = append(either, fmt.Sprintf("%s ~>=~ $%d AND %s ~<~ $%d", column, n, column, n+1))
		args = append(args, p, p[:last]+string(p[last]+1))
	}
	return where + " AND (" + strings.Join(either, " OR ") + ")", args
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
