package local

import (
	"errors"
	"fmt"
	"os"

	"github.com/mayfly-iac/mayfly/diag"
)

// accessError is about an operation on one of the store's files. Its text names the file once.
type accessError struct {
	text string
	err  error
}

// Error implements error.
func (e *accessError) Error() string { return e.text }

// Unwrap returns the error of the operating system.
func (e *accessError) Unwrap() error { return e.err }

// failed returns err as an error that what it names could not be read, written and so on, as the verb has it.
func failed(what, path, verb string, err error) error {
	why := err
	var link *os.LinkError
	if errors.As(err, &link) { // it names a temporary file besides
		why = link.Err
	}
	return &accessError{fmt.Sprintf("%s %s could not be %s: %s", what, path, verb, diag.Reason(why)), err}
}
