//go:build unix

package doctor

import (
	"os"

	"golang.org/x/sys/unix"
)

// writable reports whether files can be made in a directory.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// shared says that others than its owner can read a file; "" if they cannot, or if there is none.
func shared(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return "which other users can read (chmod 600)"
}
