package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Answers classify the errors that a client of a service returns.
type Answers struct {
	// Missing reports whether an answer says that an object does not exist, and not its bucket.
	Missing func(e *cloud.Error) bool
	// Passes reports whether the same request may succeed later.
	Passes func(e *cloud.Error) bool
	// Explain adds advice to an answer.
	Explain func(e *cloud.Error)
	// Arguments are the arguments to check if there is no such server; if "", there may be one later.
	Arguments string
}

// Hints explains answers by their codes, if nothing else explains them.
func Hints(byCode map[string]string) func(e *cloud.Error) {
	return func(e *cloud.Error) {
		e.Hint = cmp.Or(e.Hint, byCode[e.Code])
	}
}

// IsMissing reports whether an error says that an object does not exist, and not its bucket.
func (a *Answers) IsMissing(err error) bool {
	e := (*cloud.Error)(nil)
	return errors.As(err, &e) && a.Missing(e)
}

// Got returns an object that was read in the form that a Bucket has: nil if it does not exist.
func (a *Answers) Got(data []byte, version string, err error) ([]byte, remote.Version, error) {
	if a.IsMissing(err) {
		return nil, "", nil
	}
	return data, remote.Version(version), a.Classify(err)
}

// Deleted is Classify after an object was deleted, which need not have existed.
func (a *Answers) Deleted(err error) error {
	if a.IsMissing(err) {
		return nil
	}
	return a.Classify(err)
}

// Classify marks an error that may pass, and adds advice to others. It returns nil for nil.
func (a *Answers) Classify(err error) error {
	e, lost, unknown, damaged := (*cloud.Error)(nil), (*url.Error)(nil), (*net.DNSError)(nil), cloud.DamagedError("")
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &unknown) && unknown.IsNotFound && a.Arguments != "":
		return fmt.Errorf("%w. Check the arguments %s", err, a.Arguments)
	case errors.As(err, &damaged):
		return &remote.Passing{Err: err}
	case errors.As(err, &e) && a.Passes(e):
		return &remote.Passing{Err: err}
	case errors.As(err, &e):
		a.Explain(e)
	case errors.As(err, &lost):
		return &remote.Passing{Err: err}
	}
	return err
}
