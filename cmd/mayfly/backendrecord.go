package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

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

// recordedBackend is the backend that a directory was initialized for.
type recordedBackend struct {
	backendConfig
	hash uint64 // of the backend block as it was, without what the options of init put over it; 0 if it is not known
}

// holdsFor reports whether the record is for a backend block, perhaps with more than the block says.
func (r recordedBackend) holdsFor(block backendConfig) bool {
	switch {
	case !block.declared || !r.declared:
		return block == r.backendConfig
	case r.hash == 0:
		return block.coveredBy(r.backendConfig)
	default:
		return r.hash == block.hash() || block == r.backendConfig
	}
}

// hash identifies what a backend block says, with the same number in all engines.
func (b backendConfig) hash() uint64 {
	if !b.declared {
		return 0
	}
	return uint64(cty.TupleVal([]cty.Value{cty.StringVal(localBackend), b.value()}).Hash())
}

// recorded returns the backend that init recorded; ok is false if it recorded none.
func (d *directory) recorded() (r recordedBackend, ok bool, diags diag.List) {
	src, err := safefile.Read(d.recordPath(), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, diag.Errorf("Cannot read the recorded backend",
			"The file %s, in which \"mayfly init\" records the backend, could not be read: %s. Correct this, or remove %s and run \"mayfly init\".", d.recordPath(), diag.Reason(err), d.dataDir)
	}
	var rec backendRecord
	if err := json.Unmarshal(src, &rec); err != nil {
		return r, false, badRecord(d.recordPath(), err)
	}
	if rec.Backend == nil {
		return r, false, nil
	}
	if rec.Backend.Type != localBackend {
		return r, false, diag.Errorf("Unsupported backend type", "This directory was initialized for the backend %q, which is not supported in this version of Mayfly. To use the backend of the configuration without moving the state, run: mayfly init -reconfigure", rec.Backend.Type)
	}
	var cfg localRecord
	if err := json.Unmarshal(rec.Backend.Config, &cfg); err != nil {
		return r, false, badRecord(d.recordPath(), err)
	}
	r.declared, r.hash = true, rec.Backend.Hash
	if cfg.Path != nil {
		r.path = *cfg.Path
	}
	if cfg.WorkspaceDir != nil {
		r.workspaceDir = *cfg.WorkspaceDir
	}
	return r, true, nil
}

func badRecord(path string, err error) diag.List {
	return diag.Errorf("Cannot read the recorded backend",
		"The file %s, in which \"mayfly init\" records the backend, is damaged: %s. To record the backend again, run: mayfly init -reconfigure", path, err)
}

// record remembers a backend, and the block that it is for, for the commands that follow; a configuration
// without one removes the record.
func (d *directory) record(b, block backendConfig) error {
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
	}{Type: localBackend, Config: encoded, Hash: block.hash()}
	out, err := json.MarshalIndent(rec, "", "    ")
	if err != nil {
		return err
	}
	out = append(out, '\n')
	if old, err := safefile.Read(d.recordPath(), maxRecord); err == nil && bytes.Equal(old, out) {
		return nil
	}
	if err := os.MkdirAll(d.dataDir, 0o755); err != nil {
		return err
	}
	return writeFile(d.recordPath(), out)
}

// backend returns the backend to use: that of the configuration, which must be the recorded one. A directory
// in which none was recorded may have one that keeps the state where it is without a backend block.
func (d *directory) backend() (backendConfig, diag.List) {
	var want backendConfig
	if d.root != nil {
		var diags diag.List
		if want, diags = declaredBackend(d.root, nil); diags.HasErrors() {
			return want, diags
		}
	}
	have, ok, diags := d.recorded()
	switch {
	case diags.HasErrors():
		return want, diags
	case ok && (d.root == nil || have.holdsFor(want)):
		return have.backendConfig, nil // init may have completed it with -backend-config
	case ok:
		return want, initRequired("The configuration has another backend than this directory was initialized for, so the state may be elsewhere. " + moveOrLeave)
	case want.samePlace(backendConfig{}):
		return want, nil
	default:
		return want, initRequired(fmt.Sprintf("The configuration puts the state into %s, but this directory was not initialized for that. Run: mayfly init", want.place()))
	}
}

// selfInit initializes a directory for the backend of its configuration, which is loaded, unless init has
// done so or there is state that would be left behind.
func (d *directory) selfInit(ctx context.Context) diag.List {
	if d.root == nil {
		return nil
	}
	want, diags := declaredBackend(d.root, nil)
	if diags.HasErrors() || !want.declared {
		return diags
	}
	if _, ok, diags := d.recorded(); ok || diags.HasErrors() {
		return diags
	}
	if bare := (backendConfig{}); !want.samePlace(bare) {
		_, left, diags := statesIn(ctx, bare.store(stateFlags{}))
		if diags.HasErrors() {
			return diags
		}
		if len(left) > 0 {
			return initRequired(fmt.Sprintf("The configuration puts the state into %s, but there is state in %s, where it is kept without a backend block. %s", want.place(), bare.place(), moveOrLeave))
		}
	}
	if err := d.record(want, want); err != nil {
		return diag.Errorf("Cannot record the backend", "The file %s could not be written: %s.", d.recordPath(), diag.Reason(err))
	}
	return nil
}

const moveOrLeave = `Run "mayfly init -migrate-state" to copy the state to the new place, or "mayfly init -reconfigure" to leave it where it is.`

func initRequired(why string) diag.List {
	return diag.Errorf("Backend initialization required, please run \"mayfly init\"", "%s", why)
}

// coveredBy reports whether other has everything that b says, and perhaps more.
func (b backendConfig) coveredBy(other backendConfig) bool {
	return other.declared && (b.path == "" || b.path == other.path) && (b.workspaceDir == "" || b.workspaceDir == other.workspaceDir)
}

// samePlace reports whether two backends keep states in the same files.
func (b backendConfig) samePlace(other backendConfig) bool {
	return b.place() == other.place() && filepath.Clean(orElse(b.workspaceDir, local.DefaultWorkspaceDir)) == filepath.Clean(orElse(other.workspaceDir, local.DefaultWorkspaceDir))
}

// place returns the file of the default workspace.
func (b backendConfig) place() string { return filepath.Clean(orElse(b.path, local.DefaultPath)) }

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
