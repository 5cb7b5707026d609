package state

import "github.com/mayfly-iac/mayfly/addr"

// SetProvider makes another provider configuration the one that an instance with all its objects belongs to. Without such an instance it does nothing.
func (s *State) SetProvider(a addr.Instance, provider addr.ProviderConfig) {
	if i := s.Instance(a); i != nil {
		i.Provider = provider
	}
}
