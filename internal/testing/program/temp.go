package program

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
)

// Run runs a package's tests and returns the exit status. The directory for temporary files is in memory
// meanwhile, where that is possible: tests make and remove so many files that disks take a large part of the
// time. Garbage is collected less often.
func Run(m interface{ Run() int }) int {
	return Within(func(string) int { return m.Run() })
}

// The garbage collector runs less often in tests, which make much and keep little: it would take a sixth of
// the processor time of those that start no programs. It does not let them take more memory than the limit.
const (
	growth      = 400     // percent, by which the heap may grow before the next collection
	memoryLimit = 1 << 30 // bytes
)

// collectRarely has the garbage collector of this process run less often, unless the environment tunes it.
func collectRarely() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(growth)
		debug.SetMemoryLimit(memoryLimit)
	}
}

// executables is the directory on a disk where programs of the tests are; "" means that they are with the
// temporary files. The system maps files on a disk in larger pieces than files in memory,
// which saves a short command a quarter of its processor time.
var executables string

// placed returns where a program is built or copied that tests start, whose temporary files are in dir.
func placed(dir, name string) string {
	if executables != "" {
		dir = executables
	}
	return filepath.Join(dir, name)
}

// Within calls do with a new directory, which is gone when it returns, and returns the result of do. If the
// directory is in memory, it is also the one for temporary files of this process and of those that it starts.
func Within(do func(dir string) int) (status int) {
	dir, remove, err := temporary()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	collectRarely()
	defer func() {
		if err := remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = max(status, 1)
		}
	}()
	return do(dir)
}

// onDisk makes a directory among the temporary files.
func onDisk() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", pattern)
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// pattern is short because there are sockets in the directories, whose paths have limits.
const pattern = "mayfly-*"
