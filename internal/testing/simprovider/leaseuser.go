package simprovider

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

func (c *cloud) userPath(id, pid string) string {
	return filepath.Join(c.dir, ".sim", fmt.Sprintf("user-%s-%s", id, pid))
}

// noteUser records that this process was configured with the secret, if it is a lease.
func (c *cloud) noteUser(secret string) error {
	if !strings.HasPrefix(secret, leasePrefix) {
		return nil
	}
	return os.WriteFile(c.userPath(simlog.Hash(secret), strconv.Itoa(os.Getpid())), nil, 0o600)
}

// liveUser returns the id of a running process that was configured with the lease, or 0 if there is none.
// This process does not count, since it may serve several providers.
func (c *cloud) liveUser(id string) int {
	paths, err := filepath.Glob(c.userPath(id, "*"))
	if err != nil {
		return 0
	}
	for _, p := range paths {
		pid, err := strconv.Atoi(p[strings.LastIndexByte(p, '-')+1:])
		if err != nil || pid == os.Getpid() {
			continue
		}
		process, err := os.FindProcess(pid)
		if err == nil && process.Signal(syscall.Signal(0)) == nil {
			return pid
		}
	}
	return 0
}
