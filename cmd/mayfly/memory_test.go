package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestChangesAreFreeBeforeTheStateIsStored looks from the server that stores the state whether the process
// still holds changes of the plan. Storing a large state takes much memory itself.
func TestChangesAreFreeBeforeTheStateIsStored(t *testing.T) {
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = rate }()
	const objects = 20
	var stored []byte
	makes, before, most := "", int64(0), int64(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch body, err := io.ReadAll(r.Body); {
		case err != nil:
			t.Error(err)
		case r.Method == http.MethodPost:
			stored, most = body, max(most, inUse(makes, before))
		case stored == nil:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Write(stored)
		}
	}))
	defer server.Close()
	t.Chdir(t.TempDir())
	config := fmt.Sprintf("terraform {\n  backend \"http\" {\n    address = %q\n  }\n}\n\nresource \"terraform_data\" \"a\" {\n  count = %d\n}\n", server.URL, objects)
	if err := os.WriteFile("main.tf", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args  string
		makes string // the function that makes the changes
	}{
		{"init", ""},
		{"plan -out=p", ""},
		{"apply p", "planfile.(*decoder).change"},
		{"apply -auto-approve -destroy", "(*deletePlan).newChange"},
		{"apply -auto-approve", "(*instancePlan).newChange"},
	} {
		makes, before, most = row.makes, inUse(row.makes, 0), -1
		var out bytes.Buffer
		code := run(t.Context(), strings.Fields(row.args), environment{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: []string{"HOME=" + t.TempDir()},
			Notify: func(chan<- os.Signal) func() { return func() {} },
		})
		if code != exitOK {
			t.Fatalf("%s: got the exit status %d, want %d: %s", row.args, code, exitOK, out.String())
		}
		if row.makes != "" && (most > before || most < 0) {
			t.Errorf("%s: got %d changes in memory, want %d as before", row.args, most, before)
		}
	}
}

// inUse returns how many objects that a function has made are in use. It waits until there are no more than
// before, for a while: a goroutine that had one may be about to end.
func inUse(makes string, before int64) (n int64) {
	for range 20 {
		runtime.GC()
		runtime.GC() // the profile is as of the last but one
		known, _ := runtime.MemProfile(nil, false)
		records := make([]runtime.MemProfileRecord, 2*known)
		known, _ = runtime.MemProfile(records, false)
		n = 0
		for _, r := range records[:known] {
			frames := runtime.CallersFrames(r.Stack())
			frame, more := frames.Next()
			for more && strings.HasPrefix(frame.Function, "runtime.") {
				frame, more = frames.Next()
			}
			if strings.HasSuffix(frame.Function, makes) {
				n += r.InUseObjects()
			}
		}
		if n <= before {
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
	return n
}
