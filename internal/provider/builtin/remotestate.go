package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// Errors that ReadState and CheckBackend functions wrap.
var (
	// ErrNoState means that the backend stores no state for the workspace.
	ErrNoState = errors.New("no state is stored there")
	// ErrNoBackend means that the backend type does not exist.
	ErrNoBackend = errors.New("this program cannot read states from such a backend")
)

const defaultWorkspace = "default"

// validateRemoteState checks the arguments that are known. Unknown ones are checked when the state is read.
func (b *builtin) validateRemoteState(config cty.Value) diag.List {
	var diags diag.List
	backend, backendConfig := config.GetAttr("backend"), backendConfig(config)
	if backend.IsKnown() && !backend.IsNull() && b.o.CheckBackend != nil {
		if err := b.o.CheckBackend(backend.AsString(), backendConfig); err != nil {
			diags = append(diags, backendError(config, err)...)
		}
	}
	if d := config.GetAttr("defaults"); d.IsKnown() && !d.IsNull() && !isObject(d) {
		diags = append(diags, diag.Diagnostic{
			Summary: "Invalid default values", Detail: "Defaults must be given in an object value.", Path: cty.GetAttrPath("defaults"),
		})
	}
	if v := config.GetAttr("config_wo"); v.IsKnown() && !v.IsNull() && !isObject(v) {
		diags = append(diags, diag.Diagnostic{Summary: "Invalid backend configuration", Detail: "The configuration of the backend must be an object.", Path: cty.GetAttrPath("config_wo")})
	}
	if w := config.GetAttr("workspace"); w.IsKnown() && !w.IsNull() && w.AsString() == "" {
		diags = append(diags, diag.Diagnostic{
			Summary: "Invalid workspace name", Detail: "The name of a workspace must not be empty. Leave the argument out for the default workspace.",
			Path: cty.GetAttrPath("workspace"),
		})
	}
	return diags
}

// backendConfig returns the configuration of the backend: the argument config, overridden by config_wo.
func backendConfig(config cty.Value) cty.Value {
	stored, extra := config.GetAttr("config"), config.GetAttr("config_wo")
	if extra.IsNull() || stored.IsNull() {
		if extra.IsNull() {
			return stored
		}
		return extra
	}
	if !stored.IsKnown() || !extra.IsKnown() || !isObject(stored) || !isObject(extra) {
		return cty.DynamicVal
	}
	all := stored.AsValueMap()
	if all == nil {
		all = map[string]cty.Value{}
	}
	maps.Copy(all, extra.AsValueMap())
	return cty.ObjectVal(all)
}

// gives reports whether an argument of the data source is an object with an attribute of that name.
func gives(config cty.Value, argument, name string) bool {
	v := config.GetAttr(argument)
	if v.IsNull() || !v.IsKnown() || !isObject(v) {
		return false
	}
	_, ok := v.AsValueMap()[name]
	return ok
}

// isObject reports whether a value has named parts; it may be null or unknown.
func isObject(v cty.Value) bool { return v.Type().IsObjectType() || v.Type().IsMapType() }

// UnexpectedError says that the configuration of a backend has an argument which there is not. Its text does
// not have the argument's name, which comes from a value that may be secret.
type UnexpectedError struct{ Name string }

// Error implements error.
func (*UnexpectedError) Error() string { return "there is no argument of this name" }

// backendError turns an error of the injected functions into a diagnostic at the argument that it is about.
// Nothing in it is from config_wo but the names of arguments that the backend has.
func backendError(config cty.Value, err error) diag.List {
	backend := config.GetAttr("backend").AsString()
	d := diag.Diagnostic{Summary: "Invalid backend configuration", Path: cty.GetAttrPath("config")}
	var at cty.PathError
	var unexpected *UnexpectedError
	switch {
	case errors.As(err, &unexpected) && gives(config, "config_wo", unexpected.Name):
		d.Path = cty.GetAttrPath("config_wo")
		d.Detail = fmt.Sprintf("The given configuration is not valid for backend %q: config_wo has an argument that this backend doesn't have. Its name isn't shown, since it may come from a secret.", backend)
	case errors.As(err, &unexpected):
		d.Detail = fmt.Sprintf("The given configuration is not valid for backend %q: unexpected attribute %q.", backend, unexpected.Name)
	case errors.Is(err, ErrNoBackend):
		d.Path = cty.GetAttrPath("backend")
		d.Detail = fmt.Sprintf("There is no backend type named %q for terraform_remote_state: %s.", backend, err)
	case errors.As(err, &at):
		where := ""
		if len(at.Path) > 0 {
			if first, ok := at.Path[0].(cty.GetAttrStep); ok && gives(config, "config_wo", first.Name) {
				d.Path = cty.GetAttrPath("config_wo")
			}
			d.Path = append(d.Path, at.Path...)
			where = "argument " + schema.PathString(at.Path) + ": "
		}
		d.Detail = fmt.Sprintf("The given configuration is not valid for backend %q: %s%s.", backend, where, err)
	case errors.Is(err, ErrNoState):
		d.Summary, d.Path = "Unable to find remote state", nil
		d.Detail = "No stored state was found for the given workspace in the given backend. Check the backend's configuration and the workspace, and " +
			"whether the other configuration has been applied."
	default:
		d.Summary, d.Path = "Unable to read remote state", nil
		d.Detail = fmt.Sprintf("The state could not be read from backend %q: %s.", backend, strings.TrimSuffix(err.Error(), "."))
	}
	return diag.List{d}
}

// ReadData implements provider.Reader. Outputs of the state take precedence over defaults. Their sensitive
// marks are dropped, because values that cross this interface have none.
func (b *builtin) ReadData(ctx context.Context, req provider.DataRequest) (provider.DataResponse, diag.List) {
	block, diags := blockOf(addr.Data, req.Type)
	if diags.HasErrors() {
		return provider.DataResponse{}, diags
	}
	diags = checkObject(block, "configuration", req.Config)
	if diags.HasErrors() {
		return provider.DataResponse{}, diags
	}
	if req.Config.IsNull() || !req.Config.IsWhollyKnown() || req.Config.GetAttr("backend").IsNull() {
		return provider.DataResponse{}, diag.Errorf("Invalid request to provider", "A %s can only be read when its arguments are known and name a backend. "+
			"This is a bug in the program that uses the built-in provider: report it to its developers.", req.Type)
	}
	if diags = b.validateRemoteState(req.Config); diags.HasErrors() {
		return provider.DataResponse{}, diags
	}
	result := req.Config.AsValueMap()
	workspace := defaultWorkspace
	if w := result["workspace"]; !w.IsNull() {
		workspace = w.AsString()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.life, cancel)()
	backend := result["backend"].AsString()
	read, err := b.o.ReadState(ctx, StateSource{req.Instance, backend, backendConfig(req.Config), workspace})
	if err != nil {
		return provider.DataResponse{}, append(diags, backendError(req.Config, err)...)
	}
	outputs := map[string]cty.Value{}
	if d := result["defaults"]; !d.IsNull() {
		maps.Copy(outputs, d.AsValueMap())
	}
	for name, v := range read {
		outputs[name], _ = v.UnmarkDeep()
	}
	result["outputs"], result["config_wo"] = cty.ObjectVal(outputs), cty.NullVal(cty.DynamicPseudoType)
	return provider.DataResponse{State: cty.ObjectVal(result)}, diags
}

// CheckLocal is the CheckBackend of the local backend. It accepts only the type "local", with the arguments
// path and workspace_dir.
func CheckLocal(backendType string, config cty.Value) error {
	if backendType != "local" {
		return fmt.Errorf("%w. Use the backend \"local\", with a copy of the state in a file", ErrNoBackend)
	}
	_, err := localArgs(config)
	return err
}

// localArgs returns the arguments that are known and set.
func localArgs(config cty.Value) (map[string]string, error) {
	if config.IsNull() || !config.IsKnown() {
		return nil, nil
	}
	if !isObject(config) {
		return nil, cty.Path{}.NewErrorf("an object is required")
	}
	args := map[string]string{}
	values := config.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := cty.GetAttrPath(name)
		if name != "path" && name != "workspace_dir" {
			return nil, &UnexpectedError{name}
		}
		v, err := convert.Convert(values[name], cty.String)
		switch {
		case err != nil:
			return nil, path.NewErrorf("a string is required")
		case v.IsNull() || !v.IsKnown():
			continue
		case v.AsString() == "":
			return nil, path.NewErrorf("the value must not be empty")
		}
		args[name] = v.AsString()
	}
	return args, nil
}

// ReadLocal returns the ReadState of the local backend. Relative paths refer to dir, or to the process's
// working directory if dir is "". decrypt may be nil for unencrypted states only.
func ReadLocal(dir string, decrypt Decrypt) ReadState {
	return func(ctx context.Context, from StateSource) (map[string]cty.Value, error) {
		if err := CheckLocal(from.Backend, from.Config); err != nil {
			return nil, err
		}
		args, err := localArgs(from.Config)
		if err != nil {
			return nil, err
		}
		path, err := localPath(args, from.Workspace)
		if err != nil {
			return nil, err
		}
		if dir != "" && !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		stored, err := readFile(path)
		if err == nil && decrypt != nil && len(stored) > 0 {
			stored, err = decrypt(from.Instance, stored)
		}
		if err != nil {
			return nil, err
		}
		return outputs(stored)
	}
}

// localPath returns the path at which the local backend keeps the state of a workspace. The name of a
// workspace becomes part of a path, and so must not have separators or be a parent directory.
func localPath(args map[string]string, workspace string) (string, error) {
	if workspace == defaultWorkspace {
		if path := args["path"]; path != "" {
			return path, nil
		}
		return "terraform.tfstate", nil
	}
	if workspace == "" || workspace == "." || workspace == ".." || strings.ContainsAny(workspace, `/\:`) {
		return "", errors.New("the workspace's name would lead out of the directory of the workspaces")
	}
	root := cmp.Or(args["workspace_dir"], "terraform.tfstate.d")
	return filepath.Join(root, workspace, "terraform.tfstate"), nil
}

// maxState is the maximum size of state files that are read, in bytes.
const maxState = 2 << 30

// readFile reads a state file. Its errors omit the path, which may be secret.
func readFile(path string) ([]byte, error) {
	src, err := safefile.Read(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoState
	}
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, perr.Err
	}
	return src, err
}

// outputs decodes the outputs in a state file. Sensitive outputs keep their marks.
func outputs(src []byte) (map[string]cty.Value, error) {
	stored, err := state.ReadOutputs(src)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, ErrNoState
	}
	return Outputs(stored)
}

// Outputs returns the values of outputs in a state.
func Outputs(stored map[string]*state.Output) (map[string]cty.Value, error) {
	outputs := make(map[string]cty.Value, len(stored))
	for name, o := range stored {
		v, err := o.Value.Live()
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		if v == cty.NilVal {
			v = cty.NullVal(cty.DynamicPseudoType)
		}
		outputs[name] = v
	}
	return outputs, nil
}
