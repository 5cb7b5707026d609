package backend_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/kinds"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

func body(t *testing.T, src string) hcl.Body {
	t.Helper()
	parse := func() (*hcl.File, hcl.Diagnostics) { return hclsyntax.ParseConfig([]byte(src), "t.tf", hcl.InitialPos) }
	if strings.HasPrefix(src, "{") {
		parse = func() (*hcl.File, hcl.Diagnostics) { return json.Parse([]byte(src), "t.tf.json") }
	}
	f, hd := parse()
	if hd.HasErrors() {
		t.Fatal(hd)
	}
	return f.Body
}

// TestDecode shows what blocks of all kinds mean, and what their mistakes are called.
func TestDecode(t *testing.T) {
	for _, c := range []struct{ kind, src, want string }{
		{"local", `path = "a"`, `path="a"`},
		{"local", `path = ""`, `Invalid backend configuration: The "path" attribute value must not be empty. Leave the argument out, or set it to null, for the usual place.`},
		{"local", `path = null`, ``},
		{"local", `workspace_dir = ""`, `Invalid backend configuration: The "workspace_dir" attribute value must not be empty. Leave the argument out, or set it to null, for the usual place.`},
		{"local", `pth = "a"`, `Unsupported argument: The backend "local" has no argument "pth". Did you mean "path"? It has "path" and "workspace_dir".`},
		{"local", `path = ["a"]`, `Invalid backend configuration: The argument "path" of the backend "local" must be a string.`},
		{"http", `headers = { a = 1 }`, `headers={"a":"1"}`},
		{"http", `retry_max = "3"`, `retry_max=3`},
		{"http", `address {}`, `Unsupported block type`},
		{"s3", `endpoints = { s3 = "x", other = 1 }`, `endpoints={"dynamodb":null,"iam":null,"s3":"x","sso":null,"sts":null}`},
		{"s3", `assume_role = { external_id = "x" }`, `Required: "role_arn".`},
		{"s3", `force_path_style = true`, `Argument is deprecated: Use "use_path_style" in its place. force_path_style=true`},
		{"kubernetes", "exec {\n  api_version = \"v1\"\n  command = \"c\"\n}", `exec=[{"api_version":"v1","args":null,"command":"c","env":null}]`},
		{"kubernetes", `{"exec": {"api_version": "v1", "command": "c"}}`, `exec=[{"api_version":"v1","args":null,"command":"c","env":null}]`},
		{"kubernetes", `exec {}`, `Missing required argument`},
		{"remote", "workspaces {\n  name = \"w\"\n}", `workspaces={"name":"w","prefix":null}`},
		{"remote", "workspaces {\n}\nworkspaces {\n}", `Duplicate workspaces block: The backend "remote" may have one block "workspaces". The other one is at t.tf:1.`},
		{"cloud", "workspaces {\n  tags = [\"a\"]\n}", `workspaces={"name":null,"project":null,"tags":["a"]}`},
		{"oss", "assume_role {\n  role_arn = \"r\"\n}", `assume_role=[{"policy":null,"role_arn":"r","session_expiration":null,"session_name":null}]`},
	} {
		k := kinds.All()[c.kind]
		values, diags := k.Decode(body(t, c.src))
		got := describe(diags)
		if !diags.HasErrors() {
			cfg := k.Object(values).AsValueMap()
			for _, name := range k.Block.Names() {
				if v := cfg[name]; !v.RawEquals(k.Block.Empty().GetAttr(name)) {
					got += name + "=" + text(t, v)
				}
			}
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\n%s\nwant %s", c.kind, c.src, got, c.want)
		}
	}
}

func describe(diags diag.List) string {
	out := ""
	for _, d := range diags {
		out += d.Summary + ": " + d.Detail + " "
	}
	return out
}

// text returns a value in JSON.
func text(t *testing.T, v cty.Value) string {
	t.Helper()
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSecrets keeps credentials, and what comes from secret values, out of what is recorded.
func TestSecrets(t *testing.T) {
	k := kinds.All()["http"]
	cfg := k.Object(map[string]cty.Value{
		"address": cty.StringVal("https://example.com"), "password": cty.StringVal("CANARY"),
		"username": cty.StringVal("CANARY").Mark(value.Ephemeral), "update_method": cty.StringVal("PUT").Mark(value.Deprecated{}),
	})
	if got := k.Secrets(cfg); !slices.Equal(got, []string{"password", "username"}) {
		t.Errorf("Secrets: got %q, want password and username", got)
	}
	public := k.Public(cfg)
	if s := fmt.Sprintf("%#v", public); strings.Contains(s, "CANARY") || !strings.Contains(s, "example.com") || !strings.Contains(s, "PUT") {
		t.Error(s)
	}
	k = kinds.All()["s3"]
	cfg = k.Object(map[string]cty.Value{})
	if got := k.Secrets(cfg); len(got) > 0 {
		t.Errorf("secrets of nothing: %q", got)
	}
	identity := k.Block.Attributes["assume_role_with_web_identity"].ValueType()
	attrs := map[string]cty.Value{}
	for name, ty := range identity.AttributeTypes() {
		attrs[name] = cty.NullVal(ty)
	}
	attrs["web_identity_token"] = cty.StringVal("CANARY")
	if got := k.Secrets(k.Object(map[string]cty.Value{"assume_role_with_web_identity": cty.ObjectVal(attrs)})); !slices.Equal(got, []string{"assume_role_with_web_identity"}) {
		t.Errorf("Secrets in an object: got %q, want assume_role_with_web_identity", got)
	}
}

// TestComplete takes values from the environment where the block has none, and names what is missing.
func TestComplete(t *testing.T) {
	environ := map[string]string{"TF_HTTP_ADDRESS": "https://env", "TF_HTTP_RETRY_MAX": "7", "KUBE_CONFIG_PATHS": "/a:/b", "ARM_USE_MSI": "1", "PG_SKIP_TABLE_CREATION": "CANARY"}
	lookup := func(name string) string { return environ[name] }
	complete := func(kind string, values map[string]cty.Value) (cty.Value, error) {
		k := kinds.All()[kind]
		return k.Complete(k.Object(values), lookup)
	}
	cfg, err := complete("http", map[string]cty.Value{"retry_max": cty.NumberIntVal(1)})
	if err != nil || text(t, cfg.GetAttr("address")) != `"https://env"` || text(t, cfg.GetAttr("retry_max")) != "1" {
		t.Errorf("http: got %#v, %v, want the address of the environment and retry_max of the block", cfg, err)
	}
	cfg, err = complete("kubernetes", map[string]cty.Value{"secret_suffix": cty.StringVal("s")})
	if err != nil || text(t, cfg.GetAttr("config_paths")) != `["/a","/b"]` {
		t.Errorf("kubernetes: got %#v, %v, want the paths /a and /b", cfg, err)
	}
	for kind, want := range map[string]string{
		"s3":      `the argument "bucket" of the backend "s3" is missing. Set it in the block, or with -backend-config="bucket=..."`,
		"azurerm": `the argument "container_name" of the backend "azurerm" is missing`,
		"pg":      `the environment variable PG_SKIP_TABLE_CREATION, which gives the argument "skip_table_creation" of the backend "pg", must be a bool`,
	} {
		if _, err := complete(kind, nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestOpenRefusals names the arguments that are wrong or missing, and has nothing of their values.
func TestOpenRefusals(t *testing.T) {
	refusals(t, "oss", []refusal{
		{map[string]string{"access_key": "CANARY"}, `"secret_key"`},
		{map[string]string{}, `"profile"`},
		{map[string]string{"profile": "CANARY", "shared_credentials_file": "nowhere"}, `"profile"`},
		{map[string]string{"access_key": "CANARY", "secret_key": "CANARY"}, `"region"`},
		{map[string]string{"access_key": "CANARY", "secret_key": "CANARY", "region": "r", "prefix": "/a"}, `"prefix"`},
		{map[string]string{"access_key": "CANARY", "secret_key": "CANARY", "region": "r", "key": "a/"}, `"key"`},
		{map[string]string{"access_key": "CANARY", "secret_key": "CANARY", "region": "r", "tablestore_table": "t"}, `"tablestore_endpoint"`},
		{map[string]string{"access_key": "CANARY", "secret_key": "CANARY", "region": "r", "assume_role_role_arn": "a", "assume_role_session_expiration": "-1"}, `"assume_role_session_expiration"`},
	})
	refusals(t, "cos", []refusal{
		{map[string]string{"secret_id": "CANARY"}, `"secret_key"`},
		{map[string]string{"secret_id": "CANARY", "secret_key": "CANARY"}, `"region"`},
		{map[string]string{"secret_id": "CANARY", "secret_key": "CANARY", "region": "r", "prefix": "./a"}, `"prefix"`},
		{map[string]string{"secret_id": "CANARY", "secret_key": "CANARY", "region": "r", "key": "/a"}, `"key"`},
		{map[string]string{"secret_id": "CANARY", "secret_key": "CANARY", "region": "r", "acl": "other"}, `"acl"`},
	})
	refusals(t, "consul", []refusal{{map[string]string{"address": "u:CANARY@localhost:8500"}, `"http_auth"`}})
	refusals(t, "pg", []refusal{{map[string]string{"conn_str": "host=h password=CANARY CANARY"}, "connection string is not valid"}})
	refusals(t, "azurerm", []refusal{
		{map[string]string{"access_key": "CANARY!"}, `"access_key"`},
		{map[string]string{"sas_token": "CANARY"}, `"sas_token"`},
		{map[string]string{"environment": "moon", "access_key": "a2V5"}, `"environment"`},
		{map[string]string{"access_key": "a2V5", "customer_provided_key": "CANARY"}, `"customer_provided_key"`},
		{map[string]string{"client_secret": "CANARY", "tenant_id": "t"}, `"client_id" with "client_secret"`},
		{map[string]string{"client_certificate": "CANARY!", "tenant_id": "t", "client_id": "c"}, `"client_certificate"`},
		{map[string]string{"client_certificate": "Q0FOQVJZ", "tenant_id": "t", "client_id": "c"}, `the certificate cannot be read`},
		{map[string]string{"client_secret_file_path": "nowhere"}, `"client_secret_file_path"`},
		{map[string]string{"use_oidc": "true", "oidc_request_url": "https://example.com"}, `"oidc_request_token"`},
		{map[string]string{"use_cli": "false"}, `there are no credentials: set "client_secret"`},
		{map[string]string{"client_secret": "CANARY", "tenant_id": "t", "client_id": "c"}, `"resource_group_name"`},
	})
}

// refusal is what a store is opened with, and what the error names.
type refusal struct {
	args map[string]string
	want string
}

func refusals(t *testing.T, kind string, all []refusal) {
	t.Helper()
	k := kinds.All()[kind]
	for _, c := range all {
		values := map[string]cty.Value{}
		for name, a := range k.Block.Attributes {
			if a.Required {
				values[name] = cty.StringVal("x")
			}
		}
		for name, text := range c.args {
			v, diags := k.SetText(name, text)
			if diags.HasErrors() {
				t.Fatal(describe(diags))
			}
			values[name] = v
		}
		want := c.want
		if !k.Usable() { // a build tag leaves its client out
			want = "cannot be used by this version"
		}
		_, err := k.Open(t.Context(), k.Object(values), backend.Env{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%v: got %v, want an error with %q", c.args, err, want)
		}
	}
}

// TestCredentialsInAddresses takes them out of what may be recorded, and returns them to be kept out of
// messages.
func TestCredentialsInAddresses(t *testing.T) {
	k := kinds.All()["http"]
	for address, want := range map[string]string{
		"https://example.com/state?ref=a":                                    "https://example.com/state?ref=a",
		"https://u:CANARY@example.com/state":                                 "https://example.com/state",
		"https://CANARY@example.com":                                         "https://example.com",
		"https://u:a@CANARY@example.com/@/":                                  "https://example.com/@/",
		"https://example.com/s?private_token=CANARY&a=b&sig=CANARY#fragment": "https://example.com/s?private_token=&a=b&sig=#fragment",
		"example.com:80/a@b":                                                 "example.com:80/a@b",
	} {
		cfg := k.Object(map[string]cty.Value{"address": cty.StringVal(address)})
		if got := k.Public(cfg).GetAttr("address").AsString(); got != want || k.IsSecret(cfg, "address") != (got != address) {
			t.Errorf("Public(%s): got %s, want %s, a secret if it differs", address, got, want)
		}
		if got := k.Credentials(cfg); (len(got) > 0) != strings.Contains(address, "CANARY") {
			t.Errorf("Credentials(%s): got %d, want some only with a password in it", address, len(got))
		}
	}
	cfg := k.Object(map[string]cty.Value{"address": cty.StringVal("https://u:CAN%41RY@h"), "password": cty.StringVal("other")})
	if got := k.Credentials(cfg); !slices.Contains(got, "CANARY") || !slices.Contains(got, "other") {
		t.Errorf("%d credentials, not the decoded ones", len(got))
	}
}

// TestPlaces refuses secrets in arguments that say where states are.
func TestPlaces(t *testing.T) {
	k := kinds.All()["local"]
	b := body(t, `path = "x"`)
	if _, diags := k.Decode(marked{b}); !strings.Contains(describe(diags), "Sensitive value not allowed") || strings.Contains(describe(diags), "CANARY") {
		t.Error(describe(diags))
	}
}

// marked is a body whose arguments are sensitive.
type marked struct{ hcl.Body }

func (m marked) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, hd := m.Body.Content(s)
	for _, attr := range content.Attributes {
		attr.Expr = hcl.StaticExpr(cty.StringVal("CANARY").Mark(value.Sensitive), attr.Expr.Range())
	}
	return content, hd
}

// TestTagsAreDocumented lists the build tags that leave a backend out: all files of its package have one, but
// for that with its arguments.
func TestTagsAreDocumented(t *testing.T) {
	files, err := filepath.Glob("../*/kind.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	doc, err := os.ReadFile("../../../docs/backends.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		tag := "mayfly_no_" + strings.Replace(filepath.Base(dir), "tfe", "remote", 1)
		if !strings.Contains(string(doc), "`"+tag+"`") {
			t.Errorf("docs/backends.md must list the build tag %s", tag)
		}
		others, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range others {
			src, err := os.ReadFile(other)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(src), "\n")
			first, _, _ = strings.Cut(first, " && ") // other constraints come after it
			if other != file && first != "//go:build !"+tag {
				t.Errorf("%s: got it without a constraint, want the build tag %s to leave it out", other, tag)
			}
		}
	}
}
