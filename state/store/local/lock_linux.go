package local

import "golang.org/x/sys/unix"

// setLock requests a lock that belongs to the open file instead of the process. It excludes the
// process-wide locks of other engines just as they exclude each other. But it is not released when other
// code in this process, such as the language's file function, opens and closes the state file.
const setLock = unix.F_OFD_SETLK
