package cliconfig

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

const full = `
plugin_cache_dir   = "$HOME/cache"
disable_checkpoint = true
disable_checkpoint_signature = "true"
plugin_cache_may_break_dependency_lock_file = true

credentials "App.Example.com" {
  token = "s3cr3t"
}
credentials_helper "store" {
  args = ["--a", "b"]
}
host "example.com" {
  services = {
    "providers.v1" = "https://x.example.com/"
    "login.v1" = { client = "c", ports = [1, 2] }
  }
}
registry_protocols {
  retry_count = 3
  request_timeout_seconds = 20
}
oci_credentials "example.com/x" {
  username = "u"
  password = "pa55"
}
provider_installation {
  dev_overrides {
    "hashicorp/null" = "/dev/null-provider"
    "example.com/acme/cloud" = "./cloud"
  }
  filesystem_mirror {
    path    = "/mirror"
    include = ["example.com/*/*", "hashicorp/*"]
    exclude = ["hashicorp/dns"]
  }
  network_mirror {
    url = "https://user:pa55@mirror.example.com/p/?key=s3cr3t"
    download_retry_count = 5
  }
  oci_mirror {
    repository_template = "example.com/${namespace}/${type}"
    include = []
  }
  direct {}
}
`

func home(t *testing.T) Environment {
	dir := t.TempDir()
	return Environment{GOOS: "linux", Home: dir, Vars: map[string]string{"HOME": dir}}
}

func provider(t *testing.T, s string) addr.Provider {
	t.Helper()
	p, err := addr.ParseProvider(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParse(t *testing.T) {
	env := home(t)
	c, diags := Parse([]byte(full), "rc", env)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if c.PluginCacheDir != env.Home+"/cache" || !c.DisableCheckpoint || !c.DisableCheckpointSignature || !c.PluginCacheMayBreakLockFile ||
		c.Retries != 3 || c.TimeoutSeconds != 20 {
		t.Errorf("settings: got %+v, want all those of the file", c)
	}
	if got := c.Credentials["app.example.com"].Reveal(); got != "s3cr3t" {
		t.Errorf("token: got %q, want %q", got, "s3cr3t")
	}
	if h := c.CredentialsHelper; h.Name != "store" || !slices.Equal(h.Args, []string{"--a", "b"}) {
		t.Errorf("helper: got %+v, want store with the arguments --a and b", h)
	}
	services := map[string]any{"providers.v1": "https://x.example.com/", "login.v1": map[string]any{"client": "c", "ports": []any{1.0, 2.0}}}
	if diff := cmp.Diff(services, c.Hosts["example.com"].Services); diff != "" {
		t.Error(diff)
	}
	if o := c.OCI["example.com/x"]; o.Username.Reveal() != "u" || o.Password.Reveal() != "pa55" {
		t.Errorf("OCI: got %+v, want the user and the password of the file", o)
	}
	in := c.Installation
	overrides := map[addr.Provider]string{provider(t, "null"): "/dev/null-provider", provider(t, "example.com/acme/cloud"): "./cloud"}
	if diff := cmp.Diff(overrides, in.DevOverrides); diff != "" {
		t.Error(diff)
	}
	host := string(addr.DefaultHost)
	want := []Method{
		{Kind: FilesystemMirror, Path: "/mirror", Include: []Pattern{{"example.com", "*", "*"}, {host, "hashicorp", "*"}}, Exclude: []Pattern{{host, "hashicorp", "dns"}}},
		{Kind: NetworkMirror, Retries: 5},
		{Kind: OCIMirror, Include: []Pattern{}},
		{Kind: Direct},
	}
	if diff := cmp.Diff(want, in.Methods, cmpopts.IgnoreFields(Method{}, "Range", "URL", "RepositoryTemplate")); diff != "" {
		t.Error(diff)
	}
	if in.Methods[2].RepositoryTemplate == nil || in.Methods[1].Location() != "network mirror https://mirror.example.com/p/" {
		t.Errorf("methods: got %s, want %s", in.Methods[1].Location(), "network mirror https://mirror.example.com/p/")
	}
}

func TestParseJSON(t *testing.T) {
	c, diags := Parse([]byte(`{"credentials": {"a.example.com": {"token": "${x}"}},
		"provider_installation": {"dev_overrides": {"hashicorp/null": "/x"}, "direct": {"exclude": ["*/*"]}}}`), "credentials.tfrc.json", home(t))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if c.Credentials["a.example.com"].Reveal() != "${x}" || c.Installation.DevOverrides[provider(t, "null")] != "/x" || len(c.Installation.Methods) != 1 {
		t.Errorf("got %+v %+v, want the token as it is written, the override and one method", c, c.Installation)
	}
}

func TestSecretsHide(t *testing.T) {
	c, _ := Parse([]byte(full), "rc", home(t))
	b, err := json.Marshal(c.Credentials)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b) + fmt.Sprintf("%v %+v %#v %+v", *c, c.Credentials, c.Credentials, c.OCI)
	for _, m := range c.Installation.Methods {
		text += fmt.Sprintf("%v %+v %#v", m.URL, m.URL, m.URL) + m.Location()
	}
	for _, secret := range []string{"s3cr3t", "pa55"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

// TestSourceWithoutSecrets has mistakes in files with and without secrets: the former are shown without their
// values.
func TestSourceWithoutSecrets(t *testing.T) {
	for src, want := range map[string]string{
		"plugin_cache_dir = 1 2":                                                                    "plugin_cache_dir = 1 2",
		"plugin_cache_dir = f()\ncredentials \"a.b\" {\n}":                                          "***\ncredentials \"a.b\" {\n}",
		"plugin_cache_dir = [\"s3cr3t\"\ntoken = \"":                                                "plugin_cache_dir = [***\ntoken = *",
		"oci_credentials \"a.b/c\" {\r\n password = [\"x\"]\r\n}\r\n":                               "***\r\n password = [***\r\n}\r\n",
		"credentials \"a.b\" {\n token = s3cr3t\n}":                                                 "credentials \"a.b\" {\n***\n}",
		"credentials \"a.b\" {\n token \"s3cr3t\"\n}":                                               "credentials \"a.b\" {\n***\n}",
		"credentials \"a.b\" { token = [\"s3cr3t\"] }":                                              "credentials \"a.b\" {***",
		"credentials \"a.b\" {\n token = [<<E\nhunter {\nE\n]\n}":                                   "***\n***\n***\n*\n*\n*",
		"{\"credentials\": {\"a.b\": {\"token\": [\"s3cr3t\"]}}}":                                   "{\"credentials\": {***",
		"provider_installation {\n network_mirror {\n url = \"ftp://me:s3cr3t@example.com/\"\n}\n}": "provider_installation {\n network_mirror {\n url = ***\n}\n}",
		"provider_installation {\n network_mirror {\n url = \"ftp://example.com/\"\n}\n}":           "provider_installation {\n network_mirror {\n url = \"ftp://example.com/\"\n}\n}",
	} {
		_, diags := Parse([]byte(src), "rc", home(t))
		if len(diags) == 0 {
			t.Errorf("%s: no diagnostics", src)
		}
		for _, d := range diags {
			if len(d.Source) != len(src) {
				t.Errorf("%s: got positions in %q, want them in a text of the same length", src, d.Source)
			}
			if got := regexp.MustCompile(` +(\r?\n|$)`).ReplaceAllString(string(d.Source), "$1"); got != want {
				t.Errorf("%s: shown as\n%q, want\n%q", src, got, want)
			}
		}
	}
}

func TestParseProblems(t *testing.T) {
	install := func(s string) string { return "provider_installation {\n" + s + "\n}" }
	for name, tc := range map[string]struct{ src, want string }{
		"unknown method":       {install("http_mirror {\n}"), "rc:2,1-12: Unsupported block type"},
		"unknown method hint":  {install("http_mirror {\n}"), "filesystem_mirror, network_mirror, oci_mirror and direct"},
		"mirror without path":  {install("filesystem_mirror {\n}"), `rc:2,1-18: Invalid provider installation method: A filesystem_mirror block needs the argument "path"`},
		"empty path":           {install("filesystem_mirror {\n path=\"\"\n}"), "must not be empty"},
		"mirror without url":   {install("network_mirror {\n}"), `needs the argument "url"`},
		"insecure url":         {install("network_mirror {\n url=\"http://x/\"\n}"), "must be an absolute URL with the scheme https"},
		"argument of another":  {install("direct {\n path=\"x\"\n}"), "rc:3,2-6: Unsupported argument"},
		"pattern":              {install("direct {\n include=[\"*/random\"]\n}"), "after a *, all further parts must be *"},
		"pattern host":         {install("direct {\n include=[\"a b/*/*\"]\n}"), "is not a host name"},
		"pattern parts":        {install("direct {\n include=[\"a/b/c/d\"]\n}"), "HOST/NAMESPACE/TYPE"},
		"pattern type":         {install("direct {\n include=true\n}"), `The argument "include" must be a list of string`},
		"pattern null":         {install("direct {\n include=[null]\n}"), "must not be null"},
		"no template":          {install("oci_mirror {\n}"), "repository_template"},
		"template variable":    {install("oci_mirror {\n repository_template=\"x/${version}\"\n}"), "rc:3,27-34: Invalid repository template"},
		"template of hosts":    {install("oci_mirror {\n repository_template=\"x/${namespace}/${type}\"\n}"), "must contain ${hostname}"},
		"template of types":    {install("oci_mirror {\n repository_template=\"x\"\n include=[\"a.example.com/b/c\", \"a.example.com/b/d\"]\n}"), "must contain ${type}"},
		"override source":      {install("dev_overrides {\n \"a b\" = \"x\"\n}"), "is not a provider source address"},
		"override path":        {install("dev_overrides {\n \"a/b\" = 1\n}"), "must be the path"},
		"two installations":    {install("") + "\n" + install(""), "Duplicate provider_installation block"},
		"two helpers":          {"credentials_helper \"a\" {\n}\ncredentials_helper \"b\" {\n}", "Duplicate credentials helper"},
		"credentials host":     {"credentials \"a b\" {\n token=\"x\"\n}", "rc:1,13-18: Invalid host name"},
		"services":             {"host \"a.example.com\" {\n services=\"x\"\n}", "must be an object"},
		"boolean":              {"disable_checkpoint = \"maybe\"", `The argument "disable_checkpoint" must be a bool`},
		"number":               {"registry_protocols {\n retry_count = 1.5\n}", "whole number"},
		"reference":            {"plugin_cache_dir = x", "rc:1,20-21: Unsupported value: This file holds plain values"},
		"syntax":               {"plugin_cache_dir = ", "rc:1,20"},
		"endless number":       {"plugin_cache_dir = 1e99999999", "too large"},
		"computation":          {"plugin_cache_dir = f(1)", "Unsupported value"},
		"two OCI credentials":  {"oci_default_credentials {\n}\noci_default_credentials {\n}", "Duplicate OCI credentials"},
		"warn: unknown in it":  {"host \"a.example.com\" {\n note=1\n}", "It is ignored"},
		"warn: unknown in OCI": {"oci_credentials \"a.example.com\" {\n note=1\n}", "It is ignored"},
		"warn: unknown":        {"plugin_cach_dir = \"x\"", "Unknown setting in CLI configuration"},
		"warn: unknown block":  {"telemetry {\n}", "It is ignored"},
		"warn: legacy plugins": {"providers {\n a = \"x\"\n}", "Ignored block in CLI configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := Parse([]byte(tc.src), "rc", home(t))
			text := ""
			for _, d := range diags {
				text += d.String() + "\n"
			}
			if !strings.Contains(text, tc.want) {
				t.Errorf("got %s\nwant %s", text, tc.want)
			}
			if diags.HasErrors() == strings.HasPrefix(name, "warn") {
				t.Errorf("severity: %v", diags)
			}
		})
	}
}

func TestLoadFindsFiles(t *testing.T) {
	write := func(t *testing.T, path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		content := ""
		if strings.HasSuffix(path, ".json") {
			content = "{}"
		}
		filetest.Write(t, path, content)
	}
	for name, tc := range map[string]struct {
		goos  string
		files []string
		vars  map[string]string // values relative to the home directory
		want  []string
	}{
		"none":        {goos: "linux"},
		"tofurc":      {goos: "linux", files: []string{".terraformrc", ".tofurc"}, want: []string{".tofurc"}},
		"terraformrc": {goos: "darwin", files: []string{".terraformrc"}, want: []string{".terraformrc"}},
		"XDG":         {goos: "linux", files: []string{"cfg/opentofu/tofurc"}, vars: map[string]string{"XDG_CONFIG_HOME": "cfg"}, want: []string{"cfg/opentofu/tofurc"}},
		"XDG directory": {
			goos: "linux", files: []string{"cfg/opentofu/a.tfrc", "cfg/opentofu/credentials.tfrc.json"}, vars: map[string]string{"XDG_CONFIG_HOME": "cfg"},
			want: []string{"cfg/opentofu/a.tfrc", "cfg/opentofu/credentials.tfrc.json"},
		},
		"XDG directory beside the old one": {
			goos: "linux", files: []string{"cfg/opentofu/a.tfrc", ".terraform.d/b.tfrc"}, vars: map[string]string{"XDG_CONFIG_HOME": "cfg"}, want: []string{".terraform.d/b.tfrc"},
		},
		"XDG default": {goos: "linux", files: []string{".config/opentofu/tofurc", ".config/opentofu/a.tfrc"}},
		"home first":  {goos: "linux", files: []string{"cfg/opentofu/tofurc", ".terraformrc"}, vars: map[string]string{"XDG_CONFIG_HOME": "cfg"}, want: []string{".terraformrc"}},
		"directory": {
			goos: "linux", files: []string{".tofurc", ".terraform.d/b.tfrc", ".terraform.d/credentials.tfrc.json.txt", ".terraform.d/.x.tfrc"},
			want: []string{".tofurc", ".terraform.d/b.tfrc"},
		},
		"explicit":  {goos: "linux", files: []string{".tofurc", ".terraform.d/b.tfrc", "my.tfrc"}, vars: map[string]string{"TF_CLI_CONFIG_FILE": "my.tfrc"}, want: []string{"my.tfrc"}},
		"windows":   {goos: "windows", files: []string{"app/tofu.rc", "app/terraform.rc", ".tofurc"}, vars: map[string]string{"APPDATA": "app"}, want: []string{"app/tofu.rc"}},
		"windows 2": {goos: "windows", files: []string{"app/terraform.rc", "app/terraform.d/x.tfrc"}, vars: map[string]string{"APPDATA": "app"}, want: []string{"app/terraform.rc", "app/terraform.d/x.tfrc"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := home(t)
			env.GOOS = tc.goos
			for k, v := range tc.vars {
				env.Vars[k] = filepath.Join(env.Home, v)
			}
			for _, f := range tc.files {
				write(t, filepath.Join(env.Home, f))
			}
			c, diags := Load(env)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			var got []string
			for _, f := range c.Files {
				rel, err := filepath.Rel(env.Home, f)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, filepath.ToSlash(rel))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("read: got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestMissingExplicitFileIsAWarning(t *testing.T) {
	env := home(t)
	env.Vars["TF_CLI_CONFIG_FILE"] = filepath.Join(env.Home, "absent")
	c, diags := Load(env)
	if diags.HasErrors() || len(diags) != 1 || c.Installation != nil {
		t.Errorf("Load without the file: got %v, want one warning and no installation", diags)
	}
}

func TestEnvironmentOverrides(t *testing.T) {
	env := home(t)
	filetest.Write(t, filepath.Join(env.Home, ".tofurc"), full)
	env.Vars["TF_PLUGIN_CACHE_DIR"] = "/elsewhere"
	env.Vars["TF_TOKEN_app_example_com"] = "from-env"
	env.Vars["TF_TOKEN_my__host_example_com"] = "dash"
	c, diags := Load(env)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if c.PluginCacheDir != "/elsewhere" || c.Credentials["app.example.com"].Reveal() != "from-env" || c.Credentials["my-host.example.com"].Reveal() != "dash" {
		t.Errorf("got %q %q %q, want \"/elsewhere\" \"from-env\" \"dash\"", c.PluginCacheDir, c.Credentials["app.example.com"].Reveal(), c.Credentials["my-host.example.com"].Reveal())
	}
}

func TestImpliedMirrors(t *testing.T) {
	for goos, want := range map[string][]string{
		"linux": {
			"terraform.d/plugins", "/h/.terraform.d/plugins", "/xdg/opentofu/plugins", "/xdg/terraform/plugins",
			"/usr/local/share/opentofu/plugins", "/usr/local/share/terraform/plugins", "/usr/share/opentofu/plugins", "/usr/share/terraform/plugins",
		},
		"darwin":  {"terraform.d/plugins", "/h/.terraform.d/plugins", "/h/Library/Application Support/io.terraform/plugins", "/Library/Application Support/io.terraform/plugins"},
		"windows": {"terraform.d/plugins", "/app/terraform.d/plugins", "/app/HashiCorp/Terraform/plugins"},
	} {
		env := Environment{GOOS: goos, Home: "/h", Vars: map[string]string{"XDG_DATA_HOME": "/xdg", "APPDATA": "/app"}}
		if diff := cmp.Diff(want, env.ImpliedMirrors()); diff != "" {
			t.Errorf("%s: %s", goos, diff)
		}
	}
}

func TestAllows(t *testing.T) {
	parse := func(list ...string) (out []Pattern) {
		for _, s := range list {
			x, err := parsePattern(s)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
		return out
	}
	for _, tc := range []struct {
		include, exclude []string
		source           string
		want             bool
	}{
		{nil, nil, "example.com/a/b", true},
		{[]string{"*/*"}, nil, "hashicorp/random", true},
		{[]string{"*/*"}, nil, "example.com/a/b", false},
		{[]string{"*/*/*"}, []string{"Example.com/*/*"}, "example.com/a/b", false},
		{[]string{"hashicorp/*"}, []string{"hashicorp/dns"}, "hashicorp/dns", false},
		{[]string{"random"}, nil, "hashicorp/random", true},
		{nil, []string{"*/*"}, "example.com/a/b", true},
	} {
		m := Method{Include: parse(tc.include...), Exclude: parse(tc.exclude...)}
		if got := m.Allows(provider(t, tc.source)); got != tc.want {
			t.Errorf("include %v, exclude %v: %s: got %t, want %t", tc.include, tc.exclude, tc.source, got, tc.want)
		}
	}
	if (Method{Include: []Pattern{}}).Allows(provider(t, "hashicorp/random")) {
		t.Error("an empty include list must match nothing")
	}
}

func TestOverridesKeepPositions(t *testing.T) {
	src := "provider_installation {\n  dev_overrides {\n    \"a/b\" = 1\n  }\n}\n"
	_, diags := Parse([]byte(src), "rc", home(t))
	if len(diags) != 1 || diags[0].Subject.Start.Line != 2 {
		t.Fatalf("got %v, want one diagnostic, on line 2", diags)
	}
}

// TestSyntax has what people write in these files and a configuration does not allow, and mistakes with their
// places.
func TestSyntax(t *testing.T) {
	for name, tc := range map[string]struct {
		src, want string // want is a mistake, or "" if the file has a mirror at /m and a token for a.example.com
	}{
		"one line":        {`provider_installation { filesystem_mirror { path = "/m" } } credentials "a.example.com" { token = "x" }`, ""},
		"commas":          {`provider_installation { filesystem_mirror { path = "/m", include = ["a/b",], }, direct {} }, credentials "a.example.com" { token = "x", },`, ""},
		"no commas":       {"provider_installation { filesystem_mirror { path = \"/m\" include = [\"a/b\"] } direct {} }\ncredentials \"a.example.com\" { token =\n\"x\" }", ""},
		"brace below":     {"provider_installation\n{\nfilesystem_mirror\n{\npath\n=\n\"/m\"\n}\n}\ncredentials a.example.com { \"token\" = \"x\" }", ""},
		"label in block":  {`credentials { "a.example.com" { token = "x" } } "provider_installation" { "filesystem_mirror" { "path" = "/m" } }`, ""},
		"label in object": {`credentials = { a.example.com = { token = "x" } }, provider_installation { filesystem_mirror { path = "/m" } }`, ""},
		"services block":  {`host "b.example.com" { services { providers.v1 = "https://x/" "login.v1" { client = "c" } } } provider_installation { filesystem_mirror { path = "/m" } } credentials "a.example.com" { token = "x" }`, ""},
		"heredoc":         {"credentials \"a.example.com\" {\n token = <<EOT\nx\nEOT\n}\nprovider_installation { filesystem_mirror { path = \"/m\" } }", ""},
		"comments":        {"# a\nprovider_installation { /* b */ filesystem_mirror { path = \"/m\" // c\n} }\ncredentials \"a.example.com\" { token = \"x\" }", ""},

		"semicolon":      {"disable_checkpoint = true\nprovider_installation { direct { include = []; exclude = [] } }", "rc:2,46-47: Invalid CLI configuration"},
		"equals":         {"provider_installation = { direct {} }", "rc:1,23-24: Unexpected equals sign"},
		"method equals":  {"provider_installation {\n direct = {}\n}", "rc:2,9-10: Unexpected equals sign"},
		"labels, equals": {`credentials "a.example.com" = { token = "x" }`, "rc:1,29-30: Invalid CLI configuration"},
		"no value":       {"provider_installation {\n direct\n}", `rc:3,1-2: Invalid CLI configuration: After the name "direct", there must be`},
		"brace too many": {"credentials \"a.example.com\" { token = \"x\" }\n}", "rc:2,1-2: Invalid CLI configuration: There is one closing brace too many."},
		"unclosed":       {"credentials \"a.example.com\" { token = \"x\"\n", "rc:2,1-1: Unclosed block"},
		"twice":          {"disable_checkpoint = true\n  disable_checkpoint = true", "rc:2,3-21: Argument set twice"},
		"list":           {`credentials_helper "x" { args = ["a" "b"] }`, "rc:1,38-39: Invalid list"},
		"two commas":     {`credentials "a.example.com" {token = "x",,}`, "rc:1,42-43: Invalid CLI configuration"},
		"open string":    {`plugin_cache_dir = "x`, "Unclosed string"},
		"no label":       {`credentials "x"`, "Invalid CLI configuration"},
		"deep":           {strings.Repeat("a {", 60), "Nesting too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			c, diags := Parse([]byte(tc.src), "rc", home(t))
			if tc.want != "" {
				if len(diags) != 1 || !diags.HasErrors() || !strings.Contains(diags[0].String(), tc.want) {
					t.Errorf("got %v\nwant %s", diags, tc.want)
				}
				return
			}
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			if token := c.Credentials["a.example.com"].Reveal(); strings.TrimSpace(token) != "x" || c.Installation.Methods[0].Path != "/m" {
				t.Errorf("got the token %q and %+v, want \"x\" and the path /m", token, c.Installation)
			}
		})
	}
}

// TestTextIsNoTemplate shows that what would be a template elsewhere is text in these files.
func TestTextIsNoTemplate(t *testing.T) {
	env := home(t)
	c, diags := Parse([]byte(`plugin_cache_dir = "${HOME}/cache" credentials "a.example.com" { token = "a${b}\\c%{d}\"" }`), "rc", env)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if want := env.Home + "/cache"; c.PluginCacheDir != want {
		t.Errorf("cache: got %q, want %q", c.PluginCacheDir, want)
	}
	if got := c.Credentials["a.example.com"].Reveal(); got != `a${b}\c%{d}"` {
		t.Errorf("token: got %q, want %q", got, `a${b}\c%{d}"`)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"host": {"a": {"services": {"x": null}}}}`))
	f.Add([]byte(`credentials { a.b { token = "${x}" } }, host "h" { services { "login.v1" { ports = [1,] } } } x = <<E
1
E
`))
	f.Fuzz(func(t *testing.T, src []byte) {
		c, diags := Parse(src, "rc", Environment{GOOS: "linux", Vars: map[string]string{}})
		if c == nil {
			t.Fatal("no configuration")
		}
		for _, d := range diags {
			if d.Expression != nil || d.EvalContext != nil {
				t.Fatal("a diagnostic carries an expression, which may hold a token")
			}
			if d.Subject == (*hcl.Range)(nil) {
				t.Fatalf("no position: %s", d)
			}
		}
	})
}
