package workdir

import (
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/engine/timing"
)

func (f *files) durationsPath() string { return filepath.Join(f.dataDir, "mayfly-durations.json") }

// durations returns how long operations took in earlier runs in the directory. A file that cannot be used
// counts as none: durations only make runs faster.
func (f *files) durations() *timing.Record {
	stored, err := safefile.Read(f.durationsPath(), maxRecord)
	if err != nil {
		return &timing.Record{}
	}
	return timing.Decode(stored)
}

// keepDurations stores a record for later runs if the directory has been initialized. Of two runs that end
// at the same time, one is remembered.
func (f *files) keepDurations(r *timing.Record) {
	if info, err := os.Stat(f.dataDir); err != nil || !info.IsDir() || !r.Changed() {
		return
	}
	stored, err := r.Encode()
	if err != nil {
		return
	}
	file, err := safefile.Temp(f.durationsPath())
	if err != nil {
		return
	}
	_, err = file.Write(stored)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), f.durationsPath())
	}
	if err != nil {
		_ = os.Remove(file.Name()) // nothing depends on the record
	}
}
