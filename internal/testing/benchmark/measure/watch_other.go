//go:build !linux

package measure

// watcher knows nothing here: other systems don't tell it of processes that are not their own.
type watcher struct{}

func watch(int) watcher { return watcher{} }

func (watcher) finish() int64 { return 0 }

func (watcher) memory() int64 { return 0 }
