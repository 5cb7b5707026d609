package store

// readsNeedLock is true: a file that a reader has open can't be replaced here.
const readsNeedLock = true
