package store

import (
	"errors"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// Kinds of [Problem], for errors.Is.
var (
	ErrNotFound    = errors.New("not found")
	ErrNoStore     = errors.New("store file does not exist") // wrapped together with ErrNotFound
	ErrExists      = errors.New("already exists")
	ErrWrongKey    = errors.New("wrong key or passphrase")
	ErrKeyMissing  = errors.New("key file missing")
	ErrKeyUnusable = errors.New("key file unusable")
	ErrDamaged     = errors.New("store damaged")
	ErrTooNew      = errors.New("store format too new")
	ErrTooLarge    = errors.New("too large")
	ErrBusy        = errors.New("store locked")
	ErrNoLease     = errors.New("no live lease")
	ErrInvalid     = errors.New("invalid argument")
	ErrIO          = errors.New("file operation failed")
)

// Problem is a failure that the user can act on: Summary names the failure, Detail its place, cause and
// remedy. Neither text ever contains a secret, a token, key material, or a path for which the options have
// another name.
type Problem struct {
	Kind    error // one of the Err… variables
	Summary string
	Detail  string
	Cause   error // underlying error of the operating system or context; may be nil
}

// Error returns both texts on one line.
func (p *Problem) Error() string { return p.Summary + ": " + p.Detail }

// Unwrap returns the kind and the cause, for errors.Is.
func (p *Problem) Unwrap() []error {
	kinds := []error{p.Kind}
	if p.Kind == ErrNoStore {
		kinds = append(kinds, ErrNotFound)
	}
	if p.Cause != nil {
		kinds = append(kinds, p.Cause)
	}
	return kinds
}

// ioProblem returns the problem of a file that the system refused; file is its name in errors.
func ioProblem(summary, file string, cause error, advice string) *Problem {
	return &Problem{Kind: ErrIO, Summary: summary, Detail: "The " + file + ": " + safefile.Reason(cause) + ". " + advice, Cause: cause}
}
