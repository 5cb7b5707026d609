package view

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// ResourceAddress writes one line of a list of resource instances.
func (s *JSONStream) ResourceAddress(a addr.Instance) {
	s.write(streamLine{Message: a.String(), Type: "resource_address"}, time.Time{})
}

// Workspaces writes a list of workspaces.
func (s *JSONStream) Workspaces(names []string, current string) {
	s.write(streamLine{Message: "list of workspaces", Type: "workspace_list", Workspaces: names, CurrentWorkspace: current}, time.Time{})
}

// ReplaceProvider says which resources are about to be given another provider.
func (s *JSONStream) ReplaceProvider(from, to addr.Provider, resources []string, message string) {
	s.write(streamLine{Message: message, Type: "replace_provider", From: from.String(), To: to.String(), Resources: resources}, time.Time{})
}
