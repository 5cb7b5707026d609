// Package planfile is the codec of saved plans: one zip file with the plan, the states it starts from and
// everything else needed to apply it, so that apply does not read the configuration again. The document
// "Saved plans" describes the format.
//
// It may import addr, diag, value, state, plan and cty. It must not know configuration, evaluation,
// provider processes or backends: their data is bytes and names here. It cannot contain ephemeral values,
// because of the types that it stores.
package planfile

import (
	"errors"
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// format is the version of the format that Write writes, and oldest the first one that Read can read. It
// refuses others.
const format, oldest = 7, 6

// File is a saved plan.
type File struct {
	// Plan is the plan with its Base and Prior states.
	Plan *plan.Plan
	// Config has every configuration file that planning read, by its path as named by the loader.
	Config map[string][]byte
	// Modules is the manifest of installed modules, Lock the dependency lock file; nil if there was none.
	Modules, Lock []byte
	Backend       Backend
	// RootDir is the directory of the root module, as named by the loader.
	RootDir string
	// Providers has the hashes of the provider packages that made the plan.
	Providers map[addr.Provider]string
	// Schemas has the schemas that showing the plan takes, by provider.
	Schemas map[addr.Provider]Schemas
	// Version is the version of the program that made the plan; not empty.
	Version string
}

// Schemas are schemas of a provider as a version of the plugin protocol encodes them: of types of resources,
// and of their identities, which may be nil.
type Schemas struct {
	Protocol          int
	Types, Identities []byte
}

// Backend identifies the place of the plan's state.
type Backend struct {
	Type      string
	Config    value.Durable // zero if the backend has no configuration
	Workspace string
}

// Errors about files that cannot be used as saved plans. Errors of Read wrap one of them or come from the
// reader; their messages have advice.
var (
	ErrNotPlan = errors.New("the file is not a saved plan")
	ErrForeign = errors.New("the plan was saved by another program")
	ErrCorrupt = errors.New("the saved plan is damaged")
	ErrVersion = errors.New("the plan was saved by another version of this program")
	ErrTooBig  = errors.New("the saved plan is too large")
)

// corrupt returns an error that wraps ErrCorrupt, with advice. The arguments must not be values of the plan.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s. Make the plan again", ErrCorrupt, fmt.Sprintf(format, args...))
}

// zipMagic is the start of a zip file with at least one entry.
const zipMagic = "PK\x03\x04"

// Is reports whether a file that begins with header, which needs only four bytes, looks like a saved plan:
// of this program or, since theirs are zip files too, of OpenTofu or Terraform. Read distinguishes them.
func Is(header []byte) bool {
	return len(header) >= len(zipMagic) && string(header[:len(zipMagic)]) == zipMagic
}

// Names of the entries. A configuration file is stored below configDir under its own path if that is inside
// the root directory, otherwise numbered below outsideDir.
const (
	entryHeader   = "mayfly"
	entryPlan     = "plan.json"
	entryChanges  = "changes.jsonl"
	entryDrift    = "drift.jsonl"
	entryDeferred = "deferred.jsonl"
	entryBase     = "state.json"
	entryAdopted  = "adopted.jsonl"
	entryScope    = "scope.json"
	entryModules  = "modules.json"
	entryLock     = "lock.hcl"
	configDir     = "config/"
	outsideDir    = "outside/"
	schemasDir    = "schemas/"

	// entryForeign is the plan's entry in files of OpenTofu and Terraform.
	entryForeign = "tfplan"
)
