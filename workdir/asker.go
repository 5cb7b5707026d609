package workdir

import (
	"context"
	"errors"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Asker asks a person. The form of questions, and the spellings of yes, are its affair. Questions fail with
// ErrNoAnswer if there is no answer to be had, such as at the end of input, and with ctx's cause if that ends
// first.
type Asker interface {
	// Value asks for the value of a variable, in the syntax that -var has. Values of variables for which
	// Secret reports true must not be shown.
	Value(ctx context.Context, v *config.Variable) (string, error)
	// Again reports the mistakes in the answer of Value, unless no one could give another. It returns whether
	// Value is to be called again.
	Again(wrong diag.List) bool
	// CopyStates asks whether the states of a number of workspaces may be copied to the backend of the
	// configuration.
	CopyStates(ctx context.Context, workspaces int) (bool, error)
}

// ErrNoAnswer is returned by an Asker that gets no answer.
var ErrNoAnswer = errors.New("there is no answer")
