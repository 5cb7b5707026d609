package cliconfig

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

func TestOCIMethod(t *testing.T) {
	one, other := addr.DefaultProvider("random"), addr.DefaultProvider("null")
	for _, c := range []struct {
		template  string
		providers []addr.Provider
		want      string
	}{
		{"oci.example.com/{namespace}/{type}", []addr.Provider{one, other}, "oci.example.com/hashicorp/random"},
		{"oci.example.com/{hostname}-{type}/%{type}", []addr.Provider{one}, "error: is not a repository template"},
		{"oci.example.com:5000/x", []addr.Provider{one}, "oci.example.com:5000/x"},
		{"oci.example.com/{namespace}", []addr.Provider{one, other}, "error: must contain {type}"},
		{"oci.example.com/{+type}", nil, "error: has the expression {+type}"},
		{"oci.example.com/{}", nil, "error: has the expression {}"},
		{"oci.example.com/${type}", nil, "error: is not a repository template"},
		{"oci.example.com/{type", nil, "error: is not a repository template"},
		{"", nil, "error: is not a repository template"},
	} {
		m, err := OCIMethod(c.template, c.providers)
		if text, fails := strings.CutPrefix(c.want, "error: "); fails {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v", c.template, err)
			}
			continue
		}
		if err != nil || m.Kind != OCIMirror || m.Location() != "OCI mirror" {
			t.Errorf("%s: got %+v, %v, want an OCI mirror", c.template, m, err)
			continue
		}
		v, hd := m.RepositoryTemplate.Value(&hcl.EvalContext{Variables: map[string]cty.Value{
			"hostname": cty.StringVal("example.com"), "namespace": cty.StringVal(one.Namespace), "type": cty.StringVal("random"),
		}})
		if hd.HasErrors() || v.AsString() != c.want {
			t.Errorf("%s: got %#v, %v, want %q", c.template, v, hd, c.want)
		}
	}
}
