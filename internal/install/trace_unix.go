//go:build unix

package install

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileTrace identifies a file and its last change. The system sets the time of the last change (ctime) by its
// own clock, unlike the time of the last modification, which any owner can set.
func fileTrace(path string) (string, error) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mtim, st.Ctim), err
}
