package backend

import "github.com/mayfly-iac/mayfly/schema"

// remoteKind is a service that also runs operations, of which only the states and their locks are meant.
// The name or the prefix of its workspaces is in a block.
var remoteKind = declare("remote", arguments{
	"hostname":     text().place(),
	"organization": text().place(),
	"token":        text().secret(),
}, map[string]*schema.NestedBlock{
	"workspaces": block(schema.Single, arguments{"name": text(), "prefix": text()}),
})

// A cloud block has the arguments of this kind.
var cloudKind = declare(Cloud, arguments{
	"hostname":     text("TF_CLOUD_HOSTNAME"),
	"organization": text("TF_CLOUD_ORGANIZATION"),
	"token":        text().secret(),
}, map[string]*schema.NestedBlock{
	"workspaces": block(schema.Single, arguments{"name": text(), "project": text(), "tags": textSet()}),
})
