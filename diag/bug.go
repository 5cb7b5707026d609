package diag

import (
	"fmt"
	"runtime"
	"strings"
)

// Bug describes a panic during work on what by the place in the program where it happened. The deferred
// function that recovered r calls it. r is shown only if it is a runtime error, since other values could
// contain secrets.
func Bug(what string, r any) List {
	reason := "an unexpected condition"
	if err, ok := r.(runtime.Error); ok {
		reason = err.Error()
	}
	return Errorf("Bug in Mayfly", "While working on %s, the program encountered %s at %s. What was done before is kept. Please report this, with the configuration that causes it.", what, reason, place())
}

// place returns the innermost frame of this module below the panic.
func place() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	panicked := false
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "runtime.") {
			panicked = true
		} else if panicked {
			return fmt.Sprintf("%s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
