package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// logRoom is how many lines may wait to be written.
	logRoom = 1024
	// logPause is how long a line waits for room before the log counts as unread.
	logPause = time.Second
)

// Log writes the lines of a log on its own goroutine. A provider blocks when its log is full, and keeps its
// resources open meanwhile; so lines that are not read in time are dropped and counted. It is safe for
// concurrent use.
type Log struct {
	Out io.Writer

	mu      sync.Mutex
	lines   []string
	missing int           // lines dropped after these
	freed   chan struct{} // closed when there is room again; nil if nothing waits for it
	idle    chan struct{} // closed when nothing is left to write; nil while that is so
}

// Add writes a line, which includes its line end, or drops it. If many lines are waiting, it first waits a
// moment.
func (l *Log) Add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.room() {
		l.missing++
		return
	}
	l.lines = append(l.lines, line)
	if l.idle == nil {
		l.idle = make(chan struct{})
		go l.write()
	}
}

// room reports whether there is room. It waits for room unless the last wait was in vain, so that an unread
// log delays a provider only once. l.mu is held.
func (l *Log) room() bool {
	if len(l.lines) < logRoom || l.missing > 0 {
		return l.missing == 0
	}
	if l.freed == nil {
		l.freed = make(chan struct{})
	}
	freed := l.freed
	l.mu.Unlock()
	timer := time.NewTimer(logPause)
	defer timer.Stop()
	select {
	case <-freed:
	case <-timer.C:
	}
	l.mu.Lock()
	return len(l.lines) < logRoom && l.missing == 0
}

// write writes until no lines are left. Errors are ignored: losing the log must not fail the run.
func (l *Log) write() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.lines) > 0 {
		batch, missing := l.lines, l.missing
		l.lines, l.missing = nil, 0
		if l.freed != nil {
			close(l.freed)
			l.freed = nil
		}
		l.mu.Unlock()
		for _, line := range batch {
			_, _ = io.WriteString(l.Out, line)
		}
		if missing > 0 {
			_, _ = fmt.Fprintf(l.Out, "(%d lines of the log are missing here: it was not read fast enough)\n", missing)
		}
		l.mu.Lock()
	}
	close(l.idle)
	l.idle = nil
}

// Flush waits until all lines are written.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.idle != nil {
		idle := l.idle
		l.mu.Unlock()
		<-idle
		l.mu.Lock()
	}
}
