package unary

import (
	"context"
	"errors"
	"fmt"
)

// Code is the status of a call, with the numbers of gRPC.
type Code uint32

// The codes of gRPC.
const (
	OK Code = iota
	Canceled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

// Error is the outcome of a call that failed.
type Error struct {
	Code    Code
	Message string
	// Unsent reports whether the server certainly did not begin to process the call.
	Unsent bool
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("the call failed with code %d: %s", e.Code, e.Message)
}

// CodeOf returns the code of an error: OK for nil, and Unknown for an error without a code.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	}
	return Unknown
}

// fail returns the error of a call, nil for OK.
func fail(code Code, format string, args ...any) error {
	if code == OK {
		return nil
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// failUnsent returns the error of a call that the server did not begin to process.
func failUnsent(format string, args ...any) error {
	return &Error{Code: Unavailable, Message: fmt.Sprintf(format, args...), Unsent: true}
}

// contextError returns the error of a call whose context has ended.
func contextError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fail(DeadlineExceeded, "%s", err)
	}
	return fail(Canceled, "%s", err)
}
