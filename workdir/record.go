package workdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/safefile"
)

// backendRecord is the file in which init remembers the backend, in the form that other engines use.
type backendRecord struct {
	Version int               `json:"version"`
	Backend *backendRecordFor `json:"backend,omitempty"`
}

type backendRecordFor struct {
	Type   string          `json:"type"`
	Config json.RawMessage `json:"config"`
	Hash   uint64          `json:"hash"`
}

func (d *Dir) recordPath() string { return filepath.Join(d.dataDir, "terraform.tfstate") }

// recordedBackend is the backend that a directory was initialized for.
type recordedBackend struct {
	backend
	written uint64 // hash of the backend block, without the settings that init was given over it; 0 if unknown
}

// holdsFor reports whether the record is for a backend block, perhaps with more than the block says.
func (r recordedBackend) holdsFor(block backend) bool {
	switch {
	case !block.declared() || !r.declared():
		return block.equal(r.backend)
	case r.written == 0:
		return block.coveredBy(r.backend)
	default:
		return r.written == block.hash() || block.equal(r.backend)
	}
}

// recorded returns the backend that init recorded; ok is false if it recorded none.
func (d *Dir) recorded() (r recordedBackend, ok bool, diags diag.List) {
	r.backend = d.undeclaredBackend()
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
		return r, false, d.damagedRecord(err)
	}
	if rec.Backend == nil {
		return r, false, nil
	}
	kind, ok := d.kinds[rec.Backend.Type]
	if !ok {
		return r, false, diag.Errorf("Unsupported backend type", "This directory was initialized for the backend %q, which is not supported in this version of Mayfly. To use the backend of the configuration without moving the state, run: mayfly init -reconfigure", rec.Backend.Type)
	}
	values, err := kind.decode(rec.Backend.Config)
	if err != nil {
		return r, false, d.damagedRecord(err)
	}
	return recordedBackend{d.backendOf(rec.Backend.Type, values), rec.Backend.Hash}, true, nil
}

// decode reads the arguments of a recorded configuration. Those that this version does not know are left out.
func (k backendKind) decode(cfg json.RawMessage) (map[string]cty.Value, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(cfg, &raw); err != nil {
		return nil, err
	}
	values := map[string]cty.Value{}
	for name, ty := range k.arguments {
		if raw[name] == nil {
			continue
		}
		v, err := ctyjson.Unmarshal(raw[name], ty)
		if err != nil {
			return nil, err
		}
		values[name] = v
	}
	return values, nil
}

func (d *Dir) damagedRecord(err error) diag.List {
	return diag.Errorf("Cannot read the recorded backend",
		"The file %s, in which \"mayfly init\" records the backend, is damaged: %s. To record the backend again, run: mayfly init -reconfigure", d.recordPath(), err)
}

// record remembers a backend, and the block that it is for, for later runs. A configuration without a backend
// block removes the record.
func (d *Dir) record(b, block backend) diag.List {
	if err := d.writeRecord(b, block); err != nil {
		return diag.Errorf("Cannot record the backend", "The file %s could not be written: %s.", d.recordPath(), diag.Reason(err))
	}
	return nil
}

func (d *Dir) writeRecord(b, block backend) error {
	if !b.declared() {
		err := os.Remove(d.recordPath())
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	cfg, err := ctyjson.Marshal(b.cfg, b.cfg.Type())
	if err != nil {
		return err
	}
	out, err := json.MarshalIndent(backendRecord{Version: 3, Backend: &backendRecordFor{b.name, cfg, block.hash()}}, "", "    ")
	if err != nil {
		return err
	}
	out = append(out, '\n')
	if old, err := safefile.Read(d.recordPath(), maxRecord); err == nil && bytes.Equal(old, out) {
		return nil
	}
	return d.write(d.recordPath(), out)
}

// write replaces a small file in the data directory.
func (d *Dir) write(path string, content []byte) error {
	if err := os.MkdirAll(d.dataDir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
