package workdir

import (
	"github.com/mayfly-iac/mayfly/backend"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/value"
)

// CheckBackend checks the backend or cloud block of the loaded configuration by itself, without the values of
// variables and without what the command line may add. What init would refuse is only a warning: a module can
// be valid on a machine, or in a version of this program, that cannot use its backend. A secret in an
// argument that says where the state is, is an error everywhere.
func (d *Dir) CheckBackend() diag.List {
	if d.root == nil || d.root.Backend == nil {
		return nil
	}
	block := d.root.Backend
	kind, ok := d.kinds[block.Type]
	if !ok || kind.Name == backend.Cloud && !block.Cloud {
		return unknownKind(block, d.kinds).AsWarnings()
	}
	secret := func(name string) value.Mark {
		switch v := d.root.Variables[name]; {
		case v != nil && v.Ephemeral:
			return value.Ephemeral
		case v != nil && v.Sensitive:
			return value.Sensitive
		}
		return ""
	}
	return append(kind.CheckReferences(block.Body, secret), kind.Check(block.Shape()).AsWarnings()...)
}
