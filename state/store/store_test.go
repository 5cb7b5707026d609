package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func manager(t *testing.T, s store.Store) store.Manager {
	t.Helper()
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLockWithRetry(t *testing.T) {
	for name, test := range map[string]struct {
		timeout, freeAfter, cancelAfter time.Duration
		locked, cancelled               bool
		took                            time.Duration
	}{
		"at once":     {timeout: 0, freeAfter: 0, locked: true},
		"no waiting":  {timeout: 0, freeAfter: time.Second},
		"freed":       {timeout: time.Minute, freeAfter: 600 * time.Millisecond, locked: true, took: 600 * time.Millisecond},
		"never freed": {timeout: time.Minute, freeAfter: time.Hour, took: time.Minute},
		"interrupted": {timeout: time.Hour, freeAfter: time.Hour, cancelAfter: 3 * time.Second, cancelled: true, took: 3 * time.Second},
		"freed late":  {timeout: time.Hour, freeAfter: 59 * time.Minute, locked: true, took: 59 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := inmem.New()
				if test.freeAfter > 0 {
					id, err := manager(t, s).Lock(ctx, storetest.Info("other"))
					if err != nil {
						t.Fatal(err)
					}
					time.AfterFunc(test.freeAfter, func() { _ = manager(t, s).Unlock(context.Background(), id) })
				}
				if test.cancelAfter > 0 {
					time.AfterFunc(test.cancelAfter, cancel)
				}
				start := time.Now()
				_, err := store.Locking{LockTimeout: test.timeout}.Take(ctx, manager(t, s), storetest.Info("me"))
				took := time.Since(start)
				var held *store.LockError
				if (err == nil) != test.locked || err != nil && !errors.As(err, &held) || errors.Is(err, context.Canceled) != test.cancelled {
					t.Errorf("got %v, want locked: %t, cancelled: %t", err, test.locked, test.cancelled)
				}
				if took < test.took || took > test.took+8*time.Second {
					t.Errorf("it took %v, want about %v", took, test.took)
				}
				// The timers of the test must not outlive it.
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

func TestLockInfo(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	info, err := store.NewLockInfo("OperationTypeApply", "1.2.3", now, strings.NewReader("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := info.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := store.ParseLockInfo(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(info, back); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(info.Who, "@") || len(info.ID) != 36 {
		t.Errorf("lock info: got %+v, want a user at a host, and an ID of 36 characters", info)
	}
	shown := info.String()
	for _, want := range []string{"Operation: apply\n", "Created:   2030-01-02"} {
		if !strings.Contains(shown, want) {
			t.Errorf("got %q, want %q in it", shown, want)
		}
	}
	if bare := (store.LockInfo{ID: "x"}).String(); bare != "Lock Info:\n  ID:        x" {
		t.Errorf("got %q, want the fields that are set", bare)
	}
	// As another engine writes it.
	back, err = store.ParseLockInfo([]byte(`{"ID":"c93d0f27","Operation":"OperationTypeApply","Info":"","Who":"root@vm","Version":"1.11.4","Created":"2026-11-21T02:07:29.483186963Z","Path":"terraform.tfstate"}`))
	if err != nil || back.Who != "root@vm" || back.Created.Nanosecond() != 483186963 {
		t.Errorf("ParseLockInfo: got %+v, %v, want root@vm with a time of nanoseconds", back, err)
	}
	if _, err := store.ParseLockInfo([]byte("{")); err == nil {
		t.Error("half a text is read")
	}
	if _, err := store.NewLockInfo("", "", now, strings.NewReader("")); err == nil {
		t.Error("an ID without randomness")
	}
	text := (&store.LockError{Info: &back, Err: errors.New("busy")}).Error()
	for _, want := range []string{"root@vm", "busy", "\n  ID:        c93d0f27\n  Path:      terraform.tfstate\n", "2026-11-21 02:07:29.483186963 +0000 UTC"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

func TestRescue(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for serial := range uint64(3) {
		path, err := store.Rescue([]string{filepath.Join(dir, "nowhere"), dir}, storetest.File(t, "l", serial, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for serial, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := state.Read(b)
		if err != nil || f.Serial != uint64(serial) {
			t.Errorf("%s: got %v, %v, want serial %d", path, f, err, serial)
		}
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, %v, want -rw-------", path, fi, err)
		}
	}
	if paths[0] != filepath.Join(dir, store.RescueName) {
		t.Errorf("first rescue: got it kept in %s, want %s", paths[0], filepath.Join(dir, store.RescueName))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("folder: got %v, %v, want 3 files", entries, err)
	}
	if _, err := store.Rescue([]string{filepath.Join(dir, "nowhere")}, storetest.File(t, "l", 1, 1), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file in no folder: %v", err)
	}
}

func TestRecoveredDiags(t *testing.T) {
	var none *store.Recovered
	if none.Diags() != nil || (&store.Recovered{Changes: 1}).Diags() != nil || (&store.Recovered{Saved: true}).Diags() != nil {
		t.Error("diagnostics about nothing")
	}
	l := (&store.Recovered{Path: "x.journal", Changes: 2, Saved: true, Unfinished: []state.Unfinished{{Object: storetest.Address("a", 1), Action: "create"}}}).Diags()
	if len(l) != 2 || l[0].Severity != diag.Warning || !strings.Contains(l[0].Detail, "x.journal") || !strings.Contains(l[1].Detail, "test_thing.a[1] (create)") {
		t.Errorf("Diags: got %v, want a warning about x.journal, and one about the unfinished test_thing.a[1]", l)
	}
	provisioned := state.Unfinished{Object: storetest.Address("a", 2), Action: state.ProvisionAction}
	const unrecorded, untaint = "created without being recorded", "mayfly untaint 'test_thing.a[2]'"
	for _, row := range []struct {
		unfinished []state.Unfinished
		says, not  string
	}{
		{[]state.Unfinished{provisioned}, untaint, unrecorded},
		{[]state.Unfinished{{Object: storetest.Address("a", 1), Action: "delete"}}, unrecorded, "untaint"},
		{[]state.Unfinished{{Object: storetest.Address("a", 1), Action: "create"}, provisioned}, untaint, "nothing of that"},
	} {
		l := (&store.Recovered{Saved: true, Unfinished: row.unfinished}).Diags()
		if len(l) != 1 || !strings.Contains(l[0].Detail, row.says) || strings.Contains(l[0].Detail, row.not) {
			t.Errorf("%v: got %v, want one warning with %q and without %q", row.unfinished, l, row.says, row.not)
		}
	}
	l = (&store.Recovered{Unreadable: "x.unreadable", Empty: "x.tfstate"}).Diags()
	if len(l) != 2 || l.HasErrors() || !strings.Contains(l[0].Detail, "x.tfstate") || !strings.Contains(l[1].Detail, "x.unreadable") {
		t.Errorf("Diags: got %v, want two warnings, about x.tfstate and x.unreadable", l)
	}
}

// TestUnrecordedDiags warns about freed operations on some instances, and about late results that stay where
// they are.
func TestUnrecordedDiags(t *testing.T) {
	r := &store.Recovered{
		Freed: []store.FreedOperation{
			{Unfinished: state.Unfinished{Object: storetest.Address("a", 1), Action: "create"}},
			{Unfinished: state.Unfinished{Object: storetest.Address("a", 2), Action: "update"}},
		},
		Late: []store.LateResult{{Change: state.ObjectChange{Object: storetest.Address("a", 3)}}},
	}
	l := r.FreedDiags(func(a addr.Instance) bool { return a == storetest.Address("a", 2).Instance })
	if len(l) != 1 || !strings.Contains(l[0].Detail, "test_thing.a[2] (update)") || strings.Contains(l[0].Detail, "a[1]") {
		t.Errorf("FreedDiags: got %v, want a warning about test_thing.a[2] alone", l)
	}
	if l := r.FreedDiags(func(addr.Instance) bool { return false }); len(l) != 0 {
		t.Errorf("FreedDiags: got %v, want nothing about no instances", l)
	}
	if l := r.LeftDiags("w"); len(l) != 1 || !strings.Contains(l[0].Detail, "\"w\"") || !strings.Contains(l[0].Detail, "test_thing.a[3]") {
		t.Errorf("LeftDiags: got %v, want a warning about test_thing.a[3] in w", l)
	}
	r.Clear = 3
	if l := r.ClearDiags(2); len(l) != 1 || !strings.Contains(l[0].Detail, "mayfly state rekey") {
		t.Errorf("ClearDiags: got %v, want a warning with the command", l)
	}
	var none *store.Recovered
	if l := append(none.ClearDiags(0), r.ClearDiags(3)...); len(l) != 0 {
		t.Errorf("ClearDiags: got %v, want nothing after all rows were changed", l)
	}
	if l := append(none.LeftDiags("w"), (&store.Recovered{}).LeftDiags("w")...); len(l) != 0 {
		t.Errorf("LeftDiags: got %v, want nothing without late results", l)
	}
}

// TestWithoutListed leaves out the openings that the recovery of a state has listed, whatever the zone that
// their times are in.
func TestWithoutListed(t *testing.T) {
	at := time.Unix(1700000000, 5)
	opening := func(name string, at time.Time) state.Opening {
		return state.Opening{Instance: "ephemeral.x." + name, Provider: "p", Since: at}
	}
	open := []state.Opening{opening("a", at.In(time.FixedZone("there", 3600))), opening("a", at.Add(1)), opening("b", at)}
	for name, test := range map[string]struct {
		recovered *store.Recovered
		want      []state.Opening
	}{
		"nothing was recovered": {nil, open},
		"it was not listed":     {&store.Recovered{Open: []state.Opening{opening("a", at)}}, open},
		"it was listed":         {&store.Recovered{Saved: true, Open: []state.Opening{opening("a", at.UTC())}}, open[1:]},
		"all was listed":        {&store.Recovered{Saved: true, Open: []state.Opening{opening("a", at), opening("a", at.Add(1)), opening("b", at)}}, nil},
	} {
		if got := test.recovered.WithoutListed(slices.Clone(open)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
