package blocks

import (
	"testing"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"

	"github.com/mayfly-iac/mayfly/internal/language/config/reference"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// TestReferenceOfProvisioners compares the table of the reference with the schemas of provisioners and
// connections.
func TestReferenceOfProvisioners(t *testing.T) {
	connection, _ := reference.Find("resource.connection")
	sameArguments(t, "connection", connection.Arguments, ConnectionSchema)
	provisioner, _ := reference.Find("resource.provisioner")
	for _, typ := range provisioner.Types {
		if s := provisionerSchemas[typ.Path]; s == nil {
			t.Errorf("the table has a provisioner %s", typ.Path)
		} else {
			sameArguments(t, typ.Path, typ.Arguments, s)
		}
	}
	if len(provisioner.Types) != len(provisionerSchemas) {
		t.Errorf("the table has %d provisioners, want %d", len(provisioner.Types), len(provisionerSchemas))
	}
}

func sameArguments(t *testing.T, of string, list []reference.Argument, s *schema.Block) {
	t.Helper()
	for _, a := range list {
		switch has := s.Attributes[a.Name]; {
		case has == nil:
			t.Errorf("%s has no argument %s", of, a.Name)
		case has.Required != a.Required || typeexpr.TypeString(has.Type) != a.Type:
			t.Errorf("%s.%s is of type %s, required: %t", of, a.Name, typeexpr.TypeString(has.Type), has.Required)
		}
	}
	if len(list) != len(s.Attributes) {
		t.Errorf("%s: the table has %d arguments, want %d", of, len(list), len(s.Attributes))
	}
}
