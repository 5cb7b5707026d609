package term

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLogLinesDoNotHoldUp logs much more than anybody reads, twice.
func TestLogLinesDoNotHoldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newStall()
		l := &Log{Out: out}
		begun := time.Now()
		const extra = 100
		for i := range 2*logRoom + extra {
			l.Add(fmt.Sprintln("line", i))
			synctest.Wait()
		}
		if took := time.Since(begun); took != logPause {
			t.Errorf("logging took %s, want %s", took, logPause)
		}
		out.goOn()
		l.Flush()
		l.Add("the end\n")
		l.Flush()
		lines := strings.Split(out.text.String(), "\n")
		for i, want := range map[int]string{
			0: "line 0", logRoom: fmt.Sprint("line ", logRoom),
			logRoom + 1: fmt.Sprintf("(%d lines of the log are missing here: it was not read fast enough)", logRoom+extra-1), logRoom + 2: "the end",
		} {
			if lines[i] != want {
				t.Errorf("line %d: got %q, want %q", i, lines[i], want)
			}
		}
	})
}

// TestLogLinesWait has a reader that is slow, and goes on within the pause.
func TestLogLinesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newStall()
		l := &Log{Out: out}
		time.AfterFunc(logPause/2, out.goOn)
		for i := range 3 * logRoom {
			l.Add(fmt.Sprintln("line", i))
		}
		l.Flush()
		if n := strings.Count(out.text.String(), "line "); n != 3*logRoom {
			t.Errorf("got %d lines, want %d", n, 3*logRoom)
		}
	})
}
