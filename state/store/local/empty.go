package local

import (
	"fmt"
	"os"
	"time"

	"github.com/mayfly-iac/mayfly/state/store"
)

// checkEmpty returns an error if the state file has no content but files beside it show that there was a
// state: continuing would create all objects again. Without a state there should be no file, but killed
// runs leave an empty one, since it is the file that is locked.
func (m *medium) checkEmpty() error {
	info := m.holder()
	if m.neverWritten() {
		return nil
	}
	trace, remedy := "", ""
	if backup := m.newestBackup(); backup != "" {
		trace = "there is a backup of it in " + backup
		remedy = fmt.Sprintf("To restore the backup, run: cp %s %s", backup, m.paths.read)
	} else if info != nil && info.Operation != "OperationTypePlan" {
		trace = fmt.Sprintf("a run of %s that has worked on it since %s ended abnormally (%s)",
			info.Who, info.Created.Local().Format(time.DateTime), m.paths.info)
		remedy = "Restore it from a copy"
	}
	if trace == "" {
		return nil
	}
	return fmt.Errorf("%w: %s has no content, but %s. Nothing has been changed.\n\n%s. If there is no state to restore, remove the empty file, and Mayfly starts from nothing",
		store.ErrEmptied, m.paths.read, trace, remedy)
}

// neverWritten reports whether the run that created the file, or a later one, has recorded that there was
// no state.
func (m *medium) neverWritten() bool {
	info := m.holder()
	return info != nil && info.Info == noStateYet
}

// newestBackup returns the newest backup of the state that is not empty, or "" if there is none.
func (m *medium) newestBackup() string {
	newest, when := "", time.Time{}
	for _, path := range m.backups() {
		if fi, err := os.Stat(path); err == nil && fi.ModTime().After(when) {
			newest, when = path, fi.ModTime()
		}
	}
	return newest
}
