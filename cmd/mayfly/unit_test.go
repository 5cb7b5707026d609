package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func TestPlacesHoldNoValues(t *testing.T) {
	stack := func(secret string) []byte {
		if secret == "" {
			t.Fatal("no secret")
		}
		return debug.Stack()
	}("correct-horse")
	got := places(stack)
	if !strings.Contains(got, "TestPlacesHoldNoValues") || !strings.Contains(got, "unit_test.go:") {
		t.Errorf("the places are missing:\n%s", got)
	}
	for _, bad := range []string{"0x", "correct-horse", "goroutine"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q in:\n%s", bad, got)
		}
	}
}

func TestGuarded(t *testing.T) {
	var stderr strings.Builder
	code := guarded(environment{Stderr: &stderr, Stdin: panicking{}, Stdout: &stderr, Notify: func(chan<- os.Signal) func() { return func() {} }}, []string{"state", "push", "-"})
	if code != exitCrash || !strings.Contains(stderr.String(), "this is a bug") {
		t.Errorf("exit status %d\n%s", code, stderr.String())
	}
	if strings.Contains(stderr.String(), "correct-horse") {
		t.Errorf("the panic's value is shown:\n%s", stderr.String())
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("correct-horse") }

func TestAddressLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	filetest.Write(t, name, "\n# x\n a.b \r\nc.d[0]")
	got, err := addressLines(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.b", "c.d[0]"}, got); diff != "" {
		t.Error(diff)
	}
}
