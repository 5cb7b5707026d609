package object

import (
	"testing"

	"github.com/mayfly-iac/mayfly/plan"
)

func TestPrivateToDelete(t *testing.T) {
	own := Prior{Private: []byte("own")}
	for _, row := range []struct {
		name    string
		action  plan.Action
		planned []byte
		want    string
	}{
		{"a destruction", plan.Delete, []byte("planned"), "planned"},
		{"a destruction that was not planned by the provider", plan.Delete, nil, "own"},
		{"the old half of a replacement", plan.DeleteThenCreate, []byte("planned"), "own"},
	} {
		if got := own.PrivateToDelete(&plan.Change{Action: row.action, PlannedPrivate: row.planned}); string(got) != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}
