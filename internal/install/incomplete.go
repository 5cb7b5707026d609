package install

import (
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// Incomplete warns of selections in next for which the lock file has checksums of one platform only, unless
// they were the same in lock and had any. A registry gives the checksums of all platforms.
func Incomplete(lock, next *lockfile.Lock) diag.List {
	var names strings.Builder
	for e := range next.All() {
		archives := 0
		for _, h := range e.Hashes {
			if h.Archive() {
				archives++
			}
		}
		if old, ok := lock.Entry(e.Provider); archives < 2 && (!ok || old.Version != e.Version || len(old.Hashes) == 0) {
			names.WriteString("\n  - " + e.Provider.ForDisplay())
		}
	}
	if names.Len() == 0 {
		return nil
	}
	return diag.Warnf("Incomplete lock file information for providers",
		"For these providers the lock file has checksums for %s only, since their source gives no others:%s\n\nTo use it on other platforms, run:\n  mayfly providers lock -platform=OS_ARCH", CurrentPlatform(), names.String())
}
