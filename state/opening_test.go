package state

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
)

func TestOpenings(t *testing.T) {
	log, file := newLog(t, &File{Meta: Meta{Lineage: "l", Serial: 3}})
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600))
	provider, err := addr.ParseProvider("hashicorp/vault")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]uint64{}
	for _, name := range []string{`ephemeral.vault_lease.first`, `module.m["a\"b"].ephemeral.vault_lease.second[0]`, `ephemeral.vault_lease.third`} {
		in, err := addr.ParseInstance(name)
		if err != nil {
			t.Fatal(err)
		}
		if ids[name], err = log.Opening(in, provider, at); err != nil {
			t.Fatal(err)
		}
		if file.durable != file.buf.Len() {
			t.Error("an opening is not durable")
		}
	}
	if err := log.Closed(ids["ephemeral.vault_lease.first"]); err != nil {
		t.Fatal(err)
	}
	if !log.Idle() {
		t.Error("what is open is no result that a later run would need")
	}
	j, err := ParseJournal(file.buf.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Opening{
		{`module.m["a\"b"].ephemeral.vault_lease.second[0]`, "registry.opentofu.org/hashicorp/vault", at.UTC().Truncate(time.Second)},
		{`ephemeral.vault_lease.third`, "registry.opentofu.org/hashicorp/vault", at.UTC().Truncate(time.Second)},
	}
	r, err := j.Replay(&File{Meta: Meta{Lineage: "l", Serial: 3}, State: New()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.Open); diff != "" || r.Changes != 0 || len(r.Unfinished) != 0 {
		t.Errorf("got %+v, want no changes, nothing unfinished, and these openings (-want +got):\n%s", r, diff)
	}

	log.End()
	size := file.buf.Len()
	if _, err := log.Opening(addr.Instance{}, provider, at); !errors.Is(err, errEnded) {
		t.Errorf("opening after the end: %v", err)
	}
	if err := log.Closed(2); !errors.Is(err, errEnded) || file.buf.Len() != size {
		t.Errorf("Closed after the end: got %v and a journal of %d bytes, want %v and %d bytes", err, file.buf.Len(), errEnded, size)
	}
}

// TestLaterRecords reads a journal of a program that knows more kinds of records.
func TestLaterRecords(t *testing.T) {
	header := frame([]byte(`{"format":"mayfly state journal","version":1,"lineage":"l","serial":3,"writer":"9.0.0"}`))
	j, err := ParseJournal(append(header, frame([]byte(`[{"later":{"id":1}},{"open":{"id":2,"instance":"ephemeral.a.b","provider":"p","since":"2026-01-02T03:04:05Z","more":1}}]`))...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if open := j.Openings(); len(open) != 1 || open[0].Instance != "ephemeral.a.b" {
		t.Errorf("got %+v, want ephemeral.a.b", open)
	}
}
