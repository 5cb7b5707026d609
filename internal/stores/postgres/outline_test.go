//go:build !mayfly_no_postgres

package postgres_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// beforeProviders is the version of the tables in which rows of objects did not have their provider.
const beforeProviders = 7

// TestMigrateProviders brings rows up to date that do not have their provider: it is taken from what views
// show. Rows that are written have it in any case.
func TestMigrateProviders(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	older, err := postgres.Older(opt, beforeProviders)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(older.Close)
	if _, err := older.Workspaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, opt, `INSERT INTO mayfly.workspaces (name) VALUES ('w')`)
	execute(t, opt, `INSERT INTO mayfly.objects (workspace, address, deposed, resource, block, dependencies, sealed, body, shown)
		SELECT w.id, a, '', a, a, '{}', false, '', s::jsonb FROM mayfly.workspaces w, (VALUES ('t.shown', '{"provider": "example.com/x/y"}'), ('t.not', NULL)) v(a, s)`)
	fill(t, opt, 2)
	for _, row := range []struct {
		where string
		want  int
	}{
		{`address = 't.shown' AND provider = 'example.com/x/y'`, 1},
		{`address = 't.not' AND provider IS NULL`, 1},
		{`provider = '` + storetest.Provider.Provider.String() + `'`, 2},
	} {
		if got := count(t, opt, `SELECT count(*) FROM mayfly.objects WHERE `+row.where); got != row.want {
			t.Errorf("rows with %s: got %d, want %d", row.where, got, row.want)
		}
	}
}

// TestOutline reads which objects there are, in as much detail as is asked for. A row without a provider is
// one for which the object is read.
func TestOutline(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	m := manager(t, open(t, opt)).(store.OutlineReader)
	if f, err := m.ReadOutline(t.Context(), store.Addresses); f != nil || err != nil {
		t.Errorf("without a state: got %v and the error %v, want neither", f, err)
	}
	f := storetest.File(t, "l", 1, 0)
	other, third := addr.DefaultProvider("other"), addr.DefaultProvider("third")
	for i, p := range []addr.Provider{storetest.Provider.Provider, other, other, third, third} {
		o := storetest.Object(t, "old").Clone()
		o.Tainted = i == 1
		if i == 2 {
			o.Dependencies = []addr.ConfigResource{storetest.Address("a", 0).Config()}
		}
		f.State.SetObject(storetest.Address("a", i), o, addr.ProviderConfig{Provider: p, Alias: "x"})
	}
	deposed := storetest.Address("a", 4)
	deposed.Deposed = "00000001"
	f.State.SetObject(deposed, storetest.Object(t, "older"), addr.ProviderConfig{Provider: third})
	if err := manager(t, open(t, opt)).Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	show := func(what store.Outline) (out []string) {
		t.Helper()
		got, err := m.ReadOutline(t.Context(), what)
		if err != nil {
			t.Fatal(err)
		}
		if got.Lineage != f.Lineage || got.Serial != f.Serial || len(got.State.Outputs) > 0 {
			t.Errorf("got the state %s, %d with %d outputs, want %s, %d without", got.Lineage, got.Serial, len(got.State.Outputs), f.Lineage, f.Serial)
		}
		for a, in := range got.State.AllInstances() {
			text := a.String() + " " + in.Provider.Provider.Type
			for o := range in.All() {
				text += fmt.Sprintf(" %v %v", o.Tainted, len(o.Dependencies))
			}
			out = append(out, text)
		}
		return out
	}
	addresses := []string{"test_thing.a[0]  false 0", "test_thing.a[1]  false 0", "test_thing.a[2]  false 0", "test_thing.a[3]  false 0", "test_thing.a[4]  false 0 false 0"}
	if got := show(store.Addresses); !slices.Equal(got, addresses) {
		t.Errorf("addresses: got %q, want %q", got, addresses)
	}
	p := storetest.Provider.Provider.Type
	entries := []string{"test_thing.a[0] " + p + " false 0", "test_thing.a[1] other true 0", "test_thing.a[2] other false 1", "test_thing.a[3] third false 0", "test_thing.a[4] third false 0 false 0"}
	if got := show(store.Entries); !slices.Equal(got, entries) {
		t.Errorf("entries: got %q, want %q", got, entries)
	}
	kinds := func() string {
		seen := map[string]bool{}
		for _, text := range show(store.Providers) {
			seen[strings.Fields(text)[1]] = true
		}
		return strings.Join(slices.Sorted(maps.Keys(seen)), " ")
	}
	if got, want := kinds(), "other "+p+" third"; got != want || len(show(store.Providers)) != 3 {
		t.Errorf("providers: got %s of %d instances, want %s of 3", got, len(show(store.Providers)), want)
	}
	execute(t, opt, `UPDATE mayfly.objects SET provider = NULL WHERE provider LIKE '%third'`)
	if got, want := kinds(), "other "+p+" third"; got != want {
		t.Errorf("providers with rows that do not have them: got %s, want %s", got, want)
	}
	if got := show(store.Entries); !slices.Equal(got, entries) {
		t.Errorf("entries with rows that do not have providers: got %q, want %q", got, entries)
	}
	for column, want := range map[string]string{"address": "the row of", "provider": "the provider in the row of", "dependencies[1]": "a dependency in the row of"} {
		for _, wrong := range []string{"a b", "module.m"} {
			if wrong == "module.m" && column == "provider" {
				continue // a name without dots is one
			}
			execute(t, opt, `UPDATE mayfly.objects SET `+column+` = '`+wrong+`' WHERE address = 'test_thing.a[1]'`)
			if _, err := m.ReadOutline(t.Context(), store.Entries); !errors.Is(err, state.ErrCorrupt) || !strings.Contains(err.Error(), want) {
				t.Errorf("with %s %q: got the error %v, want %v, %q", column, wrong, err, state.ErrCorrupt, want)
			}
			execute(t, opt, `UPDATE mayfly.objects SET address = 'test_thing.a[1]', provider = '`+other.String()+`', dependencies = '{}' WHERE provider LIKE '%other' AND address <> 'test_thing.a[2]' OR address = 'test_thing.a[1]'`)
		}
	}
}

// TestDeleteWorkspace deletes a workspace without force if none of its objects are managed, and finds that out
// without reading them.
func TestDeleteWorkspace(t *testing.T) {
	server := server.Start(t)
	proxy := tcpproxy.Start(t, server.Port)
	s := open(t, postgres.Options{ConnString: server.URL(proxy.Port)})
	for i, row := range []struct {
		addresses []string
		want      error
	}{
		{[]string{"data.t.a", "module.m.data.t.a", `module.m["data.x"].module.n[0].data.t.a["k"]`}, nil},
		{[]string{"data.t.a", "t.a"}, store.ErrNotEmpty},
		{[]string{"module.data.t.a[0]"}, store.ErrNotEmpty},
		{[]string{"module.m.module.data.t.data"}, store.ErrNotEmpty},
	} {
		name := fmt.Sprint("w", i)
		if err := s.CreateWorkspace(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		m, err := s.Manager(name)
		if err != nil {
			t.Fatal(err)
		}
		f := storetest.File(t, "l", 1, 0)
		for _, text := range row.addresses {
			a, err := addr.ParseInstance(text)
			if err != nil {
				t.Fatal(err)
			}
			f.State.SetObject(addr.Object{Instance: a}, storetest.Object(t, strings.Repeat("x", 1<<16)), storetest.Provider)
		}
		if err := m.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		before := proxy.Counts()
		if err := s.DeleteWorkspace(t.Context(), name, false); !errors.Is(err, row.want) {
			t.Errorf("with %q: got the error %v, want %v", row.addresses, err, row.want)
		}
		if _, read := passed(before, proxy.Counts()); read > 1<<15 {
			t.Errorf("with %q: got %d bytes read, want less than one object has", row.addresses, read)
		}
	}
}

// TestDeleteDamaged deletes a workspace whose state cannot be read with force alone.
func TestDeleteDamaged(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	s := open(t, opt)
	if err := s.CreateWorkspace(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	execute(t, opt, `UPDATE mayfly.workspaces SET document = '{'`)
	if err := s.DeleteWorkspace(t.Context(), "w", false); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("got the error %v, want %v", err, state.ErrCorrupt)
	}
	if err := s.DeleteWorkspace(t.Context(), "w", true); err != nil {
		t.Errorf("got the error %v with force, want none", err)
	}
}
