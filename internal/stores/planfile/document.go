package planfile

import (
	"encoding/json"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// header is the first entry. Its members keep their meaning in all versions of the format.
//
//	{"format":7,"version":"1.0.0"}
type header struct {
	Format  int    `json:"format"`
	Version string `json:"version"`
}

// document is the main entry: the plan without its changes. Changes refer to the document's tables by index
// and are stored as one JSON document per line, so that neither side has all of them in encoded form. Only
// the names of ephemeral variables are stored (E6), and nothing of ephemeral resources.
type document struct {
	Mode        string    `json:"mode"`
	Errored     bool      `json:"errored,omitempty"`
	SkipRefresh bool      `json:"skip_refresh,omitempty"`
	Lazy        bool      `json:"lazy_ephemeral,omitempty"`
	LeakGuard   string    `json:"leak_guard,omitempty"` // the policy, unless it is the standard
	Timestamp   time.Time `json:"timestamp"`
	Meta        *meta     `json:"state"`

	Variables          map[string]*sealed `json:"variables,omitempty"`
	EphemeralVariables []string           `json:"ephemeral_variables,omitempty"`
	Targets            []target           `json:"targets,omitempty"`
	Excludes           []target           `json:"excludes,omitempty"`
	ForceReplace       []instance         `json:"force_replace,omitempty"`
	Extent             *extent            `json:"extent,omitempty"` // from format 7 on
	Reads              *reads             `json:"reads,omitempty"`  // likewise

	Outputs     []outputChange `json:"outputs,omitempty"`
	Invocations []invocation   `json:"action_invocations,omitempty"`
	Checks      []checkResult  `json:"checks,omitempty"`

	RootDir  string            `json:"root_dir,omitempty"`
	Backend  backend           `json:"backend"`
	Packages map[string]string `json:"provider_packages,omitempty"`
	Config   []configFile      `json:"config,omitempty"`
	Schemas  []schemas         `json:"provider_schemas,omitempty"`

	Changes  int `json:"changes"`
	Drift    int `json:"drift"`
	Deferred int `json:"deferred,omitempty"`
	Adopted  int `json:"adopted,omitempty"`

	tables
}

// tables have data shared by many changes, so that the size of a plan is linear in its content.
type tables struct {
	Types     []json.RawMessage `json:"types,omitempty"`
	Modules   []moduleInstance  `json:"modules,omitempty"` // from index 1; index 0 is the root
	Resources []resource        `json:"resources,omitempty"`
	Blocks    []block           `json:"blocks,omitempty"`
	Providers []providerConfig  `json:"provider_configs,omitempty"`
}

// extent says how far a plan of changes has gone. It has the type of plan.Extent, with the names of the
// format.
type extent struct {
	Full        string         `json:"full,omitempty"`
	Objects     int            `json:"objects"`
	Evaluated   int            `json:"evaluated"`
	New         int            `json:"new,omitempty"`
	Rows        int            `json:"rows"`
	Collections map[string]int `json:"collections,omitempty"`
	Collected   int            `json:"collected,omitempty"`
	Unversioned []string       `json:"unversioned,omitempty"`
}

// reads are the objects that the plan has refreshed.
type reads struct {
	At        time.Time `json:"at"`
	All       bool      `json:"all,omitempty"`
	Instances []string  `json:"instances,omitempty"`
}

// meta identifies the state that the plan was made from. It has the type of state.Meta, with the names of
// the format.
type meta struct {
	Lineage string `json:"lineage,omitempty"`
	Serial  uint64 `json:"serial"`
	Version string `json:"version,omitempty"`
}

// backend identifies the place of the plan's state.
type backend struct {
	Type      string  `json:"type,omitempty"`
	Config    *sealed `json:"config,omitempty"`
	Workspace string  `json:"workspace,omitempty"`
}

// configFile maps the path of a configuration file to its entry, because a path may be invalid as an
// entry's name.
type configFile struct {
	Path  string `json:"path"`
	Entry string `json:"entry"`
}

// schemas maps a provider to the entry with its schemas.
type schemas struct {
	Provider   string `json:"provider"`
	Protocol   int    `json:"protocol"`
	Entry      string `json:"entry"`
	Identities []byte `json:"identities,omitempty"`
}

// moduleInstance is a child of an earlier module instance in the table.
type moduleInstance struct {
	Parent int      `json:"parent"`
	Call   string   `json:"call"`
	Key    addr.Key `json:"key,omitzero"`
}

// resource is a resource in a module instance, an index of the table of modules.
type resource struct {
	Module int    `json:"module"`
	Mode   string `json:"mode"`
	Type   string `json:"type"`
	Name   string `json:"name"`
}

// block is a resource in a module without instance keys.
type block struct {
	Module []string `json:"module,omitempty"`
	Mode   string   `json:"mode"`
	Type   string   `json:"type"`
	Name   string   `json:"name"`
}

// providerConfig is a provider configuration in a module instance.
type providerConfig struct {
	Module   int      `json:"module"`
	Provider string   `json:"provider,omitempty"`
	Alias    string   `json:"alias,omitempty"`
	Key      addr.Key `json:"key,omitzero"`
}

// instance is a resource instance, with the index of its resource.
type instance struct {
	Resource int      `json:"resource"`
	Key      addr.Key `json:"key,omitzero"`
}

// dep is the stored form of plan.Dep.
type dep struct {
	Resource int      `json:"resource"`
	Key      addr.Key `json:"key,omitzero"`
	All      bool     `json:"all,omitempty"`
	Modules  bool     `json:"modules,omitempty"`
	Within   int      `json:"within,omitempty"`
}

// target refers to a resource or to a module.
type target struct {
	Resource *int     `json:"resource,omitempty"`
	Module   int      `json:"module"`
	Key      addr.Key `json:"key,omitzero"`
	Keyless  bool     `json:"keyless,omitempty"`
}

// sealed is an encoded value: the index of its type, its MessagePack form, and the paths of its sensitive
// parts. It has no field for ephemeral marks; such values cannot be sealed.
type sealed struct {
	Type      int    `json:"t"`
	Packed    []byte `json:"v"`
	Sensitive []path `json:"s,omitempty"`
}

// path is a path of attributes and keys.
type path []step

// step is one of: an attribute's name, a string key, a number as text, or any other known key with its type's
// index.
type step struct {
	Attr    *string  `json:"attr,omitempty"`
	Key     *string  `json:"key,omitempty"`
	Index   *string  `json:"index,omitempty"`
	Element *element `json:"element,omitempty"`
}

// element is a key other than a string or a number, such as an object in a set.
type element struct {
	Type  int             `json:"t"`
	Value json.RawMessage `json:"v"`
}

// change is one line of the entries for changes and drift.
//
//	{"addr":{"resource":0,"key":"a"},"provider":0,"action":"update","before":{"t":3,"v":"gqJ…"},"after":{…}}
type change struct {
	Addr     instance  `json:"addr"`
	Deposed  string    `json:"deposed,omitempty"`
	PrevAddr *instance `json:"prev_addr,omitempty"`
	Provider int       `json:"provider"`

	Action          string `json:"action"`
	Reason          string `json:"reason,omitempty"`
	RequiredReplace []path `json:"required_replace,omitempty"`

	Before          *sealed `json:"before,omitempty"`
	After           *sealed `json:"after,omitempty"`
	PriorPrivate    []byte  `json:"prior_private,omitempty"`
	PlannedPrivate  []byte  `json:"planned_private,omitempty"`
	PriorIdentity   *sealed `json:"prior_identity,omitempty"`
	PlannedIdentity *sealed `json:"planned_identity,omitempty"`
	SchemaVersion   int64   `json:"schema_version,omitempty"`

	Deps                []dep      `json:"deps,omitempty"`
	StateDeps           []int      `json:"state_deps,omitempty"`
	CreateBeforeDestroy bool       `json:"create_before_destroy,omitempty"`
	KeepsReplaced       bool       `json:"keeps_replaced,omitempty"`
	Importing           *importing `json:"importing,omitempty"`
	GeneratedConfig     string     `json:"generated_config,omitempty"`
	Withheld            []withheld `json:"ephemeral_attributes,omitempty"`
	Given               string     `json:"given,omitempty"` // in hexadecimal digits; from format 7 on
}

// withheld is the stored form of plan.Withheld.
type withheld struct {
	Path      path       `json:"path"`
	Status    string     `json:"status"`
	Computed  bool       `json:"computed,omitempty"`
	Consumers []instance `json:"consumers,omitempty"`
	Missed    []instance `json:"missed,omitempty"`
}

// importing is the stored form of plan.Importing.
type importing struct {
	ID       string  `json:"id,omitempty"`
	Identity *sealed `json:"identity,omitempty"`
}

// outputChange is the stored form of plan.OutputChange.
type outputChange struct {
	Name      string  `json:"name"`
	Action    string  `json:"action"`
	Before    *sealed `json:"before,omitempty"`
	After     *sealed `json:"after,omitempty"`
	Sensitive bool    `json:"sensitive,omitempty"`
	Deps      []dep   `json:"deps,omitempty"`
}

// checkResult is the stored form of state.CheckResult.
type checkResult struct {
	Kind    string        `json:"kind"`
	Config  string        `json:"config"`
	Status  string        `json:"status"`
	Objects []checkObject `json:"objects,omitempty"`
}

// checkObject is the stored form of state.CheckObject.
type checkObject struct {
	Addr     string   `json:"addr"`
	Status   string   `json:"status"`
	Failures []string `json:"failures,omitempty"`
}
