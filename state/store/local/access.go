package local

import (
	"errors"
	"fmt"
	"os"

	"github.com/mayfly-iac/mayfly/diag"
)

// accessError is a failed operation on one of the store's files. Its text names the file once.
type accessError struct {
	text string
	err  error
}

// Error implements error.
func (e *accessError) Error() string { return e.text }

// Unwrap returns the error of the operating system.
func (e *accessError) Unwrap() error { return e.err }

// failed describes err as a failure to read, write and so on; verb names the operation. The words are put
// together like this:
//
//	failed("the state", "a.tfstate", "read", err)  → the state a.tfstate could not be read: permission denied
func failed(what, path, verb string, err error) error {
	why := err
	var link *os.LinkError
	if errors.As(err, &link) { // it would also name a temporary file
		why = link.Err
	}
	return &accessError{fmt.Sprintf("%s %s could not be %s: %s", what, path, verb, diag.Reason(why)), err}
}
