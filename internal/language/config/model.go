// Package config is the static model of a configuration: files parsed into a tree of modules whose blocks
// keep their expressions unevaluated.
//
// A Loader builds a Tree: it selects the files of a directory, parses them, applies override files block by
// block (overlay), decodes each block (decoder), follows module calls, and at the end checks modules
// against each other (checker).
//
// It may import addr, diag, HCL's packages, cty and the libraries for version constraints and provider
// addresses. It must not know values of variables, provider schemas, state or plans, and it evaluates only
// expressions that the language requires to be static.
package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

// Tree is a loaded configuration: the root module and everything it calls. It is immutable after loading.
// It may be read concurrently. Test runs change copies of it, see Copy.
type Tree struct {
	Root    *Module
	Modules map[addr.Module]*Module
	// Sources has the content of every file read, by its name in ranges, for snippets in diagnostics.
	Sources map[string][]byte

	removals map[addr.ConfigResource]*Removed // by their targets; for a module, the resource is empty
}

// Module is one module of the tree: the merged content of the files of its directory. A directory that is
// called several times has one Module per call, since addresses and passed providers differ. The maps are
// never nil.
type Module struct {
	Path     addr.Module
	Dir      string // as written in path.module: relative to the working directory, slash separated, "." for the root
	Parent   *Module
	Call     *ModuleCall // the call in Parent, nil for the root
	Children map[string]*Module

	RequiredVersions []VersionConstraint
	Required         map[string]*RequiredProvider // by local name, declared ones only
	Backend          *Backend
	Encryption       *Encryption              // nil without a block
	ProviderMeta     map[string]*ProviderMeta // by local name

	Providers map[string]*Provider // by local name, or "name.alias"
	Variables map[string]*Variable
	Locals    map[string]*Local
	Outputs   map[string]*Output
	Resources map[addr.Resource]*Resource
	Calls     map[string]*ModuleCall
	Checks    map[string]*Check
	Moved     []*Moved
	Removed   []*Removed
	Imports   []*Import
	Ephemeral []*EphemeralPolicy // of the root module only
	Queries   []string           // the names of the query files that were read; in the root module only

	// Order lists the module's resources in source order (file name, then position).
	Order []*Resource
}

// VersionConstraint is a version constraint as written, such as "~> 1.2, != 1.2.5". Its syntax was checked.
// Text is "" if no constraint is given.
type VersionConstraint struct {
	Text  string
	Range hcl.Range
}

// RequiredProvider is an entry of required_providers. If no source is written, Source is the default for
// the local name.
type RequiredProvider struct {
	Name    string // local name
	Source  addr.Provider
	Version VersionConstraint // Text is "" if none
	Aliases []ProviderRef     // configuration_aliases
	Range   hcl.Range
}

// ProviderRef names a provider configuration as written in a module: local name, optional alias, optional
// instance key expression.
type ProviderRef struct {
	Name    string
	Alias   string
	KeyExpr hcl.Expression // of "name.alias[expr]", nil otherwise
	Range   hcl.Range
}

// String returns "name" or "name.alias".
func (r ProviderRef) String() string {
	if r.Alias == "" {
		return r.Name
	}
	return r.Name + "." + r.Alias
}

// Backend is a backend block or, with Cloud set, a cloud block or, with Store set, a state_store block.
type Backend struct {
	Type  string // "cloud" for a cloud block
	Cloud bool
	Store *StoreProvider
	Body  hcl.Body // without the block of the provider
	Range hcl.Range
}

// StoreProvider is the provider block in a state_store block.
type StoreProvider struct {
	Name   string        // local name
	Source addr.Provider // that required_providers gives the name
	Body   hcl.Body
	Range  hcl.Range
}

// ProviderMeta is a provider_meta block.
type ProviderMeta struct {
	Name  string
	Body  hcl.Body
	Range hcl.Range
}

// Provider is a provider block.
type Provider struct {
	Name    string
	Alias   string
	ForEach hcl.Expression // nil for a single instance
	Version VersionConstraint
	Body    hcl.Body // the provider's own arguments
	Range   hcl.Range
	Test    bool // it is in a test file, where arguments may refer to earlier runs
}

// Ref returns the name other blocks use for p.
func (p *Provider) Ref() ProviderRef {
	return ProviderRef{Name: p.Name, Alias: p.Alias, Range: p.Range}
}

// Variable is a variable block. Sensitive and Ephemeral are marks that every value of the variable gets
// (E1). They are independent of each other: a sensitive value is stored but not shown; an ephemeral one is
// neither.
type Variable struct {
	Name        string
	Description string
	// Type is the type of values, without marks of optional attributes; cty.DynamicPseudoType for any.
	// Constraint and Defaults have the optional attributes and their defaults.
	Type cty.Type
	// Constraint is Type with the marks of optional attributes, for conversion.
	Constraint  cty.Type
	Defaults    *typeexpr.Defaults
	Default     cty.Value // cty.NilVal if the variable is required
	Sensitive   bool
	Ephemeral   bool
	Nullable    bool // true unless nullable = false
	Const       bool
	Deprecated  string // message, "" if not deprecated
	Validations []*Condition
	// ParseLiteral is true if text from the command line and the environment is the value itself, because
	// the type is primitive or not declared. Otherwise such text is an expression.
	ParseLiteral bool
	Range        hcl.Range
}

// Required reports whether a value must be given.
func (v *Variable) Required() bool { return v.Default == cty.NilVal }

// Local is one entry of a locals block. It has no type and no marks of its own: a local value is ephemeral
// or sensitive if its parts are (E20).
type Local struct {
	Name  string
	Expr  hcl.Expression
	Range hcl.Range
}

// Output is an output block. Ephemeral outputs exist only in called modules (E10), and in a root module
// under test (E83).
type Output struct {
	Name          string
	Description   string
	Constraint    cty.Type           // cty.NilType if the output takes the type of its value
	Defaults      *typeexpr.Defaults // of optional attributes in the constraint
	Expr          hcl.Expression
	Sensitive     bool
	Ephemeral     bool
	Deprecated    string
	DependsOn     []hcl.Traversal
	Preconditions []*Condition
	Range         hcl.Range
	Overrides     []OutputOverride // of a test, in order of falling precedence
}

// OutputOverride is the value of an output in those instances of its module that a test overrides.
type OutputOverride struct {
	Target addr.Target // instances of the module
	Value  cty.Value
}

// Overridden returns the value that the output has in an instance of its module that is overridden.
func (o *Output) Overridden(in addr.ModuleInstance) (cty.Value, bool) {
	for _, over := range o.Overrides {
		if over.Target.SelectsModule(in) {
			return over.Value, true
		}
	}
	return cty.NilVal, false
}

// Condition is a precondition, postcondition, validation or assert block. The condition must be met; the
// message is evaluated only if it is not.
type Condition struct {
	Condition    hcl.Expression
	ErrorMessage hcl.Expression
	Range        hcl.Range
}

// Repetition describes the repetition of a block; all fields nil for a single instance. At most one field is
// set.
type Repetition struct {
	Count   hcl.Expression
	ForEach hcl.Expression
	Enabled hcl.Expression // lifecycle.enabled
}

// Resource is a resource, data, ephemeral, list or action block. It is the block as written, which may have
// many instances, or none.
type Resource struct {
	Addr      addr.Resource
	Module    *Module
	Repeat    Repetition
	Provider  *ProviderRef // nil for the default configuration of the type's provider
	DependsOn []hcl.Traversal
	Body      hcl.Body // the arguments in the type's schema, without meta-arguments
	Lifecycle Lifecycle
	// Provisioners in order, only on managed resources.
	Provisioners []*Provisioner
	Connection   *Connection
	Range        hcl.Range // the block header
	TypeRange    hcl.Range
	NoBody       bool // an action has no config block: Body is empty
	// List has the other arguments of a list block; nil for other blocks.
	List *List
	// Check is the check block that contains r; nil for other blocks. Failures of a nested block are
	// warnings.
	Check *Check
}

// Config returns the address of the block.
func (r *Resource) Config() addr.ConfigResource {
	return addr.ConfigResource{Module: r.Module.Path, Resource: r.Addr}
}

// ProviderRef returns the provider configuration that the resource uses, as named in its module.
func (r *Resource) ProviderRef() ProviderRef {
	if r.Provider != nil {
		return *r.Provider
	}
	return ProviderRef{Name: r.ImpliedProvider(), Range: r.TypeRange}
}

// ImpliedProvider returns the local name of the provider that the type implies: its part before the first
// underscore.
func (r *Resource) ImpliedProvider() string { return impliedProvider(r.Addr.Type) }

// impliedProvider cuts a type at its first underscore; a type without one is the name of its provider.
func impliedProvider(typ string) string {
	name, _, _ := strings.Cut(typ, "_")
	return name
}

// Trigger is an element of replace_triggered_by: a reference to a managed resource, its instances or
// attributes.
type Trigger struct {
	Expr hcl.Expression
	Keys []hcl.Expression // computed keys in brackets
}

// Lifecycle is the content of lifecycle blocks. For data and ephemeral blocks, only conditions are decoded;
// other arguments are errors (E31).
type Lifecycle struct {
	CreateBeforeDestroy bool
	PreventDestroy      hcl.Expression // nil if absent
	IgnoreChanges       []hcl.Traversal
	IgnoreAll           bool
	EphemeralAttributes []EphemeralAttribute
	ReplaceTriggeredBy  []Trigger
	Preconditions       []*Condition
	Postconditions      []*Condition
	ActionTriggers      []*ActionTrigger
	// Destroy is the destroy argument; nil if absent.
	Destroy *bool
	Range   hcl.Range
}

// EphemeralAttribute is an attribute whose value is kept out of the state.
type EphemeralAttribute struct {
	Path    hcl.Traversal  // relative to the resource; a TraverseSplat stands for every element
	Version hcl.Expression // that changes with the value; nil if there is none
}

// EphemeralPolicy is an ephemeral_attributes block: attributes of all resources of a type that are kept out
// of the state.
type EphemeralPolicy struct {
	Type     string
	Names    []EphemeralAttribute
	Provider *ProviderRef  // of the resources; nil for any
	Module   hcl.Traversal // that they are in, or below; nil for any
	Range    hcl.Range
}

// SkipDestroy reports whether objects that are no longer wanted are left alone: destroy = false.
func (l *Lifecycle) SkipDestroy() bool { return l.Destroy != nil && !*l.Destroy }

// Provisioner is a provisioner block of a resource or of a removed block. By default it runs after the
// object was created, and its failure taints the object.
type Provisioner struct {
	Type       string
	Body       hcl.Body
	Connection *Connection
	Destroy    bool // when = destroy
	Continue   bool // on_failure = continue
	Range      hcl.Range
}

// Connection is a connection block. Its arguments are evaluated anew for every provisioner that uses it,
// since they may refer to self.
type Connection struct {
	Body  hcl.Body
	Range hcl.Range
}

// ModuleCall is a module block. Source is the text as written, or as evaluated by Loader.Resolve; it is not
// normalized. SourceSet is false as long as it is not known.
type ModuleCall struct {
	Name      string
	Source    string
	SourceSet bool
	Version   VersionConstraint
	Repeat    Repetition
	Providers []PassedProvider
	DependsOn []hcl.Traversal
	Inputs    map[string]*hcl.Attribute
	Range     hcl.Range
	SrcRange  hcl.Range

	// Expressions that must be evaluated; see Loader.Resolve.
	sourceExpr, versionExpr hcl.Expression
	versionRange            *hcl.Range
}

// PassedProvider is an entry of a module call's providers argument, such as aws.west = aws.us_west_2.
type PassedProvider struct {
	InChild  ProviderRef
	InParent ProviderRef
}

// Check is a check block. A failed assertion is a warning, except in test runs.
type Check struct {
	Name    string
	Scoped  *Resource // a nested data or ephemeral block, nil if none
	Asserts []*Condition
	Range   hcl.Range
	// Test is set if these are the assertions of a test run. They may refer to outputs of the module and to
	// earlier runs, and are evaluated also where a plan is restricted.
	Test bool
	// Late leaves the assertions of a test run to the apply: its plan does not evaluate them.
	Late bool
}

// Moved is a moved block. Both addresses are relative to the module that contains the block. They are kept
// as written, for messages; package moves parses them.
type Moved struct {
	From, To hcl.Traversal
	Range    hcl.Range
}

// Removed is a removed block: objects that the configuration no longer declares are destroyed, or forgotten
// if Destroy is false.
type Removed struct {
	From         hcl.Traversal
	Destroy      bool
	Provisioners []*Provisioner
	Connection   *Connection
	Range        hcl.Range

	module *Module // that declares it
	target addr.Target
}

// Import is an import block. Exactly one of ID and Identity is set.
type Import struct {
	To       ImportAddress
	ForEach  hcl.Expression
	ID       hcl.Expression
	Identity hcl.Expression
	Provider *ProviderRef
	Resource *addr.Resource // the resource that To names in the module of the block; nil if To names one in another module
	Range    hcl.Range
}

// ImportAddress is the address of a managed resource instance whose keys may be expressions.
type ImportAddress struct {
	Steps hcl.Traversal          // with a placeholder for each key that is an expression
	Keys  map[int]hcl.Expression // those keys, by the index of their step
	Range hcl.Range
}

// ProviderRef returns the provider configuration that imports the object unless a resource block names
// another. ok is false if only the module in To determines it.
func (i *Import) ProviderRef() (ref ProviderRef, ok bool) {
	switch {
	case i.Provider != nil:
		return *i.Provider, true
	case i.Resource != nil:
		return ProviderRef{Name: (&Resource{Addr: *i.Resource}).ImpliedProvider(), Range: i.Range}, true
	}
	return ProviderRef{}, false
}
