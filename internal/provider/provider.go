// Package provider is the engine's view of a provider: the operations of the plugin protocol on live values,
// split by capability so that the planner cannot compile a call that changes infrastructure.
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
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Catalog has the schemas, types and functions that a provider offers. Schemas are decoded on first use of a
// type; the methods may be called concurrently.
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
	// Capabilities returns the capabilities announced by the server.
	Capabilities() Capabilities
}

// Capabilities are the server capabilities of the protocol. A provider that announces none works as one of
// the first version of the protocol.
type Capabilities struct {
	PlanDestroy            bool // PlanResource must also be called for deletions
	SchemaOptional         bool // operations may be called without an earlier call for the schemas
	MoveResourceState      bool
	GenerateResourceConfig bool
}

// Reader has every operation that leaves infrastructure unchanged. All values are unmarked; marks never
// cross this interface. Every method may be called concurrently. An operation has failed if and only if the
// returned diagnostics contain errors. A malformed response is such an error; the caller checks responses
// against the resource contract. Diagnostics name attributes in Path. When the context ends, the call
// returns without waiting for the response. Instances of a provider with different configurations are
// different Readers, each with a process of its own.
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

	Lister

	// PlanAction asks whether an action can be invoked with a configuration, parts of which may be unknown.
	// deferred is the reason if the provider deferred, otherwise "".
	PlanAction(ctx context.Context, typeName string, config cty.Value) (deferred Deferred, diags diag.List)

	CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error)
	// ConfiguredFunctions returns the functions of the configured provider, which may be more than those in
	// its Catalog. From then on, CallFunction accepts them.
	ConfiguredFunctions(ctx context.Context) (map[string]*schema.Function, diag.List)

	// Stop asks the provider to cancel running operations after a user's interrupt.
	Stop(ctx context.Context) error
	// Close ends the provider, including its process if it has one. It is called exactly once, after all
	// other operations have ended.
	Close() error
}

// Changer has the operations that change infrastructure. The planner gets a Reader, so only the code that
// applies a plan can change anything.
type Changer interface {
	ApplyResource(ctx context.Context, req ApplyRequest) (ApplyResponse, diag.List)
	// InvokeAction invokes an action. It calls progress with each message of the provider as soon as it has
	// come, one at a time, and receives no further ones meanwhile.
	InvokeAction(ctx context.Context, typeName string, config cty.Value, progress func(message string)) diag.List
}

// Provider is a started provider. The caller of Launch must close it, also after a failure.
type Provider interface {
	Reader
	Changer
}

// Launcher starts providers. Every call starts a new, unconfigured one. It returns nil together with
// errors. It may be called concurrently.
type Launcher interface {
	Launch(ctx context.Context, p addr.Provider) (Provider, diag.List)
}

// UpgradeRequest contains an object (or identity) as stored, which the provider converts to its current
// schema version.
type UpgradeRequest struct {
	Type    string
	Version int64
	JSON    []byte            // the attributes as JSON
	Flatmap map[string]string // from state versions before 4; JSON is nil then
}

// ReadRequest asks for the current state of an object. Private is the data that the provider stored with the
// object.
type ReadRequest struct {
	Type         string
	Prior        cty.Value
	Private      []byte
	Identity     cty.Value // cty.NilVal if none
	ProviderMeta cty.Value // cty.NilVal if none
}

// ReadResponse is the answer to ReadRequest; New is null if the object no longer exists.
type ReadResponse struct {
	New      cty.Value
	Private  []byte
	Identity cty.Value
	Deferred Deferred
}

// PlanRequest asks for the planned new state of an object. Write-only attributes are null in Prior, and as
// configured in Proposed and Config (E61).
type PlanRequest struct {
	Type         string
	Prior        cty.Value // null when creating
	Proposed     cty.Value // null when destroying
	Config       cty.Value // null when destroying
	PriorPrivate []byte
	// PlannedPrivate is the private data from an earlier plan of the same change; nil for the first plan.
	PlannedPrivate []byte
	Identity       cty.Value
	ProviderMeta   cty.Value
}

// PlanResponse is the answer to PlanRequest. RequiresReplace are the paths of attributes whose change makes
// an update impossible.
type PlanResponse struct {
	Planned         cty.Value
	RequiresReplace []cty.Path
	Private         []byte
	Identity        cty.Value
	LegacyTypes     bool // the provider uses the legacy SDK and is exempt from most of the contract
	Deferred        Deferred
}

// ApplyRequest asks the provider to carry out a planned change. Config has the values of the apply phase:
// values of ephemeral resources differ from the ones in the plan.
type ApplyRequest struct {
	Type           string
	Prior          cty.Value
	Planned        cty.Value
	Config         cty.Value
	PlannedPrivate []byte
	Identity       cty.Value
	ProviderMeta   cty.Value
}

// ApplyResponse is the answer to ApplyRequest. New is the object that exists now; it may be set even if the
// diagnostics contain errors. If New is cty.NilVal, the provider said nothing about the object.
type ApplyResponse struct {
	New         cty.Value
	Private     []byte
	Identity    cty.Value
	LegacyTypes bool
}

// DataRequest asks for the value of a data source.
type DataRequest struct {
	Type string
	// Instance is the instance to read. Providers in processes are not told.
	Instance     addr.Instance
	Config       cty.Value
	ProviderMeta cty.Value
}

// DataResponse is the answer to DataRequest.
type DataResponse struct {
	State    cty.Value
	Deferred Deferred
}

// ImportRequest names an existing object by ID or by identity.
type ImportRequest struct {
	Type     string
	ID       string
	Identity cty.Value // cty.NilVal if ID is used
}

// ImportResponse lists the objects found, the requested one first. There may be several, of other types too:
// a provider may return objects that belong to the requested one.
type ImportResponse struct {
	Objects  []ImportedObject
	Deferred Deferred
}

// ImportedObject is one object found by an import.
type ImportedObject struct {
	Type     string
	State    cty.Value
	Private  []byte
	Identity cty.Value
}

// MoveRequest asks to convert an object of another type or provider. The source is as stored. Its provider
// need not be installed any more.
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

// GenerateRequest asks for configuration that describes an existing object.
type GenerateRequest struct {
	Type  string
	State cty.Value
}

// OpenResponse is the answer to OpenEphemeral. The whole result is secret. RenewAt is when to call
// RenewEphemeral with Private (E50).
type OpenResponse struct {
	// Opened reports whether the provider answered without an error of its own: the instance is open and
	// must be closed, even if the response is otherwise wrong and whether or not it contains private data.
	Opened bool
	// Lost reports whether the provider ended before it answered: the instance may be open, and nothing can
	// close it.
	Lost     bool
	Result   cty.Value
	RenewAt  time.Time // zero if no renewal is needed
	Private  []byte
	Deferred Deferred
}

// RenewResponse is the answer to RenewEphemeral. Its Private replaces the one from the opening or the last
// renewal; the closing gets the latest one (E54).
type RenewResponse struct {
	RenewAt time.Time
	Private []byte
}
