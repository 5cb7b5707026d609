package builtin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

const testState = `{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l","resources":[],"outputs":{
	"a":{"value":{"x":[1,"y"]},"type":["object",{"x":["tuple",["number","string"]]}]},
	"n":{"value":null,"type":"dynamic"},
	"s":{"value":"s3cret","type":"string","sensitive":true}}}`

func remote(attrs attrs) cty.Value {
	all := map[string]cty.Value{"backend": str("local"), "config": null, "config_wo": null, "workspace": cty.NullVal(cty.String), "defaults": null, "outputs": null}
	for name, v := range attrs {
		all[name] = v
	}
	return cty.ObjectVal(all)
}

func writeState(t *testing.T, text string, elem ...string) {
	t.Helper()
	filetest.Write(t, filepath.Join(elem...), text)
}

func TestReadRemoteState(t *testing.T) {
	dir := t.TempDir()
	writeState(t, testState, dir, "terraform.tfstate")
	writeState(t, testState, dir, "other.tfstate")
	writeState(t, testState, dir, "terraform.tfstate.d", "w", "terraform.tfstate")
	writeState(t, testState, dir, "spaces", "w", "terraform.tfstate")
	writeState(t, "", dir, "empty.tfstate")
	writeState(t, `{"version":4,"s3cret`, dir, "cut.tfstate")
	writeState(t, `{"version":4,"s3cret`, dir, "s3cret.d", "cut")
	stored := attrs{"a": cty.ObjectVal(attrs{"x": cty.TupleVal([]cty.Value{cty.NumberIntVal(1), str("y")})}), "n": null, "s": str("s3cret")}
	withDefaults := attrs{"z": cty.True, "a": stored["a"], "n": stored["n"], "s": stored["s"]}
	path := func(p string) cty.Value { return cty.ObjectVal(attrs{"path": str(p)}) }
	tests := map[string]struct {
		config  attrs
		outputs attrs
		err     string
	}{
		"default":       {nil, stored, ""},
		"path":          {attrs{"config": path("other.tfstate")}, stored, ""},
		"absolute path": {attrs{"config": path(filepath.Join(dir, "other.tfstate")), "workspace": str("default")}, stored, ""},
		"write-only":    {attrs{"config": path("gone"), "config_wo": path("other.tfstate")}, stored, ""},
		"only hidden":   {attrs{"config_wo": path("other.tfstate")}, stored, ""},
		"no object too": {attrs{"config_wo": str("s3cret")}, nil, "must be an object"},
		"map":           {attrs{"config": cty.MapVal(attrs{"path": str("other.tfstate")})}, stored, ""},
		"null path":     {attrs{"config": cty.ObjectVal(attrs{"path": null})}, stored, ""},
		"workspace":     {attrs{"workspace": str("w"), "config": path("gone")}, stored, ""},
		"workspace_dir": {attrs{"workspace": str("w"), "config": cty.ObjectVal(attrs{"workspace_dir": str("spaces")})}, stored, ""},
		"defaults":      {attrs{"defaults": cty.ObjectVal(attrs{"z": cty.True, "a": cty.False})}, withDefaults, ""},
		"gone":          {attrs{"config": path("gone"), "defaults": cty.EmptyObjectVal}, nil, "No stored state was found"},
		"no workspace":  {attrs{"workspace": str("v")}, nil, "No stored state was found"},
		"escape":        {attrs{"workspace": str("../x")}, nil, "would lead out"},
		"no name":       {attrs{"workspace": str("")}, nil, "must not be empty"},
		"empty":         {attrs{"config": path("empty.tfstate")}, nil, "No stored state was found"},
		"cut off":       {attrs{"config": path("cut.tfstate")}, nil, "ends in the middle"},
		"directory":     {attrs{"config": path(".")}, nil, "is a directory"},
		"backend":       {attrs{"backend": str("s3")}, nil, `no backend type named "s3"`},
		"argument":      {attrs{"config": cty.ObjectVal(attrs{"key": str("s3cret")})}, nil, `unexpected attribute "key"`},
		"type":          {attrs{"config": cty.ObjectVal(attrs{"path": cty.EmptyTupleVal})}, nil, "argument path: a string is required"},
		"empty path":    {attrs{"config": path("")}, nil, "argument path: the value must not be empty"},
		"secret name":   {attrs{"config_wo": cty.ObjectVal(attrs{"s3cret": str("s3cret")})}, nil, "config_wo has an argument that this backend doesn't have"},
		"secret in map": {attrs{"config_wo": cty.MapVal(attrs{"s3cret": str("s3cret")})}, nil, "config_wo has an argument"},
		"secret type":   {attrs{"config_wo": cty.ObjectVal(attrs{"path": cty.ObjectVal(attrs{"s3cret": str("s3cret")})})}, nil, "argument path: a string is required"},
		"secret path":   {attrs{"config_wo": path("s3cret")}, nil, "No stored state was found"},
		"secret folder": {attrs{"config_wo": path("s3cret.d")}, nil, "is a directory"},
		"secret part":   {attrs{"config_wo": path("other.tfstate/s3cret")}, nil, "not a directory"},
		"secret end":    {attrs{"config_wo": path("s3cret\x00")}, nil, "invalid argument"},
		"secret state":  {attrs{"config_wo": path("s3cret.d/cut")}, nil, "ends in the middle"},
		"no object":     {attrs{"config": str("s3cret")}, nil, "an object is required"},
		"bad defaults":  {attrs{"defaults": str("s3cret")}, nil, "Defaults must be given in an object value."},
		"unknown":       {attrs{"config": unknown}, nil, "arguments are known"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config := remote(test.config)
			got, diags := New(Options{Dir: dir}).ReadData(t.Context(), provider.DataRequest{Type: remoteStateType, Config: config})
			if test.err != "" {
				if err := diags.Err(); err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cret") {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				return
			}
			if diags.HasErrors() {
				t.Fatal(diags.Err())
			}
			all := config.AsValueMap()
			all["outputs"], all["config_wo"] = cty.ObjectVal(test.outputs), null
			if want := cty.ObjectVal(all); !got.State.RawEquals(want) {
				t.Errorf("got %#v\nwant %#v", got.State, want)
			}
		})
	}
}

func TestValidateRemoteState(t *testing.T) {
	p := New(Options{})
	tests := map[string]struct {
		config attrs
		path   string
	}{
		"unknown backend":   {attrs{"backend": cty.UnknownVal(cty.String)}, ""},
		"unknown config":    {attrs{"config": unknown}, ""},
		"unknown path":      {attrs{"config": cty.ObjectVal(attrs{"path": unknown}), "workspace": cty.UnknownVal(cty.String), "defaults": unknown}, ""},
		"backend":           {attrs{"backend": str("nosuch")}, "backend"},
		"argument":          {attrs{"config": cty.ObjectVal(attrs{"x": unknown})}, "config"},
		"type of argument":  {attrs{"config": cty.ObjectVal(attrs{"path": cty.EmptyObjectVal})}, "config.path"},
		"secret argument":   {attrs{"config_wo": cty.ObjectVal(attrs{"x": unknown})}, "config_wo"},
		"secret type":       {attrs{"config_wo": cty.ObjectVal(attrs{"path": cty.EmptyObjectVal})}, "config_wo.path"},
		"defaults":          {attrs{"defaults": cty.EmptyTupleVal}, "defaults"},
		"workspace":         {attrs{"workspace": str("")}, "workspace"},
		"typed null config": {attrs{"config": cty.NullVal(cty.String)}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			diags := p.ValidateResource(t.Context(), addr.Data, remoteStateType, remote(test.config))
			got := ""
			for _, d := range diags {
				for i, step := range d.Path {
					if i > 0 {
						got += "."
					}
					got += step.(cty.GetAttrStep).Name
				}
			}
			if got != test.path || diags.HasErrors() != (test.path != "") {
				t.Errorf("diagnostics at %q, want %q: %v", got, test.path, diags)
			}
		})
	}
}

func TestInjectedBackends(t *testing.T) {
	var checked string
	p := New(Options{
		CheckBackend: func(backend string, _ cty.Value) error {
			checked = backend
			return nil
		},
		ReadState: func(ctx context.Context, from StateSource) (map[string]cty.Value, error) {
			switch from.Backend {
			case "wait":
				<-ctx.Done()
				return nil, ctx.Err()
			case "gone":
				return nil, fmt.Errorf("workspace: %w", ErrNoState)
			}
			return map[string]cty.Value{"o": str(from.Backend + from.Workspace).Mark("m")}, nil
		},
	})
	got, diags := p.ReadData(t.Context(), provider.DataRequest{Type: remoteStateType, Config: remote(attrs{"backend": str("s3")})})
	if diags.HasErrors() || !got.State.GetAttr("outputs").RawEquals(cty.ObjectVal(attrs{"o": str("s3default")})) || checked != "s3" {
		t.Errorf("got %#v, %v, checked %q, want the output \"s3default\", checked \"s3\"", got.State, diags, checked)
	}
	_, diags = p.ReadData(t.Context(), provider.DataRequest{Type: remoteStateType, Config: remote(attrs{"backend": str("gone")})})
	if !diags.HasErrors() || diags[0].Summary != "Unable to find remote state" {
		t.Errorf("backend that is gone: got %v, want: Unable to find remote state", diags)
	}
	done := make(chan error)
	go func() {
		_, diags := p.ReadData(context.Background(), provider.DataRequest{Type: remoteStateType, Config: remote(attrs{"backend": str("wait")})})
		done <- diags.Err()
	}()
	if err := errors.Join(p.Stop(t.Context()), p.Stop(t.Context())); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("a read survived Stop")
	}
}

func TestReadLocalHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadLocal(t.TempDir(), nil)(ctx, StateSource{Backend: "local", Config: null, Workspace: "default"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
