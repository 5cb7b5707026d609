package local

import "golang.org/x/sys/unix"

// setLock asks for a lock that belongs to the open file instead of the process. It excludes the process-wide
// locks of other engines as those exclude each other, but does not vanish when something else in this
// process, such as the configuration's file function, opens and closes the state file.
const setLock = unix.F_OFD_SETLK
