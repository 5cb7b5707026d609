//go:build !unix

package doctor

import "os"

// writable reports whether files can be made in a directory, as far as its mode says.
func writable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o200 != 0
}

// shared says that others than its owner can read a file, which a mode does not tell here.
func shared(string) string { return "" }
