package blocks

import (
	"github.com/mayfly-iac/mayfly/addr"
)

// configAddr returns the address of something in a module, without instance keys.
func configAddr(m addr.Module, rest string) string {
	if m.IsRoot() {
		return rest
	}
	return m.String() + "." + rest
}
