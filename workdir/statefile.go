package workdir

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/state"
)

// Saved returns the content of a file that a person names: a saved plan, whose configuration d uses from then
// on as Plans.Open says, or else a state. The file is read once, since it may be a pipe.
func (d *Dir) Saved(ctx context.Context, path string) (*planfile.File, *state.File, diag.List) {
	src, diags := given(path)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	if isPlan(src) {
		saved, diags := d.Plans.use(ctx, src, path)
		return saved, nil, diags
	}
	file, diags := d.stateIn(ctx, src, path)
	return nil, file, diags
}

// SavedState returns the state in a file that a person names, nil if the file is empty.
func (d *Dir) SavedState(ctx context.Context, path string) (*state.File, diag.List) {
	src, diags := given(path)
	if diags.HasErrors() {
		return nil, diags
	}
	return d.stateIn(ctx, src, path)
}

func given(path string) ([]byte, diag.List) {
	src, err := safefile.ReadStream(path, maxSaved)
	if err != nil {
		return nil, diag.Errorf("Failed to read the given file", "The file %s could not be read: %s.", path, diag.Reason(err))
	}
	return src, nil
}

// stateIn decodes a state file that has been read.
func (d *Dir) stateIn(ctx context.Context, src []byte, path string) (*state.File, diag.List) {
	f, err := d.ReadStateFile(ctx, src)
	if err == nil {
		return f, nil
	}
	if what := notState(src); what != "" {
		return nil, diag.Errorf("Failed to read the given file",
			"The file %s is neither a saved plan nor a state%s. A saved plan is what \"mayfly plan -out=FILE\" writes, and a state a JSON document that has a format version, such as terraform.tfstate or what \"mayfly state pull\" writes.", path, what)
	}
	return nil, diag.Errorf("Failed to read the given file", "The file %s is not a saved plan, and cannot be read as a state: %s.", path, err)
}

// notState returns a clause that says why a file cannot be a state file, "" if it may be a damaged one.
func notState(src []byte) string {
	text := bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))
	if !bytes.HasPrefix(text, []byte("{")) {
		return ": it is not a JSON document"
	}
	var head map[string]json.RawMessage
	switch err := json.Unmarshal(text, &head); {
	case err != nil || head["version"] != nil || head["encrypted_data"] != nil:
		return ""
	case head["format_version"] != nil:
		return ", but a document that \"mayfly show -json\" writes for other programs"
	}
	return ": the JSON document in it has no format version"
}
