package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestGeneratedCodeIsCurrent generates again and compares with what is committed.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	for _, test := range []struct {
		dir, proto, generated string
		include               []string
	}{
		{"../tfplugin6", "mayfly_wire6.proto", "mayfly_wire6.pb.go", []string{"../tfplugin6"}},
		{"../tfplugin5", "mayfly_wire5.proto", "mayfly_wire5.pb.go", []string{"../tfplugin5", "../tfplugin6"}},
	} {
		out := t.TempDir()
		if err := run(test.include, out, []string{test.proto}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(out, test.generated))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(test.dir, test.generated))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s: got %d bytes that differ, want the %d bytes generated from %s: run go generate in its folder", test.generated, len(got), len(want), test.proto)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "bad.proto"), "message {")
	for _, name := range []string{"bad.proto", "absent.proto"} {
		if err := run([]string{dir}, dir, []string{name}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
