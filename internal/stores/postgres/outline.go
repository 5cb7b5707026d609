//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// providers adds the provider to the rows of objects, so that the providers of a state are found without the
// objects. An older row gets the one that views show. Where they show none, as in databases of an encoding
// other than UTF8, it has null until it is written: the object itself has to be read for its provider.
const providers = `
ALTER TABLE mayfly.objects ADD COLUMN provider text;
UPDATE mayfly.objects SET provider = shown->>'provider';
CREATE INDEX objects_of_provider ON mayfly.objects (workspace, provider);`

var _ store.OutlineReader = (*manager)(nil)

// outlines are the statements that read the rows of outlines: address, key of a deposed object, provider,
// dependencies, and whether it is tainted. The rows of one object for each provider are found by as
// many steps through the index, however many objects there are.
var outlines = map[store.Outline]string{
	store.Addresses: `SELECT address, deposed, '', '{}'::text[], false FROM mayfly.objects WHERE workspace = $1`,
	store.Entries:   `SELECT address, deposed, provider, dependencies, tainted FROM mayfly.objects WHERE workspace = $1 AND provider IS NOT NULL`,
	store.Providers: `WITH RECURSIVE found AS (
		(SELECT o.address, o.deposed, o.provider FROM mayfly.objects o WHERE o.workspace = $1 AND o.provider > '' ORDER BY o.provider LIMIT 1)
		UNION ALL SELECT n.* FROM found f, LATERAL
		(SELECT o.address, o.deposed, o.provider FROM mayfly.objects o WHERE o.workspace = $1 AND o.provider > f.provider ORDER BY o.provider LIMIT 1) n)
		SELECT address, deposed, provider, '{}'::text[], false FROM found`,
}

// ReadOutline implements store.OutlineReader.
func (p place) ReadOutline(ctx context.Context, what store.Outline) (f *state.File, err error) {
	err = p.store.again(ctx, reading, func(t *tx) error {
		var workspace int64
		if workspace, f, err = head(t, p.name); err != nil || f == nil {
			return err
		}
		x := &outline{f.State, map[string]addr.Provider{}, map[string]addr.ConfigResource{}}
		if err := t.stream(x.add, outlines[what], workspace); err != nil || what == store.Addresses {
			return err
		}
		unknown := state.New()
		err := t.eachObject(unknown, `workspace = $1 AND provider IS NULL`, workspace)
		f.State.AddMissing(unknown)
		return err
	})
	if err != nil {
		return nil, p.failed("read", err)
	}
	return f, nil
}

// outline adds the objects of rows to a state. Providers and dependencies are few, and parsed once.
type outline struct {
	to        *state.State
	providers map[string]addr.Provider
	blocks    map[string]addr.ConfigResource
}

// add adds the object of a row of an outline.
func (x *outline) add(scan func(...any) error) error {
	var address, provider string
	var o addr.Object
	var pc addr.ProviderConfig
	var dependencies pq.StringArray
	n := &state.Object{}
	if err := scan(&address, &o.Deposed, &provider, &dependencies, &n.Tainted); err != nil {
		return err
	}
	var err error
	if o.Instance, err = addr.ParseInstance(address); err != nil {
		return fmt.Errorf("%w: the row of %s: %w", state.ErrCorrupt, address, err)
	}
	if provider != "" {
		if pc.Provider, err = parsed(x.providers, provider, addr.ParseProvider); err != nil {
			return fmt.Errorf("%w: the provider in the row of %s: %w", state.ErrCorrupt, address, err)
		}
	}
	for _, d := range dependencies {
		block, err := parsed(x.blocks, d, parseBlock)
		if err != nil {
			return fmt.Errorf("%w: a dependency in the row of %s: %w", state.ErrCorrupt, address, err)
		}
		n.Dependencies = append(n.Dependencies, block)
	}
	x.to.SetObject(o, n, pc)
	return nil
}

// parsed returns what a text stands for, which is parsed unless it is known.
func parsed[T any](known map[string]T, text string, parse func(string) (T, error)) (T, error) {
	if v, is := known[text]; is {
		return v, nil
	}
	v, err := parse(text)
	if err == nil {
		known[text] = v
	}
	return v, err
}

// parseBlock parses the address of the block of a resource.
func parseBlock(text string) (addr.ConfigResource, error) {
	t, err := addr.ParseTarget(text)
	if err == nil && t.Resource == nil {
		err = fmt.Errorf("%q is not the address of a resource", text)
	}
	if err != nil {
		return addr.ConfigResource{}, err
	}
	return addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}, nil
}
