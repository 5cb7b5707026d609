//go:build !windows

package store

// readsNeedLock is false: after a rename, open readers keep their old file, so reading needs neither a lock
// nor write permission for the directory.
const readsNeedLock = false
