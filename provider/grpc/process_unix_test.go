//go:build unix

package grpcprovider

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
)

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

// TestGrandchildHoldsPipes: a child of the plugin that survives it and has its standard error open must not block Close.
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
