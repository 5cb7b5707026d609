// Package document encodes plans, states, configurations, schemas and diagnostics as the public JSON
// documents.
//
// Programs read these documents: terraform-exec and terraform-json, test frameworks, policy checks, CI
// systems and editors. So the names and the nesting of members, and which members are left out rather than
// null, are an interface. A new member is optional and has a name that other engines don't use.
//
// Every function is a function of its arguments: the package reads no files, and its costs are linear in the
// size of the data. Sensitive values are in the documents, beside members that say where they are. Ephemeral
// resources are only in the document of a configuration, and ephemeral values in none at all (E81).
//
// It may import the data models. It must not know how people are shown the same: package view builds on this
// one.
package document

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// Sources has the content of source files by the file name that ranges use. Diagnostics about files that are
// missing in it have no snippet.
type Sources map[string][]byte

// Schemas finds the schema of a resource type. It returns nil for types that it doesn't know, such as types
// of a provider that is not installed; documents then go by the values alone. It is called once per object,
// so it should remember what it found.
type Schemas interface {
	Resource(p addr.Provider, mode addr.Mode, typeName string) *schema.Schema
}

// ConfigSchemas also finds the schema of a provider's configuration, nil if unknown.
type ConfigSchemas interface {
	Schemas
	Provider(p addr.Provider) *schema.Schema
}

// Relevant finds the attributes that contributed to the changes of a plan. Renderers call it if they need it.
type Relevant func() []plan.RelevantAttribute

// identities is a further method of Schemas, which implementations may lack: it finds the schema of a
// resource type's identity, nil if it has none.
type identities interface {
	Identity(p addr.Provider, typeName string) *schema.Identity
}

// identityVersion returns the version of the identity that objects of a type get, 0 if unknown. It is a
// pointer because the member is left out for objects without an identity, but not for version 0.
func identityVersion(s Schemas, p addr.Provider, typeName string) *int64 {
	var version int64
	if with, ok := s.(identities); ok {
		if id := with.Identity(p, typeName); id != nil {
			version = id.Version
		}
	}
	return &version
}

// Versions are the version numbers in documents: Compat is the one that tools read as terraform_version,
// Product is our own. Engine is the name of the engine that the user has chosen, "" without a choice.
type Versions struct {
	Engine  string
	Compat  string
	Product string
}

// Block returns the schema of a resource type's content, nil if it is unknown. s may be nil.
func Block(s Schemas, p addr.Provider, r addr.Resource) *schema.Block {
	if s == nil {
		return nil
	}
	if sch := s.Resource(p, r.Mode, r.Type); sch != nil {
		return sch.Block
	}
	return nil
}
