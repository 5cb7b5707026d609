package view

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// Address writes the message about an address that the state has.
func (s *JSONStream) Address(a addr.Instance) {
	s.write(streamLine{Message: a.String(), Type: "resource_address"}, time.Time{})
}

// Workspaces writes the message that lists the workspaces.
func (s *JSONStream) Workspaces(names []string, current string) {
	s.write(streamLine{Message: "list of workspaces", Type: "workspace_list", Workspaces: names, CurrentWorkspace: current}, time.Time{})
}

// ReplaceProvider says which resources are about to be given another provider.
func (s *JSONStream) ReplaceProvider(from, to addr.Provider, resources []string, message string) {
	s.write(streamLine{Message: message, Type: "replace_provider", From: from.String(), To: to.String(), Resources: resources}, time.Time{})
}
