package view

import (
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// ReplaceProvider says which resources are about to be given another provider.
func (s *JSONStream) ReplaceProvider(from, to addr.Provider, resources []string, message string) {
	s.write(streamLine{Message: message, Type: "replace_provider", From: from.String(), To: to.String(), Resources: resources}, time.Time{})
}
