package modules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzRead reads manifests of installed modules. What is read is written and read again without a difference.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a.b","Source":"registry.opentofu.org/x/y/z","Version":"1.0.0","Dir":".terraform/modules/a.b"}]}`))
	f.Add([]byte(`{"Modules":[{"Key":"a","Source":"./a","Dir":"..\\a"},{"Key":"a","Dir":"/etc"}]}`))
	f.Add([]byte(`{"Modules":null}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "modules"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(manifestPath(dir), src, 0o600); err != nil {
			t.Fatal(err)
		}
		records, diags := read(dir)
		if diags.HasErrors() {
			if !strings.Contains(diags.Err().Error(), manifestPath(dir)) {
				t.Errorf("the error does not name the file: %s", diags)
			}
			return
		}
		if err := write(dir, records); err != nil {
			t.Fatal(err)
		}
		again, diags := read(dir)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		byKey := func(a, b Record) int { return strings.Compare(a.Key, b.Key) }
		slices.SortStableFunc(records, byKey)
		slices.SortStableFunc(again, byKey)
		if !slices.Equal(records, again) {
			t.Errorf("got %+v, want the same when they are read again: %+v", again, records)
		}
	})
}
