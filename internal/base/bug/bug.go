// Package bug turns panics into errors, so that a defect of the program ends one task and not the process,
// which would lose resources that other tasks have open and have not recorded.
//
// It may import nothing of this module. It must not know the work of tasks.
package bug

import (
	"fmt"
	"runtime"
	"strings"
)

// Error is a panic. It contains the place in the program, and, of the panic's value, only the text of a
// runtime error, since other values could contain secrets.
type Error struct{ Reason, Place string }

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("this is a bug in Mayfly: the program encountered %s at %s", e.Reason, e.Place)
}

// Call calls f and returns its panic as an *Error, nil if there was none.
func Call(f func()) error {
	return Catch(func() error {
		f()
		return nil
	})
}

// Catch calls f and returns its error or, as an *Error, its panic.
func Catch(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = New(r)
		}
	}()
	return f()
}

// New describes the panic with the value r. The deferred function that recovered r calls it.
func New(r any) *Error {
	if passed, ok := r.(*Error); ok { // from another goroutine, which knew the place
		return passed
	}
	e := &Error{Reason: "an unexpected condition", Place: place()}
	if err, ok := r.(runtime.Error); ok {
		e.Reason = err.Error()
	}
	return e
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
