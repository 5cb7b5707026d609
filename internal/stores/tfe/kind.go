package tfe

import (
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Remote is a service that also runs operations, of which only the states and their locks are meant.
// The name or the prefix of its workspaces is in a block.
var Remote = backend.Declare("remote", backend.Arguments{
	"hostname":     backend.Text().Place().About("host of the service"),
	"organization": backend.Text().Place().About("organization of the workspaces"),
	"token":        backend.Text().Secret().About("token for the host; that of `mayfly login` by default"),
}, map[string]*schema.NestedBlock{
	"workspaces": backend.Block(schema.Single, "selects one workspace by its name, or several by a prefix", backend.Arguments{"name": backend.Text().About("the one workspace that is used; excludes `prefix`"), "prefix": backend.Text().About("beginning of the names of the workspaces, which are shown without it; excludes `name`")}),
}, opener{kind: "remote"}.Service())

// Cloud is the kind that a cloud block stands for.
var Cloud = backend.Declare(backend.Cloud, backend.Arguments{
	"hostname":     backend.Text("TF_CLOUD_HOSTNAME").About("host of the service"),
	"organization": backend.Text("TF_CLOUD_ORGANIZATION").About("organization of the workspaces"),
	"token":        backend.Text().Secret().About("token for the host; that of `mayfly login` by default"),
}, map[string]*schema.NestedBlock{
	"workspaces": backend.Block(schema.Single, "selects one workspace by its name, or several by tags", backend.Arguments{"name": backend.Text().About("the one workspace that is used; excludes `tags`"), "project": backend.Text().About("project of the workspaces that are created"), "tags": backend.TextSet().About("tags of the workspaces that are used; excludes `name`")}),
}, opener{kind: backend.Cloud}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct {
	backend.LeftOut
	kind string
}
