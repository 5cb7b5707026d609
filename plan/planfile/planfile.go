// Package planfile is the codec of saved plans: one zip file with the plan, the states it starts from and
// everything else that applying it needs, so that apply does not read the configuration again. The format is
// described in the document "Saved plans".
//
// It may import addr, diag, value, state, plan and cty. It must not know configuration, evaluation,
// providers' processes or backends: what of these belongs in a saved plan is bytes and names here. It holds
// no ephemeral value, since the types it stores cannot.
package planfile

import (
	"errors"
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/value"
)

// Format is the version of the format that Write writes. Read refuses others.
const Format = 1

// File is a saved plan.
type File struct {
	// Plan is the plan with its Base and Prior states.
	Plan *plan.Plan
	// Config has every configuration file that planning read, by path as the loader names it.
	Config map[string][]byte
	// Modules is the manifest of installed modules, Lock the dependency lock file; nil if there was none.
	Modules, Lock []byte
	Backend       Backend
	// RootDir is the directory of the root module, as the loader names it.
	RootDir string
	// Providers are the hashes of the provider packages that the plan was made with.
	Providers map[addr.Provider]string
	// Version is the program version that made the plan; not empty.
	Version string
}

// Backend says where the state is kept that the plan is for.
type Backend struct {
	Type      string
	Config    value.Durable // zero if the backend has no configuration
	Workspace string
}

// Kinds of files that cannot be used as saved plans. Read's errors wrap one of them or are those of the
// reader; their messages say what to do.
var (
	ErrNotPlan = errors.New("the file is not a saved plan")
	ErrForeign = errors.New("the plan was saved by another program")
	ErrCorrupt = errors.New("the saved plan is damaged")
	ErrVersion = errors.New("the plan was saved by another version of this program")
	ErrTooBig  = errors.New("the saved plan is too large")
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s. Make the plan again", ErrCorrupt, fmt.Sprintf(format, args...))
}

// zipMagic is how a zip file with at least one entry begins.
const zipMagic = "PK\x03\x04"

// Is reports whether a file that begins with header, of which four bytes are enough, is meant as a saved
// plan: of this program or, since theirs are zip files too, of one of its peers. Read tells these apart.
func Is(header []byte) bool {
	return len(header) >= len(zipMagic) && string(header[:len(zipMagic)]) == zipMagic
}

// Names of the entries. Configuration files stand below configDir under their own path if that is one inside
// the root directory, or else numbered below outsideDir.
const (
	entryHeader  = "mayfly"
	entryPlan    = "plan.json"
	entryChanges = "changes.jsonl"
	entryDrift   = "drift.jsonl"
	entryBase    = "state.json"
	entryPrior   = "prior.json"
	entryModules = "modules.json"
	entryLock    = "lock.hcl"
	configDir    = "config/"
	outsideDir   = "outside/"

	// entryForeign is where the peers keep their plan.
	entryForeign = "tfplan"
)
