package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// localBackend is the only backend type of this version.
const localBackend = "local"

// backendConfig says where states are: the content of a backend block of type local, or its absence.
type backendConfig struct {
	declared     bool
	path         string // "" for the default
	workspaceDir string // "" for the default
}

// value is the configuration as it is recorded in plans; cty.NilVal if there is no backend block.
func (b backendConfig) value() cty.Value {
	if !b.declared {
		return cty.NilVal
	}
	return cty.ObjectVal(map[string]cty.Value{"path": stringOrNull(b.path), "workspace_dir": stringOrNull(b.workspaceDir)})
}

func stringOrNull(s string) cty.Value {
	if s == "" {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(s)
}

// store opens the backend, with the files that the options name instead.
func (b backendConfig) store(files stateFlags) store.Store {
	return local.New(local.Options{
		Path: b.path, WorkspaceDir: b.workspaceDir, State: files.state, StateOut: files.out, Backup: files.backup, Stamp: files.stamp,
	})
}

// declaredBackend evaluates the root module's backend block, with the -backend-config options over it.
func declaredBackend(root *config.Module, over []string) (backendConfig, diag.List) {
	var out backendConfig
	block := root.Backend
	if block == nil {
		if len(over) > 0 {
			return out, diag.Warnf("Missing backend configuration", "-backend-config was used without a \"backend\" block in the configuration, so it has no effect.")
		}
		return out, nil
	}
	if block.Type != localBackend {
		return out, diag.At(block.Range, "Unsupported backend type", "The backend %q is not supported in this version of Mayfly. The only backend that is supported is %q, which keeps the state in a file.", block.Type, localBackend)
	}
	out.declared = true
	attrs, hd := block.Body.JustAttributes()
	diags := diag.FromHCL(hd)
	for _, attr := range attrs {
		diags = append(diags, out.set(attr)...)
	}
	for _, text := range over {
		diags = append(diags, out.override(text)...)
	}
	return out, diags
}

func (b *backendConfig) set(attr *hcl.Attribute) diag.List {
	val, hd := attr.Expr.Value(nil)
	if hd.HasErrors() {
		return diag.FromHCL(hd)
	}
	val, err := convert.Convert(val, cty.String)
	if err != nil || !val.IsWhollyKnown() {
		return diag.At(attr.Expr.Range(), "Invalid backend configuration", "The argument %q must be a string.", attr.Name)
	}
	text := ""
	if !val.IsNull() {
		text = val.AsString()
	}
	if !b.assign(attr.Name, text) {
		return diag.At(attr.NameRange, "Unsupported argument", "The backend \"local\" has no argument %q; it has \"path\" and \"workspace_dir\".", attr.Name)
	}
	return nil
}

func (b *backendConfig) assign(name, text string) bool {
	switch name {
	case "path":
		b.path = text
	case "workspace_dir":
		b.workspaceDir = text
	default:
		return false
	}
	return true
}

// override applies one -backend-config option: name=value, or a file of such.
func (b *backendConfig) override(text string) diag.List {
	if name, val, ok := strings.Cut(text, "="); ok {
		if !b.assign(strings.TrimSpace(name), strings.TrimSpace(val)) {
			return diag.Errorf("Invalid backend configuration argument", "The backend \"local\" has no argument %q, which -backend-config names; it has \"path\" and \"workspace_dir\".", name)
		}
		return nil
	}
	file, diags := config.LoadVarsFile(config.OSFS{}, text, backendArguments)
	if diags.HasErrors() {
		return diags
	}
	for _, name := range slices.Sorted(maps.Keys(file.Values)) {
		v := file.Values[name]
		diags = append(diags, b.set(&hcl.Attribute{Name: name, Expr: v.Expr, NameRange: v.NameRange, Range: v.Range})...)
	}
	return diags.WithSource(text, file.Source)
}

// backendArguments are those of the backend, none of which is secret.
var backendArguments = map[string]*config.Variable{"path": {Name: "path"}, "workspace_dir": {Name: "workspace_dir"}}

// backendRecord is what init remembers of the backend, in the file and form that other engines use.
type backendRecord struct {
	Version int `json:"version"`
	Backend *struct {
		Type   string          `json:"type"`
		Config json.RawMessage `json:"config"`
		Hash   uint64          `json:"hash"`
	} `json:"backend,omitempty"`
}

type localRecord struct {
	Path         *string `json:"path"`
	WorkspaceDir *string `json:"workspace_dir"`
}

func (d *directory) recordPath() string { return filepath.Join(d.dataDir, "terraform.tfstate") }

// recorded returns the backend that init recorded; ok is false if it recorded none.
func (d *directory) recorded() (b backendConfig, ok bool, diags diag.List) {
	src, err := os.ReadFile(d.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return b, false, nil
	}
	if err != nil {
		return b, false, diag.Errorf("Cannot read the recorded backend",
			"The file %s, in which \"mayfly init\" records the backend, could not be read: %s. Correct this, or remove %s and run \"mayfly init\".", d.recordPath(), diag.Reason(err), d.dataDir)
	}
	var rec backendRecord
	if err := json.Unmarshal(src, &rec); err != nil {
		return b, false, badRecord(d.recordPath(), err)
	}
	if rec.Backend == nil {
		return b, false, nil
	}
	if rec.Backend.Type != localBackend {
		return b, false, diag.Errorf("Unsupported backend type", "This directory was initialized for the backend %q, which is not supported in this version of Mayfly. To use the backend of the configuration without moving the state, run: mayfly init -reconfigure", rec.Backend.Type)
	}
	var cfg localRecord
	if err := json.Unmarshal(rec.Backend.Config, &cfg); err != nil {
		return b, false, badRecord(d.recordPath(), err)
	}
	b.declared = true
	if cfg.Path != nil {
		b.path = *cfg.Path
	}
	if cfg.WorkspaceDir != nil {
		b.workspaceDir = *cfg.WorkspaceDir
	}
	return b, true, nil
}

func badRecord(path string, err error) diag.List {
	return diag.Errorf("Cannot read the recorded backend",
		"The file %s, in which \"mayfly init\" records the backend, is damaged: %s. To record the backend anew, run: mayfly init -reconfigure", path, err)
}

// record remembers the backend for the commands that follow; a configuration without one removes the record.
func (d *directory) record(b backendConfig) error {
	if !b.declared {
		err := os.Remove(d.recordPath())
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	cfg := localRecord{}
	if b.path != "" {
		cfg.Path = &b.path
	}
	if b.workspaceDir != "" {
		cfg.WorkspaceDir = &b.workspaceDir
	}
	encoded, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	rec := backendRecord{Version: 3}
	rec.Backend = &struct {
		Type   string          `json:"type"`
		Config json.RawMessage `json:"config"`
		Hash   uint64          `json:"hash"`
	}{Type: localBackend, Config: encoded}
	out, err := json.MarshalIndent(rec, "", "    ")
	if err != nil {
		return err
	}
	out = append(out, '\n')
	if old, err := os.ReadFile(d.recordPath()); err == nil && bytes.Equal(old, out) {
		return nil
	}
	if err := os.MkdirAll(d.dataDir, 0o755); err != nil {
		return err
	}
	return writeFile(d.recordPath(), out)
}

// backend returns the backend to use: that of the configuration, which must be the recorded one. A directory in which none was recorded is
// initialized on the way, since this backend needs nothing else.
func (d *directory) backend() (backendConfig, diag.List) {
	var want backendConfig
	if d.root != nil {
		var diags diag.List
		if want, diags = declaredBackend(d.root, nil); diags.HasErrors() {
			return want, diags
		}
	}
	have, ok, diags := d.recorded()
	if diags.HasErrors() {
		return want, diags
	}
	switch {
	case !ok:
		if want.declared {
			if err := d.record(want); err != nil {
				return want, diag.Errorf("Cannot record the backend", "The file %s could not be written: %s.", d.recordPath(), diag.Reason(err))
			}
		}
		return want, nil
	case d.root == nil || have == want:
		return have, nil
	case want.declared && want.coveredBy(have):
		return have, nil // init completed it with -backend-config
	default:
		return want, diag.Errorf("Backend initialization required, please run \"mayfly init\"",
			"The backend in the configuration is not the one that this directory was initialized for, so the state may be elsewhere. Run \"mayfly init -migrate-state\" to bring the state along, or \"mayfly init -reconfigure\" to leave it where it is.")
	}
}

// coveredBy reports whether other has everything that b says, and perhaps more.
func (b backendConfig) coveredBy(other backendConfig) bool {
	return other.declared && (b.path == "" || b.path == other.path) && (b.workspaceDir == "" || b.workspaceDir == other.workspaceDir)
}
