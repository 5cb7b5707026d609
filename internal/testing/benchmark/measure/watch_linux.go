package measure

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// every is how often the memory is looked at. The system keeps the highest value so far, so only growth in
// the last of these pauses is missed.
const every = 10 * time.Millisecond

// watcher looks at a running process.
type watcher struct {
	pid  int
	peak int64
}

func watch(pid int) *watcher { return &watcher{pid: pid} }

// finish waits until the process has ended, without collecting it, and returns the bytes that it has written.
func (w *watcher) finish() int64 {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if err := unix.Waitid(unix.P_PID, w.pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
				return
			}
		}
	}()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if kB := w.field("status", "VmHWM:"); kB > 0 {
			w.peak = kB << 10
		}
		select {
		case <-done:
			return w.field("io", "write_bytes:")
		case <-tick.C:
		}
	}
}

func (w *watcher) memory() int64 { return w.peak }

// field reads a number of a file of the process, 0 if it is not there.
func (w *watcher) field(file, name string) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", w.pid, file))
	if err != nil {
		return 0
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), name); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}
