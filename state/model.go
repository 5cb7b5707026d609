// Package state defines the model of a state, the codec of its file format, and the journal that makes single
// results durable.
//
// It may import addr, schema, value and cty. It must not know configuration, providers, plans, or where
// states are stored.
package state

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// State is a state in memory. It is not safe for concurrent use; the engine's recorder serializes access.
// Methods keep it consistent; code outside this package changes the maps only through them.
type State struct {
	Resources map[addr.AbsResource]*Resource
	Outputs   map[string]*Output // of the root module
	Checks    []CheckResult
	Salts     []Salt // of fingerprints, the one for new ones first; see AddSalts
	// Unrecorded are freed operations and late results, about which a store with many runs knows, and which
	// no object of s has. They are not encoded.
	Unrecorded RowSet

	owner uint64 // of the resources that s may change in place; see Copy
}

// Resource is a resource in one module instance with its instances.
type Resource struct {
	Addr      addr.AbsResource
	Instances map[addr.Key]*Instance

	extra fields
	owner uint64 // the state that may change the resource in place has the same
}

// fields are members of a JSON object that this program does not know, as a sequence of `,"name":value` in
// compact form. They are written back in the same place, so that data from a newer engine is kept.
type fields []byte

// Instance is a resource instance: its current object, if any, and deposed ones. All its objects belong to
// one provider configuration.
type Instance struct {
	Provider addr.ProviderConfig // the configuration that last operated on it
	Current  *Object
	Deposed  map[addr.Deposed]*Object
}

// Object is one stored object. Its attributes are encoded; Decode returns the value. Objects are immutable
// once they are in a State: a change makes a new one, see Clone. This makes Copy cheap and lets goroutines
// share objects. Sensitive are the paths of attributes that must not be shown; Private is data that the
// provider stores for itself. Dependencies name the blocks whose objects must be destroyed after this one.
type Object struct {
	attrs []byte // compact JSON; nil if Flatmap is set
	extra fields

	Flatmap             map[string]string // attributes from states before version 4; attrs is nil then
	SchemaVersion       int64
	Sensitive           []cty.Path
	Private             []byte
	Tainted             bool
	Dependencies        []addr.ConfigResource
	CreateBeforeDestroy bool
	// SkipDestroy is true if the object is to be forgotten instead of destroyed, according to its last
	// configuration.
	SkipDestroy     bool
	Identity        []byte // JSON, nil if none
	IdentityVersion int64
	Withheld        []Withheld

	// Hidden are the paths of the attributes that the schema calls sensitive; nil if that is not known, since
	// the object was not made with the schema at hand. They are not encoded.
	Hidden []cty.Path

	// Version names the stored row that the object was read from. It is not encoded. An object that was made
	// since, or that is part of a document, has none.
	Version Version
}

// Version names the content of a stored row: rows with the same version are the same. The zero value is
// none.
type Version [16]byte

// Output is an output value of the root module. Value may itself have sensitive parts; Sensitive hides it
// as a whole.
type Output struct {
	Value     value.Durable
	Sensitive bool
}

// CheckStatus is the result of a condition.
type CheckStatus string

// The statuses, as in the state file.
const (
	CheckPass    CheckStatus = "pass"
	CheckFail    CheckStatus = "fail"
	CheckError   CheckStatus = "error"
	CheckUnknown CheckStatus = "unknown"
)

// CheckResult is the aggregate result of the conditions of one block.
type CheckResult struct {
	Kind    string // "resource", "output", "check", "var"
	Config  string // the static address
	Status  CheckStatus
	Objects []CheckObject
}

// CheckObject is the result for one object of the block.
type CheckObject struct {
	Addr     string
	Status   CheckStatus
	Failures []string // error messages, without secret values
}

// Meta is the metadata of a state file. Lineage is a random ID that all versions of one state share, and
// Serial counts them. So two states can be compared: another lineage is another state, and a higher serial
// is newer.
type Meta struct {
	Lineage string
	Serial  uint64
	Version string // of the program that wrote it
}
