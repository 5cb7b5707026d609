package diag

import "github.com/mayfly-iac/mayfly/internal/base/bug"

// Bug describes a panic during work on what by the place in the program where it happened. r is a *bug.Error,
// or the value that the function calling Bug has recovered.
func Bug(what string, r any) List {
	e, ok := r.(*bug.Error)
	if !ok {
		e = bug.New(r)
	}
	return Errorf("Bug in Mayfly", "While working on %s, the program encountered %s at %s. What was done before is kept. Please report this, with the configuration that causes it.", what, e.Reason, e.Place)
}
