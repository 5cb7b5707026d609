//go:build unix

package plugin

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mayfly-iac/mayfly/diag"
)

// TestOwnSession keeps signals to the engine's process group, and hangups of its terminal, from plugins.
func TestOwnSession(t *testing.T) {
	pid := start(t, pluginCommand("6")).proc.cmd.Process.Pid
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("the plugin %d is in session: got %d, want %d: %v", pid, sid, pid, err)
	}
}

// TestForcedEndTakesTheGroup ends a plugin that ignores requests together with what runs it and what it runs.
func TestForcedEndTakesTheGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugin")
	script := fmt.Sprintf("#!/bin/sh\ntrap '' TERM INT\n%q &\nwait\n", os.Args[0])
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := pluginCommand("6")
	cmd.Path = path
	p, diags := Start(t.Context(), cmd)
	wantNone(t, diags)
	proc := p.(*client).proc
	gone := connectionEnd(t, proc.handshakeFields()[2:])
	if err := proc.kill(); err != nil {
		t.Error(err)
	}
	await(t, "the plugin behind the script to end", gone)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestEndsWithTheEngine kills an engine, which then has no chance to end its plugin.
func TestEndsWithTheEngine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not end processes with their parents")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = pluginCommand("engine").Env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	gone := connectionEnd(t, strings.Fields(line))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	await(t, "the plugin to end with the engine", gone)
}

// connectionEnd connects to a plugin, given as network and address, and returns what is closed when the
// plugin has ended.
func connectionEnd(t *testing.T, at []string) <-chan struct{} {
	t.Helper()
	conn, err := net.Dial(at[0], at[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = conn.Read(make([]byte, 1)) // a server waits for its clients to speak first
	}()
	return gone
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("waited too long for %s", what)
	}
}

func TestCloseEndsProcess(t *testing.T) {
	for _, halted := range []bool{false, true} {
		t.Run(fmt.Sprint("halted ", halted), func(t *testing.T) {
			p, diags := Start(t.Context(), pluginCommand("6"))
			wantNone(t, diags)
			proc := p.(*client).proc
			wantWarm(t, p.(*client))
			if halted {
				if err := proc.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			begin := time.Now()
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took > 4*time.Second {
				t.Errorf("took %s", took)
			}
			select {
			case <-proc.exited:
			default:
				t.Error("the process still runs")
			}
			wantOne(t, readThing(soon(t), p, "x"), diag.Error, fakeName)
		})
	}
}

// TestGrandchildHoldsPipes: a child of the plugin that survives it and has its standard error open must not
// block Close.
func TestGrandchildHoldsPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugin")
	script := fmt.Sprintf("#!/bin/sh\nsleep 20 &\nexec %q\n", os.Args[0])
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := pluginCommand("6")
	cmd.Path = path
	p, diags := Start(t.Context(), cmd)
	wantNone(t, diags)
	begin := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("took %s", took)
	}
}
