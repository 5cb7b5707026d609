// Package provider holds the engine's view of a provider: the operations of the plugin protocol on live
// values, split by capability so that the planner cannot compile a call that changes infrastructure.
//
// It may import addr, diag, schema, value and cty. It must not know processes, wire formats, plans or
// state. Package provider/plugin calls plugin processes; package provider/builtin is the provider inside the
// program.
package provider

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/schema"
)

// Catalog is what a provider offers. Schemas are decoded on first use of a type; the methods may be called
// concurrently.
type Catalog interface {
	// Provider returns the schema of the provider block; never nil (a provider without configuration has an
	// empty block).
	Provider() (*schema.Schema, diag.List)
	// Resource returns the schema of a type, or nil if the provider has no such type in that mode.
	Resource(mode addr.Mode, typeName string) (*schema.Schema, diag.List)
	// Types returns the sorted type names of a mode.
	Types(mode addr.Mode) []string
	// Identity returns the identity schema of a managed type, or nil if it has none.
	Identity(typeName string) (*schema.Identity, diag.List)
	// Meta returns the schema of provider_meta blocks, or nil.
	Meta() (*schema.Schema, diag.List)
	// Functions returns the provider-defined functions by name.
	Functions() (map[string]*schema.Function, diag.List)
	// Capabilities returns what the server said it can do.
	Capabilities() Capabilities
}

// Capabilities are the server capabilities of the protocol.
type Capabilities struct {
	PlanDestroy            bool // PlanResource must be called for deletes too
	SchemaOptional         bool // operations may be called without a schema call before
	MoveResourceState      bool
	GenerateResourceConfig bool
}

// Reader is every operation that leaves infrastructure as it is. All values are unmarked; marks never cross
// this interface. Every method may be called concurrently. An operation fails if and only if the returned
// diagnostics have errors; a response that violates the wire format is such an error, violations of the
// resource contract are for the caller to find. Diagnostics name attribute paths in Path. A context that ends
// cancels the wait for the answer.
type Reader interface {
	Catalog(ctx context.Context) (Catalog, diag.List)
	ValidateConfig(ctx context.Context, config cty.Value) diag.List
	ValidateResource(ctx context.Context, mode addr.Mode, typeName string, config cty.Value) diag.List
	// Configure must be called at most once, before any operation below.
	Configure(ctx context.Context, config cty.Value) diag.List

	UpgradeResource(ctx context.Context, req UpgradeRequest) (cty.Value, diag.List)
	UpgradeIdentity(ctx context.Context, req UpgradeRequest) (cty.Value, diag.List)
	ReadResource(ctx context.Context, req ReadRequest) (ReadResponse, diag.List)
	PlanResource(ctx context.Context, req PlanRequest) (PlanResponse, diag.List)
	ReadData(ctx context.Context, req DataRequest) (DataResponse, diag.List)
	ImportResource(ctx context.Context, req ImportRequest) (ImportResponse, diag.List)
	MoveResource(ctx context.Context, req MoveRequest) (MoveResponse, diag.List)
	// GenerateConfig may be called if Capabilities has GenerateResourceConfig.
	GenerateConfig(ctx context.Context, req GenerateRequest) (cty.Value, diag.List)

	OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (OpenResponse, diag.List)
	RenewEphemeral(ctx context.Context, typeName string, private []byte) (RenewResponse, diag.List)
	CloseEphemeral(ctx context.Context, typeName string, private []byte) diag.List

	CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error)
	// ConfiguredFunctions returns the functions that the provider has once it is configured, which may be
	// more than Catalog tells. CallFunction knows them from then on.
	ConfiguredFunctions(ctx context.Context) (map[string]*schema.Function, diag.List)

	// Stop asks the provider to cancel what it is doing, on a user's interrupt.
	Stop(ctx context.Context) error
	// Close ends the provider, including its process if it has one. It is called exactly once, after all
	// other operations ended.
	Close() error
}

// Changer is the one operation that changes infrastructure.
type Changer interface {
	ApplyResource(ctx context.Context, req ApplyRequest) (ApplyResponse, diag.List)
}

// Provider is a started provider.
type Provider interface {
	Reader
	Changer
}

// Launcher starts providers. Every call starts a new, unconfigured one.
type Launcher interface {
	Launch(ctx context.Context, p addr.Provider) (Provider, diag.List)
}

// UpgradeRequest carries an object (or identity) as stored, for the provider to bring to its current schema
// version.
type UpgradeRequest struct {
	Type    string
	Version int64
	JSON    []byte            // the attributes as JSON
	Flatmap map[string]string // state versions before 4; JSON is nil then
}

// ReadRequest asks for the current state of an object.
type ReadRequest struct {
	Type         string
	Prior        cty.Value
	Private      []byte
	Identity     cty.Value // cty.NilVal if none
	ProviderMeta cty.Value // cty.NilVal if none
}

// ReadResponse is the answer to ReadRequest; New is null if the object is gone.
type ReadResponse struct {
	New      cty.Value
	Private  []byte
	Identity cty.Value
	Deferred string // the reason if the provider deferred, "" otherwise
}

// PlanRequest asks for the planned new state of an object.
type PlanRequest struct {
	Type         string
	Prior        cty.Value // null when creating
	Proposed     cty.Value // null when destroying
	Config       cty.Value // null when destroying
	PriorPrivate []byte
	// PlannedPrivate is what an earlier plan of the same change returned; nil for the first.
	PlannedPrivate []byte
	Identity       cty.Value
	ProviderMeta   cty.Value
}

// PlanResponse is the answer to PlanRequest.
type PlanResponse struct {
	Planned         cty.Value
	RequiresReplace []cty.Path
	Private         []byte
	Identity        cty.Value
	LegacyTypes     bool // the provider uses the legacy SDK and is exempt from most of the contract
	Deferred        string
}

// ApplyRequest asks for a planned change to be made.
type ApplyRequest struct {
	Type           string
	Prior          cty.Value
	Planned        cty.Value
	Config         cty.Value
	PlannedPrivate []byte
	Identity       cty.Value
	ProviderMeta   cty.Value
}

// ApplyResponse is the answer to ApplyRequest. New may be set even if the diagnostics have errors: it is what
// exists now.
type ApplyResponse struct {
	New         cty.Value
	Private     []byte
	Identity    cty.Value
	LegacyTypes bool
}

// DataRequest asks for a data source to be read.
type DataRequest struct {
	Type         string
	Config       cty.Value
	ProviderMeta cty.Value
}

// DataResponse is the answer to DataRequest.
type DataResponse struct {
	State    cty.Value
	Deferred string
}

// ImportRequest names an existing object by ID or by identity.
type ImportRequest struct {
	Type     string
	ID       string
	Identity cty.Value // cty.NilVal if ID is used
}

// ImportResponse lists what was found: the object asked for first.
type ImportResponse struct {
	Objects  []ImportedObject
	Deferred string
}

// ImportedObject is one object that an import found.
type ImportedObject struct {
	Type     string
	State    cty.Value
	Private  []byte
	Identity cty.Value
}

// MoveRequest asks for the object of another type (or provider) to be taken over.
type MoveRequest struct {
	SourceProvider        addr.Provider
	SourceType            string
	SourceVersion         int64
	SourceJSON            []byte
	SourcePrivate         []byte
	SourceIdentityJSON    []byte
	SourceIdentityVersion int64
	TargetType            string
}

// MoveResponse is the answer to MoveRequest.
type MoveResponse struct {
	Target   cty.Value
	Private  []byte
	Identity cty.Value
}

// GenerateRequest asks for the configuration with which an object would be as it is.
type GenerateRequest struct {
	Type  string
	State cty.Value
}

// OpenResponse is the answer to OpenEphemeral. The result is secret as a whole.
type OpenResponse struct {
	// Opened says that the provider answered without an error of its own: the instance is open and must be
	// closed, whatever else is wrong with the answer and whether or not there is private data.
	Opened   bool
	Result   cty.Value
	RenewAt  time.Time // zero if no renewal is needed
	Private  []byte
	Deferred string
}

// RenewResponse is the answer to RenewEphemeral.
type RenewResponse struct {
	RenewAt time.Time
	Private []byte
}
