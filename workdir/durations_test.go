package workdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/timing"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestDurations keeps a record in directories that have been initialized or not, and over a damaged file.
func TestDurations(t *testing.T) {
	object := addr.Instance{Resource: addr.Resource{Mode: addr.Managed, Type: "thing", Name: "x"}}
	d := New(Options{Environ: []string{"TF_DATA_DIR=" + filepath.Join(t.TempDir(), "data")}})
	var slow, fast timing.Record
	slow.Took(object, event.OpCreate, time.Second)
	fast.Took(object, event.OpCreate, time.Millisecond)
	d.files.keepDurations(&slow)
	if _, err := os.Stat(d.files.dataDir); err == nil {
		t.Error("the data directory was made for a record")
	}
	if err := os.Mkdir(d.files.dataDir, 0o755); err != nil {
		t.Fatal(err)
	}
	d.files.keepDurations(&fast)
	if files, err := os.ReadDir(d.files.dataDir); err != nil || len(files) > 0 {
		t.Errorf("short operations were stored: %v, %v", files, err)
	}
	filetest.Write(t, d.files.durationsPath(), "damaged")
	if got := d.files.durations().Expected(object, event.OpCreate); got != 1 {
		t.Errorf("a damaged file says %s, want 1", got)
	}
	d.files.keepDurations(&slow)
	if got := d.files.durations().Expected(object, event.OpCreate); got != time.Second {
		t.Errorf("the record says %s, want 1s", got)
	}
	if files, err := os.ReadDir(d.files.dataDir); err != nil || len(files) != 1 {
		t.Errorf("files: got %v, %v, want 1", files, err)
	}
}
