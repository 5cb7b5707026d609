package blocks

import (
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Schemas gives access to the schemas of the configuration's providers. Its methods may be called
// concurrently.
type Schemas interface {
	// Provider returns the schema of a provider's configuration.
	Provider(p addr.Provider) (*schema.Schema, diag.List)
	// Resource returns the schema of a type; nil without diagnostics if the provider has no such type.
	Resource(p addr.Provider, mode addr.Mode, typeName string) (*schema.Schema, diag.List)
	// Types returns the names of the provider's types of a mode, in any order.
	Types(p addr.Provider, mode addr.Mode) []string
	// Functions returns the functions that the provider defines, by name.
	Functions(p addr.Provider) (map[string]*schema.Function, diag.List)
}

// Config is a compiled configuration: every expression with its references resolved to blocks. All runs share
// it: Compile computes every field, but for two answers that few runs ask for. These, neededSet and
// provenance, are found on demand and protected by locks.
type Config struct {
	Tree    *config.Tree
	Schemas Schemas
	Modules map[addr.Module]*Module
	// Removed has the destroy-time provisioners of removed blocks.
	Removed map[*config.Removed]DestroyProvisioners

	// Deprecates reports whether a called module has a deprecated output, and HasGuards whether a variable or
	// output has conditions. Most configurations have neither, so that a run can do without looking for them.
	Deprecates, HasGuards bool

	fingerprints    []moduleExpr // that call fingerprint
	clearsEphemeral bool         // a function is called somewhere whose result is not ephemeral although its argument is
	hasEphemerals   bool
	lends           bool      // ephemeral_attributes names computed values
	neededOnce      sync.Once // of neededSet
	neededSet       *OpenSet
	referencesOnce  sync.Once // of refs
	refs            *references
}

// Module has the compiled blocks of a module, which all of its instances share.
type Module struct {
	Config    *config.Module
	Parent    *Module // nil for the root module
	Variables map[string]*Value
	Locals    map[string]*Value
	Outputs   map[string]*Value
	Resources map[addr.Resource]*Resource
	Calls     map[string]*Call
	Checks    map[string]*Check
	Providers map[string]*Provider // by local name, or "name.alias"

	schemas        Schemas
	dependsOnOpens *OpenSet   // by depends_on of the calls around it
	ephemerals     *OpenSet   // the ephemeral blocks in it and below it
	provenance     provenance // of all values of the tree, found on demand; used in the root module only
}

// ValueKind says whether a Value is a variable, a local value or an output.
type ValueKind uint8

// The kinds of values.
const (
	VariableValue ValueKind = iota
	LocalValue
	OutputValue
)

// Value is a compiled variable, local value or output.
type Value struct {
	Kind       ValueKind
	Name       string
	Module     *Module          // that declares it
	Variable   *config.Variable // nil for other kinds
	Output     *config.Output   // nil for other kinds
	Expr       *lang.Expr       // of a variable: the argument of the call, compiled in the calling module, or nil
	Conditions []Condition      // validations or preconditions
	DependsOn  []lang.Ref
	Range      hcl.Range
	Opens      *OpenSet // that evaluating it may open
	Borrows    *OpenSet // whose computed values, which are not stored, evaluating it may read
}

// Condition is a compiled condition of a block.
type Condition struct {
	Config        *config.Condition
	Expr, Message *lang.Expr
	Validation    bool // of a variable
}

// Resource is a compiled resource, data, ephemeral, list or action block.
type Resource struct {
	Config   *config.Resource
	Provider addr.Provider
	Schema   *schema.Schema
	Module   *Module

	Repeat Repetition
	Body   []*lang.Expr // the expressions of the arguments
	View   *schema.Body // the arguments, with expressions that keep marks, to be decoded

	Include, Limit *lang.Expr // of a list

	Preconditions, Postconditions []Condition
	Provisioners                  []Provisioner // when = create
	DestroyProvisioners           DestroyProvisioners

	ActionTriggers []ActionTrigger

	DependsOn   []lang.Ref
	Triggers    []*lang.Expr    // replace_triggered_by
	TriggerKeys []*lang.Expr    // keys in brackets within Triggers
	Prevent     *lang.Expr      // prevent_destroy
	Withheld    schema.Patterns // ephemeral_attributes
	ProviderKey *lang.Expr      // the key of the provider configuration's instance
	Versions    []*lang.Expr    // of Withheld, in the same order; nil for none
	Computed    schema.Patterns // the part of Withheld that the provider computes, as the body does not set it
	ByPolicy    schema.Patterns // the part of Withheld that a policy of the root module names
	// IdleConnections are expressions of connections that no provisioner of creation uses. They are not
	// evaluated, but the instances depend on the objects they refer to.
	IdleConnections []*lang.Expr

	Opens          *OpenSet // that work on an instance may open, besides the block itself
	Borrows        *OpenSet // whose computed values, which are not stored, work on an instance may read
	bodyOpens      *OpenSet // that evaluating the arguments may open
	dependsOnOpens *OpenSet // by depends_on, of the block and of the modules around it
}

// Provisioner is a compiled provisioner block.
type Provisioner struct {
	Config     *config.Provisioner
	Schema     *schema.Block
	View       *schema.Body    // the arguments, with expressions that keep marks, to be decoded
	Exprs      []*lang.Expr    // of the arguments, and of the connection if it works on another machine
	Connection []*lang.Expr    // of the connection that applies to it
	Connected  *connectionBody // nil without connection
}

// DestroyProvisioners are the provisioner blocks with when = destroy of a resource or removed block.
type DestroyProvisioners []Provisioner

// Call is a compiled module block.
type Call struct {
	Config    *config.ModuleCall
	Module    *Module // in which the call is
	Child     *Module // nil if the module could not be loaded
	Repeat    Repetition
	DependsOn []lang.Ref
	// ProviderKeys are the instance keys in the providers argument, by the name in the called module; those
	// that are given.
	ProviderKeys map[string]*lang.Expr
}

// Provider is a compiled provider block.
type Provider struct {
	Config  *config.Provider
	Module  *Module
	Source  addr.Provider
	Schema  *schema.Schema
	ForEach *lang.Expr
	Body    []*lang.Expr // the expressions of the arguments
	View    *schema.Body // the arguments, with expressions that keep marks, to be decoded
	Opens   *OpenSet     // that evaluating the arguments may open
	Borrows *OpenSet     // whose computed values, which are not stored, evaluating the arguments may read
}

// Check is a compiled check block.
type Check struct {
	Config     *config.Check
	Module     *Module
	Assertions []Condition
	Nested     *Resource // nil without nested block
	Opens      *OpenSet  // that evaluating the assertions may open, and the nested block itself
	Borrows    *OpenSet  // whose computed values, which are not stored, evaluating the assertions may read
}
