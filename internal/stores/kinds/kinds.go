// Package kinds is the list of the places that keep states. All kinds of backends that the documentation of
// OpenTofu has are in it, also those that this program cannot open.
//
// It may import backend and stores. It must not know the uses of backends.
package kinds

import (
	"github.com/mayfly-iac/mayfly/internal/stores/azurerm"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/consul"
	"github.com/mayfly-iac/mayfly/internal/stores/cos"
	"github.com/mayfly-iac/mayfly/internal/stores/gcs"
	"github.com/mayfly-iac/mayfly/internal/stores/http"
	"github.com/mayfly-iac/mayfly/internal/stores/kubernetes"
	"github.com/mayfly-iac/mayfly/internal/stores/oss"
	"github.com/mayfly-iac/mayfly/internal/stores/pg"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	"github.com/mayfly-iac/mayfly/internal/stores/s3"
	"github.com/mayfly-iac/mayfly/internal/stores/tfe"
)

// All returns every known kind by its name.
func All() map[string]*backend.Kind {
	out := map[string]*backend.Kind{}
	for _, k := range []*backend.Kind{
		azurerm.Kind, tfe.Cloud, consul.Kind, cos.Kind, gcs.Kind, http.Kind, inmemKind, kubernetes.Kind, localKind, oss.Kind, pg.Kind, postgres.Kind, tfe.Remote, s3.Kind,
	} {
		out[k.Name] = k
	}
	return out
}
