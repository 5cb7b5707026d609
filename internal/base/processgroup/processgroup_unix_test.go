//go:build unix

package processgroup

import (
	"bufio"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKill ends a shell whose child, and the child's child, ignore interrupts: in a group of their own,
// and in the one of a terminal, where they are known by their parents.
func TestKill(t *testing.T) {
	for _, own := range []bool{true, false} {
		if !own && runtime.GOOS != "linux" {
			continue
		}
		t.Run("own="+strconv.FormatBool(own), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `trap "" INT; (trap "" INT; (exec sleep 60) & echo $!; echo done; wait) & wait`)
			Prepare(cmd)
			cmd.SysProcAttr = nil
			if own {
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(out)
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			child, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			Interrupt(cmd)
			if err := syscall.Kill(child, 0); err != nil {
				t.Fatalf("the child heeded an interrupt that it ignores: %v", err)
			}
			if err := cmd.Cancel(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				_, _ = in.ReadString('\n') // returns when no process holds the pipe any more
				close(ended)
			}()
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				_ = syscall.Kill(child, syscall.SIGKILL)
				t.Error("the child goes on")
			}
			_ = cmd.Wait()
		})
	}
}
