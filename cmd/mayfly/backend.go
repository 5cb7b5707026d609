package main

import (
	"maps"
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
		return diag.At(attr.NameRange, "Unsupported argument", "The backend \"local\" has no argument %q.%s It has \"path\" and \"workspace_dir\".", attr.Name, diag.DidYouMean(attr.Name, slices.Collect(maps.Keys(backendArguments))))
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
			return diag.Errorf("Invalid backend configuration argument", "An option -backend-config sets the argument %q, which the backend \"local\" does not have.%s It has \"path\" and \"workspace_dir\".",
				name, diag.DidYouMean(name, slices.Collect(maps.Keys(backendArguments))))
		}
		return nil
	}
	file, diags := config.LoadVarsFile(config.OSFS{Pipes: true}, text, backendArguments)
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
