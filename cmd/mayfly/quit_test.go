package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// quitAt sends SIGQUIT to this process at a moment of its life, and returns its exit status if that doesn't
// end it.
func quitAt(moment string) int {
	if moment == "ignored" {
		signal.Ignore(syscall.SIGQUIT)
	}
	endOnQuit()
	c := make(chan os.Signal, 1)
	if moment != "before a run" {
		stop := notify(c)
		if moment == "after a run" {
			stop()
		} else {
			defer stop()
		}
	}
	if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(syscall.SIGQUIT) != nil {
		return exitError
	}
	select {
	case <-c:
		time.Sleep(100 * time.Millisecond) // for another reader of the signal
	case <-time.After(time.Second):
	}
	return 0
}

func TestQuitShowsNoMemory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const quit = signalStatus + int(syscall.SIGQUIT)
	for moment, want := range map[string]int{"before a run": quit, "in a run": 0, "after a run": quit, "ignored": 0} {
		t.Run(moment, func(t *testing.T) {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), "MAYFLY_TEST_QUIT="+moment)
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("got exit status %d, want %d; output:\n%s", got, want, out)
			}
			if bytes.Contains(out, []byte("goroutine ")) {
				t.Errorf("got a stack trace, which has words of memory:\n%s", out)
			}
		})
	}
}
