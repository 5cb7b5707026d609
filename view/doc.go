// Package view turns plans, states, diagnostics and events into text for people and into the public JSON
// documents.
//
// Entry points for people: Diagnostics, Plan, PlanSummary, PlanFooter, State, StateInstance, Outputs,
// OutputRaw, FormatValue, ApplySummary, HumanObserver (an event.Observer). Entry points for programs:
// PlanJSON, StateJSON, SchemasJSON, ValidateJSON, OutputsJSON, OutputJSON, VersionJSON, FunctionsJSON,
// JSONDiagnostics, JSONStream (an event.Observer).
//
// Everything is a function of its arguments: the package reads no files, no environment and no terminal, and
// rendering costs time linear in the size of what is rendered. Sensitive values are masked in what people
// read unless Options.ShowSensitive is set; ephemeral values never arrive here except inside the evaluation
// context of a diagnostic, where they are redacted always.
//
// It may import what it renders: the data models below the engine, and event. It must not know the engine,
// commands, flags, backends or processes.
package view

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/schema"
)

// Options steer the rendering for people.
type Options struct {
	Color           bool // use terminal escape codes
	Width           int  // columns to wrap at; 0 for no wrapping
	ShowSensitive   bool // show sensitive values instead of a placeholder
	Concise         bool // leave out the lines about what is under way
	CompactWarnings bool // warnings as one line each, if there are no errors

	ListWarnings      bool // each warning for itself, also if others are like it
	ConsolidateErrors bool // errors that are alike as one
}

// Sources holds the content of source files by the file name that ranges use. Files that are missing in it
// are shown without a snippet.
type Sources map[string][]byte

// Schemas finds the schema of a resource type. It returns nil for what it doesn't know; the renderers then go
// by the values alone.
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

// identities is a further method of Schemas: it finds the schema of a resource type's identity, nil if it has
// none.
type identities interface {
	Identity(p addr.Provider, typeName string) *schema.Identity
}

// identityVersion returns the version of the identity that objects of a type get.
func identityVersion(s Schemas, p addr.Provider, typeName string) *int64 {
	var version int64
	if with, ok := s.(identities); ok {
		if id := with.Identity(p, typeName); id != nil {
			version = id.Version
		}
	}
	return &version
}

// Versions are the version numbers that documents carry: Compat is what tools know as terraform_version,
// Product is our own.
type Versions struct {
	Compat  string
	Product string
}
