//go:build !linux

package program

// temporary makes a directory among the temporary files: this system has no disk in memory that is always
// there.
func temporary() (dir string, remove func() error, err error) { return onDisk() }
