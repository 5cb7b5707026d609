package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestEmptyState puts a state file without content beside things that tell, or don't, that there was a state.
func TestEmptyState(t *testing.T) {
	const killed = `{"ID":"1","Operation":"OperationTypeApply","Info":"","Who":"ada@host"}`
	for name, test := range map[string]struct {
		files map[string]string
		lost  string // what the error names; "" for a warning
		quiet bool   // not even that
	}{
		"alone":                    {nil, "", false},
		"backup":                   {map[string]string{"terraform.tfstate.backup": "{}"}, "cp DIR/terraform.tfstate.backup DIR/terraform.tfstate", false},
		"stamped backup":           {map[string]string{"terraform.tfstate.123.backup": "{}"}, "terraform.tfstate.123.backup", false},
		"empty backup":             {map[string]string{"terraform.tfstate.backup": ""}, "", false},
		"killed apply":             {map[string]string{".terraform.tfstate.lock.info": killed}, "ada@host", false},
		"killed plan":              {map[string]string{".terraform.tfstate.lock.info": strings.Replace(killed, "Apply", "Plan", 1)}, "", false},
		"killed before any":        {map[string]string{".terraform.tfstate.lock.info": strings.Replace(killed, `"Info":""`, `"Info":"`+noStateYet+`"`, 1)}, "", true},
		"backup of something else": {map[string]string{"other.tfstate.backup": "{}"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range test.files {
				filetest.Write(t, filepath.Join(dir, file), text)
			}
			if err := os.WriteFile(filepath.Join(dir, DefaultPath), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first attempt must not take away what tells
				m := open(t, Options{Dir: dir})
				_, readErr := m.Read(t.Context())
				id, lockErr := m.Lock(t.Context(), storetest.Info("a"))
				want := strings.ReplaceAll(test.lost, "DIR", dir)
				for _, err := range []error{readErr, lockErr} {
					if (test.lost != "") != errors.Is(err, store.ErrEmptied) || err != nil && !strings.Contains(err.Error(), want) {
						t.Fatalf("reading, locking: got %v; %v, want errors with %q (none if empty)", readErr, lockErr, want)
					}
				}
				if lockErr != nil {
					if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.Is(err, store.ErrEmptied) {
						t.Errorf("writing: %v", err)
					}
					continue
				}
				if err := m.Unlock(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				if r := m.Recovered(); (r == nil) != test.quiet || r != nil && (r.Empty != filepath.Join(dir, DefaultPath) || len(r.Diags()) != 1) {
					t.Errorf("Recovered: got %+v, want %s found empty, unless it is quiet (%t)", r, DefaultPath, test.quiet)
				}
				if test.quiet {
					break // the run has ended as it should and takes the information along
				}
			}
		})
	}
}

// TestEmptyStateOfALivingRun reads while another run, the first of all, holds the lock: its empty file is no
// lost state.
func TestEmptyStateOfALivingRun(t *testing.T) {
	dir := t.TempDir()
	defer mustLock(t, open(t, Options{Dir: dir}))()
	m := open(t, Options{Dir: dir})
	if f, err := m.Read(t.Context()); f != nil || err != nil || m.Recovered() != nil {
		t.Errorf("read %v, %v, %+v", f, err, m.Recovered())
	}
}
