package program

import (
	"fmt"
	"os"
)

// Run runs a package's tests and returns the exit status. The directory for temporary files is in memory
// meanwhile, where that is possible: tests make and remove so many files that disks take a large part of the
// time.
func Run(m interface{ Run() int }) int {
	return Within(func(string) int { return m.Run() })
}

// Within calls do with a new directory, which is gone when it returns, and returns the result of do. If the
// directory is in memory, it is also the one for temporary files of this process and its children.
func Within(do func(dir string) int) (status int) {
	dir, remove, err := temporary()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
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
