package workdir

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
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
)

// backendRecord is the file in which init remembers the backend, in the form that other engines use.
type backendRecord struct {
	Version int               `json:"version"`
	Backend *backendRecordFor `json:"backend,omitempty"`
	// StateStore is ours, in place of a backend.
	StateStore *backendRecordFor `json:"mayfly_state_store,omitempty"`
}

type backendRecordFor struct {
	Type   string          `json:"type"`
	Config json.RawMessage `json:"config"`
	Hash   uint64          `json:"hash"`
	// Sealed is ours; other engines ignore it.
	Sealed *sealedArguments `json:"mayfly_sealed,omitempty"`
	// Provider is the provider of a state store.
	Provider *recordedProvider `json:"provider,omitempty"`
}

type recordedProvider struct {
	Source  string `json:"source"`
	Version string `json:"version,omitempty"` // "" for a development build
}

func (f *files) recordPath() string { return filepath.Join(f.dataDir, "terraform.tfstate") }

// recordedLocation is the backend that a directory was initialized for.
type recordedLocation struct {
	location
	written uint64 // hash of the backend block, without the settings that init was given over it; 0 if unknown
	version string // of the provider of a state store; "" if it had none
}

// sameVersion reports whether the provider of a state store still has the version that a block has.
func (r recordedLocation) sameVersion(block location) bool {
	return block.kind.Provided == nil || block.kind.Provided.Version == r.version
}

// holdsFor reports whether the record is for a backend block, perhaps with more than the block says.
func (r recordedLocation) holdsFor(block location) bool {
	switch {
	case !block.declared() || !r.declared():
		return block.equal(r.location)
	case !backend.Same(block.kind, r.kind):
		return false
	case r.written == 0:
		return block.coveredBy(r.location)
	default:
		return r.written == block.hash() || r.written == block.fullHash() || block.equal(r.location)
	}
}

// recorded returns the backend that init recorded; ok is false if it recorded none.
func (ls *locations) recorded(ctx context.Context) (r recordedLocation, ok bool, diags diag.List) {
	r.location = ls.undeclared()
	rec, diags := ls.readRecord()
	if rec == nil || diags.HasErrors() {
		return r, false, diags
	}
	kind, diags := ls.recordedKind(ctx, rec)
	if diags.HasErrors() {
		return r, false, diags
	}
	values, err := decodeRecord(kind, rec.Config)
	if err != nil {
		return r, false, ls.damagedRecord(err)
	}
	r.location, r.written = locationOf(kind, values), rec.Hash
	r.sealed = rec.Sealed
	if rec.Provider != nil {
		r.version = rec.Provider.Version
	}
	return r, true, nil
}

// readRecord returns the content of the record; nil for none.
func (ls *locations) readRecord() (*backendRecordFor, diag.List) {
	src, err := safefile.Read(ls.files.recordPath(), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.Errorf("Cannot read the recorded backend",
			"The file %s, in which \"mayfly init\" records the backend, could not be read: %s. Correct this, or remove %s and run \"mayfly init\".", ls.files.recordPath(), diag.Reason(err), ls.files.dataDir)
	}
	var rec backendRecord
	if err := json.Unmarshal(src, &rec); err != nil {
		return nil, ls.damagedRecord(err)
	}
	if rec.StateStore != nil && rec.StateStore.Provider != nil {
		return rec.StateStore, nil
	}
	return rec.Backend, nil
}

// recordsStateStore reports whether the record is of a state store.
func (ls *locations) recordsStateStore() bool {
	rec, diags := ls.readRecord()
	return rec != nil && rec.Provider != nil && !diags.HasErrors()
}

// recordedKind returns the kind of a record. The provider of a state store must still be installed.
func (ls *locations) recordedKind(ctx context.Context, rec *backendRecordFor) (*backend.Kind, diag.List) {
	if rec.Provider != nil {
		source, err := addr.ParseProvider(rec.Provider.Source)
		if err != nil {
			return nil, ls.damagedRecord(err)
		}
		kind, diags := ls.stores.kind(ctx, stateStoreType{source, rec.Type})
		if diags.HasErrors() {
			diags = append(diags, diag.Errorf("The recorded state store cannot be used", "This directory was initialized for the state store %q of provider %s, which is needed to look for states there. Have its provider in required_providers until they are moved, or leave them where they are: mayfly init -reconfigure", rec.Type, source.ForDisplay())...)
		}
		return kind, diags
	}
	kind, ok := ls.kinds[rec.Type]
	if !ok || !kind.Usable() {
		return nil, diag.Errorf("Unsupported backend type", "This directory was initialized for the backend %q, which is not supported in this version of Mayfly. To use the backend of the configuration without moving the state, run: mayfly init -reconfigure", rec.Type)
	}
	return kind, nil
}

// marshalRecord encodes the arguments of a configuration one by one, so that decodeRecord finds their types.
func marshalRecord(kind *backend.Kind, public cty.Value) (json.RawMessage, error) {
	types, raw := kind.Block.Type().AttributeTypes(), map[string]json.RawMessage{}
	for name, v := range public.AsValueMap() {
		text, err := ctyjson.Marshal(v, types[name])
		if err != nil {
			return nil, err
		}
		raw[name] = text
	}
	return json.Marshal(raw)
}

// decodeRecord reads the arguments of a recorded configuration, without those that this version does not
// know.
func decodeRecord(kind *backend.Kind, cfg json.RawMessage) (map[string]cty.Value, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(cfg, &raw); err != nil {
		return nil, err
	}
	values := map[string]cty.Value{}
	for name, ty := range kind.Block.Type().AttributeTypes() {
		if raw[name] == nil {
			continue
		}
		v, err := jsonvalue.Unmarshal(raw[name], ty)
		if err != nil {
			return nil, err
		}
		values[name] = v
	}
	return values, nil
}

func (ls *locations) damagedRecord(err error) diag.List {
	return diag.Errorf("Cannot read the recorded backend",
		"The file %s, in which \"mayfly init\" records the backend, is damaged: %s. To record the backend again, run: mayfly init -reconfigure", ls.files.recordPath(), err)
}

// record remembers a location, and the block that it is for, for later runs. It has no secret in clear: they
// are encrypted. A configuration without a backend block removes the record.
func (ls *locations) record(l, block location) diag.List {
	if err := ls.writeRecord(l, block); err != nil {
		return diag.Errorf("Cannot record the backend", "The file %s could not be written: %s.", ls.files.recordPath(), diag.Reason(err))
	}
	return nil
}

// writeRecord writes the record of a location, or removes it for a configuration without a block. Secrets
// that the block does not give again are encrypted; those that it gives are left out.
func (ls *locations) writeRecord(l, block location) error {
	if !l.declared() {
		err := os.Remove(ls.files.recordPath())
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	public := l.public().cfg
	cfg, err := marshalRecord(l.kind, public)
	if err != nil {
		return err
	}
	sealed := l.sealed
	if needed := l.secretsBeyond(block); len(needed) > 0 || sealed == nil {
		if sealed, err = ls.seal(l, needed); err != nil {
			return fmt.Errorf("the credentials cannot be encrypted: %w", err)
		}
	}
	rec := backendRecord{Version: 3}
	if one := (&backendRecordFor{Type: l.kind.Name, Config: cfg, Hash: block.hash(), Sealed: sealed}); l.kind.Provided == nil {
		rec.Backend = one
	} else {
		one.Type, one.Provider = l.kind.Provided.Type, &recordedProvider{l.kind.Provided.Provider, l.kind.Provided.Version}
		rec.StateStore = one
	}
	out, err := json.MarshalIndent(rec, "", "    ")
	if err != nil {
		return err
	}
	out = append(out, '\n')
	if old, err := safefile.Read(ls.files.recordPath(), maxRecord); err == nil && bytes.Equal(old, out) {
		return nil
	}
	return ls.files.write(ls.files.recordPath(), out)
}

// write replaces a small file in the data directory. Only its owner may read it: the record of a backend has
// its settings.
func (f *files) write(path string, content []byte) error {
	if err := os.MkdirAll(f.dataDir, 0o755); err != nil {
		return err
	}
	return safefile.ReplacePrivate(path, content)
}
