//go:build !mayfly_no_postgres

package postgres_test

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
)

// TestUnknownMembers gives back all members of a state file of a newer program, also after a run.
func TestUnknownMembers(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0), Cipher: reversing{}}
	fill(t, opt, 2)
	m := manager(t, open(t, opt))
	f, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.Serial++
	text, err := state.Write(f)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.NewReplacer(
		`"version": 4,`, `"version": 4, "of_file": {"a": [1, 2]},`,
		`"mode": "managed",`, `"mode": "managed", "of_resource": {"b": "canary-member"}, "more": null,`,
		`"index_key": 1,`, `"index_key": 1, "of_instance": "c",`,
	).Replace(string(text))
	if f, err = state.Read([]byte(newer)); err == nil {
		err = m.Write(t.Context(), f)
	}
	if err != nil {
		t.Fatal(err)
	}
	pulled := func() string {
		f, err := manager(t, open(t, opt)).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := state.Write(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want, err := state.Write(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := pulled(); got != string(want) {
		t.Errorf("got the state\n%s\nwant\n%s", got, want)
	}
	r := planned(t, opt, "next", []int{0})
	r.begin()
	if err := r.update(0); err != nil {
		t.Fatal(err)
	}
	r.end()
	for _, member := range []string{"of_file", "of_resource", "canary-member", "more", "of_instance"} {
		if got := pulled(); !strings.Contains(got, member) {
			t.Errorf("got the state\n%s\nafter a run, want the member %s in it", got, member)
		}
	}
	var clear bool
	if err := connect(t, opt.ConnString).QueryRowContext(t.Context(), `SELECT body LIKE '%canary%'::bytea FROM mayfly.members`).Scan(&clear); err != nil || clear {
		t.Errorf("got %v (%v), want members that are encrypted", clear, err)
	}
}
