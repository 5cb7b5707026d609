package planfile

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
)

// header is the first entry. Its members keep their meaning in all versions of the format.
type header struct {
	Format  int    `json:"format"`
	Version string `json:"version"`
}

// document is the entry of the plan: everything but the changes, which refer to its tables by index.
type document struct {
	Mode        string    `json:"mode"`
	Errored     bool      `json:"errored,omitempty"`
	SkipRefresh bool      `json:"skip_refresh,omitempty"`
	Lazy        bool      `json:"lazy_ephemeral,omitempty"`
	Timestamp   time.Time `json:"timestamp"`
	Meta        *meta     `json:"state"`

	Variables          map[string]*sealed `json:"variables,omitempty"`
	EphemeralVariables []string           `json:"ephemeral_variables,omitempty"`
	Targets            []target           `json:"targets,omitempty"`
	Excludes           []target           `json:"excludes,omitempty"`
	ForceReplace       []instance         `json:"force_replace,omitempty"`

	Outputs []outputChange `json:"outputs,omitempty"`
	Checks  []checkResult  `json:"checks,omitempty"`

	RootDir  string            `json:"root_dir,omitempty"`
	Backend  backend           `json:"backend"`
	Packages map[string]string `json:"provider_packages,omitempty"`
	Config   []configFile      `json:"config,omitempty"`

	// PriorIsBase reports that the prior state has no entry because it equals the base.
	PriorIsBase bool `json:"prior_is_base,omitempty"`
	Changes     int  `json:"changes"`
	Drift       int  `json:"drift"`

	tables
}

// tables hold data shared by many changes, so that the size of a plan is linear in its content.
type tables struct {
	Types     []json.RawMessage `json:"types,omitempty"`
	Modules   []moduleInstance  `json:"modules,omitempty"` // from index 1; index 0 is the root
	Resources []resource        `json:"resources,omitempty"`
	Blocks    []block           `json:"blocks,omitempty"`
	Providers []providerConfig  `json:"provider_configs,omitempty"`
}

type meta struct {
	Lineage string `json:"lineage,omitempty"`
	Serial  uint64 `json:"serial"`
	Version string `json:"version,omitempty"`
}

type backend struct {
	Type      string  `json:"type,omitempty"`
	Config    *sealed `json:"config,omitempty"`
	Workspace string  `json:"workspace,omitempty"`
}

type configFile struct {
	Path  string `json:"path"`
	Entry string `json:"entry"`
}

// moduleInstance is a child of an earlier module instance in the table.
type moduleInstance struct {
	Parent int    `json:"parent"`
	Call   string `json:"call"`
	Key    key    `json:"key,omitzero"`
}

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

type providerConfig struct {
	Module   int    `json:"module"`
	Provider string `json:"provider,omitempty"`
	Alias    string `json:"alias,omitempty"`
	Key      key    `json:"key,omitzero"`
}

type instance struct {
	Resource int `json:"resource"`
	Key      key `json:"key,omitzero"`
}

type dep struct {
	Resource int  `json:"resource"`
	Key      key  `json:"key,omitzero"`
	All      bool `json:"all,omitempty"`
	Modules  bool `json:"modules,omitempty"`
	Within   int  `json:"within,omitempty"`
}

// target refers to a resource or to a module.
type target struct {
	Resource *int `json:"resource,omitempty"`
	Module   int  `json:"module"`
	Key      key  `json:"key,omitzero"`
	Keyless  bool `json:"keyless,omitempty"`
}

// sealed is an encoded value: the index of its type, its MessagePack form, and the paths of its sensitive
// parts.
type sealed struct {
	Type      int    `json:"t"`
	Packed    []byte `json:"v"`
	Sensitive []path `json:"s,omitempty"`
}

type path []step

// step is one of: an attribute's name, a string key, a number as text, or any other known key with its type's
// index.
type step struct {
	Attr    *string  `json:"attr,omitempty"`
	Key     *string  `json:"key,omitempty"`
	Index   *string  `json:"index,omitempty"`
	Element *element `json:"element,omitempty"`
}

type element struct {
	Type  int             `json:"t"`
	Value json.RawMessage `json:"v"`
}

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
	Importing           *importing `json:"importing,omitempty"`
	GeneratedConfig     string     `json:"generated_config,omitempty"`
}

type importing struct {
	ID       string  `json:"id,omitempty"`
	Identity *sealed `json:"identity,omitempty"`
}

type outputChange struct {
	Name      string  `json:"name"`
	Action    string  `json:"action"`
	Before    *sealed `json:"before,omitempty"`
	After     *sealed `json:"after,omitempty"`
	Sensitive bool    `json:"sensitive,omitempty"`
}

type checkResult struct {
	Kind    string        `json:"kind"`
	Config  string        `json:"config"`
	Status  string        `json:"status"`
	Objects []checkObject `json:"objects,omitempty"`
}

type checkObject struct {
	Addr     string   `json:"addr"`
	Status   string   `json:"status"`
	Failures []string `json:"failures,omitempty"`
}

// key is an instance key: absent, a number or a string.
type key struct{ addr.Key }

// MarshalJSON implements json.Marshaler.
func (k key) MarshalJSON() ([]byte, error) {
	switch k.Kind() {
	case addr.KeyInt:
		return json.Marshal(k.Int())
	case addr.KeyString:
		return json.Marshal(k.Str())
	default:
		return []byte("null"), nil
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (k *key) UnmarshalJSON(src []byte) error {
	var n int
	var s string
	switch {
	case string(src) == "null":
		k.Key = addr.NoKey
	case json.Unmarshal(src, &n) == nil && n >= 0:
		k.Key = addr.IntKey(n)
	case json.Unmarshal(src, &s) == nil:
		k.Key = addr.StringKey(s)
	default:
		return errors.New("an instance key is neither a whole number nor a string")
	}
	return nil
}
