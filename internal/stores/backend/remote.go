package backend

import "github.com/mayfly-iac/mayfly/internal/values/schema"

// remoteKind is a service that also runs operations, of which only the states and their locks are meant.
// The name or the prefix of its workspaces is in a block.
var remoteKind = declare("remote", arguments{
	"hostname":     text().place().about("host of the service"),
	"organization": text().place().about("organization of the workspaces"),
	"token":        text().secret().about("token for the host; that of `mayfly login` by default"),
}, map[string]*schema.NestedBlock{
	"workspaces": block(schema.Single, "selects one workspace by its name, or several by a prefix", arguments{"name": text().about("the one workspace that is used; excludes `prefix`"), "prefix": text().about("beginning of the names of the workspaces, which are shown without it; excludes `name`")}),
})

// A cloud block has the arguments of this kind.
var cloudKind = declare(Cloud, arguments{
	"hostname":     text("TF_CLOUD_HOSTNAME").about("host of the service"),
	"organization": text("TF_CLOUD_ORGANIZATION").about("organization of the workspaces"),
	"token":        text().secret().about("token for the host; that of `mayfly login` by default"),
}, map[string]*schema.NestedBlock{
	"workspaces": block(schema.Single, "selects one workspace by its name, or several by tags", arguments{"name": text().about("the one workspace that is used; excludes `tags`"), "project": text().about("project of the workspaces that are created"), "tags": textSet().about("tags of the workspaces that are used; excludes `name`")}),
})
