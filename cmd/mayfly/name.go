package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
)

// ownName is what the program calls itself to people.
const ownName = "Mayfly"

// nameOn returns what the program calls itself in the sentences on a stream: its own name on a terminal.
// Everywhere else it is that of the engine that programs take it for, because they look for sentences with
// that name, such as "OpenTofu will perform the following actions:", and lose what follows without it.
func (e environment) nameOn(stream io.Writer) string {
	if isTerminal(stream) {
		return ownName
	}
	return e.compatibleName()
}

// compatibleName returns the name of the engine that programs take this one for: the one by whose name it
// was started, if that was a link or a copy.
func (e environment) compatibleName() string {
	base := strings.ToLower(filepath.Base(e.Called))
	if strings.TrimSuffix(base, ".exe") == "terraform" {
		return "Terraform"
	}
	return "OpenTofu"
}

// isTerminal reports whether a person reads the stream.
func isTerminal(stream io.Writer) bool {
	return term.Of(stream) != nil
}
