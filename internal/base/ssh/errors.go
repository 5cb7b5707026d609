package ssh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// Error is a failure on the way to a host or on it. Its text may name hosts, users and files, but contains
// no password or key.
type Error struct {
	public string // without any settings
	detail string // additional information; may be empty
	err    error
	final  bool // retrying cannot help
}

// Error implements error.
func (e *Error) Error() string {
	text := e.public
	if e.detail != "" {
		text += " " + e.detail
	}
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// ExitError is the failure of a command that ran.
type ExitError struct {
	Status int
	Signal string // without "SIG", if a signal ended the command
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Signal != "" {
		return "ended by signal " + e.Signal
	}
	return "exit status " + strconv.Itoa(e.Status)
}

// Public returns the text of an error that may be shown if the settings and arguments that led to it are
// secret. It is decided by the kind of error alone: no text of an error from elsewhere is used.
func Public(err error) string {
	var exit *ExitError
	var own *Error
	switch {
	case errors.As(err, &own):
		var exit *ExitError
		if errors.As(own.err, &exit) {
			return own.public + ": " + exit.Error()
		}
		if why := reason(own.err); why != "" {
			return own.public + ": " + why
		}
		return own.public
	case errors.As(err, &exit):
		return exit.Error()
	default:
		if why := reason(err); why != "" {
			return why
		}
		return "the operation failed"
	}
}

// reason describes a common cause without any names, or returns "".
func reason(err error) string {
	var own *Error
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	var missing *ssh.ExitMissingError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &own):
		return Public(own)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to the host"
	case errors.As(err, &dns):
		return "the name of the host could not be resolved"
	case errors.As(err, &missing):
		return "the connection ended before the command did"
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or directory"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "there was no answer in time"
	}
	return ""
}

// isFinal reports whether retrying cannot help.
func isFinal(err error) bool {
	var own *Error
	for errors.As(err, &own) {
		if own.final {
			return true
		}
		err = own.err
	}
	return false
}

// finalError returns an error for which retrying cannot help. Its text must not contain settings.
func finalError(format string, args ...any) *Error {
	return &Error{public: strings.TrimSpace(fmt.Sprintf(format, args...)), final: true}
}
