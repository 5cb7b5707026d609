package view

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// Address writes the message about an address in the state.
func (s *JSONStream) Address(a addr.Instance) {
	s.write(streamLine{Message: a.String(), Type: "resource_address"}, time.Time{})
}

// Workspaces writes the message that lists the workspaces.
func (s *JSONStream) Workspaces(names []string, current string) {
	s.write(streamLine{Message: "list of workspaces", Type: "workspace_list", Workspaces: names, CurrentWorkspace: current}, time.Time{})
}

// ReplaceProvider writes the message about the resources whose provider is about to be replaced.
func (s *JSONStream) ReplaceProvider(from, to addr.Provider, resources []string, message string) {
	s.write(streamLine{Message: message, Type: "replace_provider", From: from.String(), To: to.String(), Resources: resources}, time.Time{})
}
