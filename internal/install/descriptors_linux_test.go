package install

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestUnpackClosesItsFiles unpacks archives of many files, with and without success, and counts what is left
// open.
func TestUnpackClosesItsFiles(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what was forgotten
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(entries)
	}
	before := open()
	for _, archive := range [][]member{
		{{name: "a", content: "1"}, {name: "b/c", content: "2"}, {name: "d/"}},
		{{name: "a", content: "1"}, {name: "../evil"}},
		{{name: "a", content: "1"}, {name: "a", content: "2"}},
	} {
		_ = unpack(zipOf(t, archive...), t.TempDir(), packageLimits)
	}
	if after := open(); after != before {
		t.Errorf("after unpacking: got %d open files, want %d as before", after, before)
	}
	f := newFixture(t)
	f.packed("random", "1.0.0", "linux_amd64", "x")
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	f.init(reqs, nil, Options{})
	if err := os.RemoveAll(f.inst.DataDir); err != nil {
		t.Fatal(err)
	}
	before = open()
	f.init(reqs, nil, Options{})
	if after := open(); after != before {
		t.Errorf("after installing: got %d open files, want %d as before", after, before)
	}
}
