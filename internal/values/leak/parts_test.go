package leak

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestParts says what of a confidential text is recognized alone, and what not.
func TestParts(t *testing.T) {
	const opensshLine = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"
	for name, test := range map[string]struct {
		text  string
		parts []string
	}{
		"one word":      {"hunter2-hunter2", nil},
		"spaces around": {"  hunter2-hunter2\n", []string{"hunter2-hunter2"}},
		"words":         {"\tcorrect horse\n", []string{"correct horse"}},
		"credentials of AWS": {
			"[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG\nregion = us-east-1\n",
			[]string{"wJalrXUtnFEMI/K7MDENG"},
		},
		"lines":             {"n3tw0rk key\n\tSummer2024!\nshort1\nplain words\nuser:pa$$w0rd-x\n12345678\n", []string{"n3tw0rk key", "Summer2024!", "user:pa$$w0rd-x", "pa$$w0rd-x", "12345678"}},
		"comments":          {"keys = production # x7k2m9q4w1z8\nhttps://example.com/x7k2m9q4w1z8\n", []string{"production # x7k2m9q4w1z8"}},
		"heads":             {"[default-17]\n# x7k2m9q4w1z8\nweb-17:\n", []string{"# x7k2m9q4w1z8"}},
		"lists":             {"[\"x7k2m9q4w1z8\"]\n[\"production\", \"z7k2m9q4w1z8\"]", []string{"x7k2m9q4w1z8", `["x7k2m9q4w1z8"]`, "z7k2m9q4w1z8", `["production", "z7k2m9q4w1z8"]`}},
		"a key":             {"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nAQEFAASCBK==\n-----END PRIVATE KEY-----\n", []string{"MIIEvQIBADANBg", "AQEFAASCBK=="}},
		"with headers":      {"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nComment: mayfly-17\n\nMIIEvQIBADANBg\n-----END RSA PRIVATE KEY-----\n", []string{"MIIEvQIBADANBg"}},
		"a certificate too": {"-----BEGIN CERTIFICATE-----\nMIIDazCCAlOgAwIBAgIU\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n", []string{"MIIEvQIBADANBg"}},
		"a key of OpenSSH":  {"-----BEGIN OPENSSH PRIVATE KEY-----\n" + opensshLine + "\nQyNTUxOQAAACD17key\n-----END OPENSSH PRIVATE KEY-----", []string{"QyNTUxOQAAACD17key"}},
		"Kubernetes": {
			"apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUQ=\n    server: https://10.0.0.1:6443\n  name: mayfly-17\n" +
				"users:\n- name: admin-17\n  user:\n    client-key-data: LS0tLS1CRUdJTiBSU0E=\n    token: \"correcthorse\" # of a robot\n",
			[]string{"LS0tLS1CRUdJTiBSU0E=", "correcthorse"},
		},
		"settings": {
			"export DB_PASSWORD='it''s hunter2'\nAPI_TOKEN=\"a\\\"bcdef17\"\n//registry.npmjs.org/:_authToken=npm_17abcdef\npassword hunter2hunter2\nhost=db1 user=me password=pg-hunter2\nlicense = x7k2m9q4w1z8 # new\n",
			[]string{"it's hunter2", "a\"bcdef17", "npm_17abcdef", "hunter2hunter2", "pg-hunter2", `a\"bcdef17`, "db1 user=me password=pg-hunter2", "x7k2m9q4w1z8", "x7k2m9q4w1z8 # new"},
		},
		"an address":    {"postgres://me:p%40ss-word-17@db.example.com/x?sslmode=require&sslpassword=hunter2-17", []string{"p%40ss-word-17", "p@ss-word-17", "hunter2-17"}},
		"a connection":  {"DefaultEndpointsProtocol=https;AccountName=mayfly17;AccountKey=Eby8vdM02xNOcqF==;EndpointSuffix=core.windows.net", []string{"Eby8vdM02xNOcqF=="}},
		"JSON, compact": {`{"password":"correcthorse","username":"mayfly-admin","engine":"postgres","host":"db.cluster-c9akciq32.us-east-1.rds.amazonaws.com","port":5432,"pin":"a1b2c3d4"}`, []string{"correcthorse", "a1b2c3d4"}},
		"JSON of RDS":   {`{"password":"correcthorse","dbInstanceIdentifier":"terraform-20260101120000000000000001","dbClusterIdentifier":"prod-a1b2c3d4","backup_bucket":"logs-9f8e7d6c5b4a"}`, []string{"correcthorse"}},
		"JSON of Azure": {`{"clientId":"0b9f1c5e-7b8f-4d7b-9f1c-5e7b8f4d7b9f","clientSecret":"abc8Q~hunter","subscription":"1b9f1c5e-7b8f-4d7b-9f1c-5e7b8f4d7b9f"}`, []string{"abc8Q~hunter"}},
		"JSON in JSON":  {`{"outer": "{\"keys\": [\"x7k2m9q4w1z8\", \"production\"], \"secrets\": [\"correcthorse\"]}"}`, []string{"correcthorse", "x7k2m9q4w1z8", `{"keys": ["x7k2m9q4w1z8", "production"], "secrets": ["correcthorse"]}`}},
		"JSON in text":  {`{"description": "{\"password\": \"correcthorse\"}", "comment": "x7k2m9q4w1z8"}`, []string{"correcthorse"}},
		"a list":        {`["x7k2m9q4w1z8", "production"]`, []string{"x7k2m9q4w1z8"}},
		"in quotes":     {`"x7k2m9q4w1z8"`, nil},
		"JSON in lines": {"{\"t\": \"x7k2m9q4w1z8\"}\n{\"t\": \"z7k2m9q4w1z8\"}", []string{"x7k2m9q4w1z8", "z7k2m9q4w1z8"}},
	} {
		got := parts(test.text, true)
		for _, want := range test.parts {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q is missing in %q", name, want, got)
			}
		}
		if n := len(slices.Compact(slices.Sorted(slices.Values(got)))); n != len(got) {
			t.Errorf("%s: of %d parts, %d are different, want %d", name, len(got), n, len(got))
		}
		for _, part := range got {
			if !slices.Contains(test.parts, part) && part != strings.TrimSpace(test.text) || part == test.text || !isSecret(part) {
				t.Errorf("%s: got the part %q, want only secret ones of %q", name, part, test.parts)
			}
		}
	}
}

// TestPartsOfServiceAccount protects the key in a usual document, and nothing that other messages have too.
func TestPartsOfServiceAccount(t *testing.T) {
	key := inPEM(randomText(rand.New(rand.NewPCG(1, 2)), 1700))
	public := map[string]string{
		"type": "service_account", "project_id": "mayfly-17", "private_key_id": "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "client_id": "109876543210987654321",
		"client_email": "mayfly@mayfly-17.iam.gserviceaccount.com", "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": "https://oauth2.googleapis.com/token",
		"client_x509_cert_url": "https://www.googleapis.com/robot/v1/metadata/x509/mayfly%40mayfly-17.iam.gserviceaccount.com", "universe_domain": "googleapis.com",
	}
	document := map[string]string{"private_key": key}
	for name, text := range public {
		document[name] = text
	}
	indented, err := json.MarshalIndent(document, "  ", "    ")
	if err != nil {
		t.Fatal(err)
	}
	compact, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{string(indented), string(compact), "key = <<EOT\n" + string(indented) + "\nEOT\n"} {
		g := guardOf(secret)
		for name, text := range public {
			if line := `  "` + name + `": "` + text + `",`; g.Redact(text) != text || g.Redact(line) != line {
				t.Errorf("%s: got it hidden, want it shown", text)
			}
		}
		for line := range strings.Lines(key) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") && g.Redact("  | "+line) != "  | "+Withheld {
				t.Errorf("%s: got it shown, want it hidden", line)
			}
		}
		if out := g.Redact("private_key: " + jsonOf(key, true)); out != "private_key: "+Withheld && out != `private_key: `+Withheld+`\n` {
			t.Errorf("key: got %s, want it hidden", out)
		}
	}
}

// TestPartsInTheOpen hides a credential even though something in it stands in the configuration.
func TestPartsInTheOpen(t *testing.T) {
	const secret = "{\"password\": \"hunter2-hunter2\", \"account\": \"a1b2c3d4e5f6\"}"
	g := guardOf(secret)
	defer g.Publish(slices.Values([][]byte{[]byte(`account = "a1b2c3d4e5f6"`)}))()
	for text, want := range map[string]string{
		secret: Withheld, "hunter2-hunter2": Withheld, "a1b2c3d4e5f6": "a1b2c3d4e5f6", jsonOf(secret, true): Withheld,
	} {
		if got := g.Redact(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestPartsOfOrdinary leaves the lines of what is not confidential as they are, unless they are long.
func TestPartsOfOrdinary(t *testing.T) {
	g := New()
	g.Remember(token, cty.StringVal("host: db17\nanother-line-17\na-longer-line-with-17-bytes\na longer line with 17 words\n"), cty.String)
	g.Remember(token, cty.StringVal("\tproduction\n"), cty.String)
	g.Remember(token, cty.StringVal("hunter2-17\n"), cty.String)
	g.Remember(token, cty.StringVal(`{"password":"correcthorse","token":"x7k2m9q4w1z8"}`), cty.String)
	for text, want := range map[string]string{
		"host: db17": "host: db17", "another-line-17": "another-line-17", "a-longer-line-with-17-bytes": Withheld, "production": "production", "hunter2-17": Withheld, "a longer line with 17 words": "a longer line with 17 words",
		"correcthorse": "correcthorse", "x7k2m9q4w1z8": Withheld,
	} {
		if got := g.Redact(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestNamed splits lines into a name and what stands for it.
func TestNamed(t *testing.T) {
	type split struct {
		name, v string
		ok      bool
	}
	for line, want := range map[string]split{
		"name = value":            {"name", "value", true},
		"name: value=17":          {"name", "value=17", true},
		"name=value: 17":          {"name", "value: 17", true},
		"name:\tvalue":            {"name", "value", true},
		`  "name":"value"`:        {"name", `"value"`, true},
		"'na.me-1_Z' => 'value'":  {"na.me-1_Z", "'value'", true},
		"export NAME=value":       {"NAME", "value", true},
		"//host/:_name=value":     {"_name", "value", true},
		"name:value":              {"", "", false},
		"password hunter2":        {"password", "hunter2", true},
		"password:hunter2":        {"password", "hunter2", true},
		"password is hunter2":     {"", "", false},
		"a line of words, no: 17": {"no", "17", true},
		"words":                   {"", "", false},
		"password":                {"", "", false},
		"line hunter2":            {"", "", false},
		"=value":                  {"", "value", false},
		"name=":                   {"name", "", false},
		"name===":                 {"name", "==", false},
		"c29tZSBCYXNlNjQ==":       {"c29tZSBCYXNlNjQ", "=", false},
	} {
		if name, v, ok := named(line); ok != want.ok || ok && (split{name, v, ok}) != want {
			t.Errorf("%s: %q, %q, got %t, want %v", line, name, v, ok, want)
		}
	}
}

// TestSpelledOut takes quotes and comments off a value.
func TestSpelledOut(t *testing.T) {
	for v, want := range map[string][]string{
		"value": {"value"}, "value # comment": {"value # comment", "value"}, "val#ue": {"val#ue"}, `"a\"b\u0041" # c`: {`a"bA`}, `"a\xb"`: {`a\xb`}, `'it''s'`: {"it's"}, `"it''s"`: {"it''s"}, `''`: {""},
	} {
		if got := spelledOut(v); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", v, got, want)
		}
	}
}

// TestCounts says what is secret by its name, or in spite of it.
func TestCounts(t *testing.T) {
	for _, row := range []struct {
		name, v string
		want    bool
	}{
		{"password", "correcthorse", true},
		{"Pass-Word", "correcthorse", true},
		{"secret_id", "a name", true},
		{"db.auth", "a name", true},
		{"password", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", false},
		{"password", "https://example.com/17", false},
		{"url", "https://me:hunter2-17@example.com", true},
		{"token_uri", "x7k2m9q4w1z8", false},
		{"public_key", "x7k2m9q4w1z8", false},
		{"Client-ID", "x7k2m9q4w1z8", false},
		{"expires at", "x7k2m9q4w1z8", false},
		{"keys", "x7k2m9q4w1z8", true},
		{"keys", "production", false},
		{"keys", "web-17", false},
		{"", "x7k2m9q4w1z8", true},
		{"passwordHost", "production", false},
		{"server", "correcthorse", false},
	} {
		if got := counts(row.name, row.v); got != row.want {
			t.Errorf("%s = %s: got %t, want %t", row.name, row.v, got, row.want)
		}
	}
}

// TestIdentifiers tells names from what may be secret.
func TestIdentifiers(t *testing.T) {
	for text, want := range map[string]bool{
		"production": true, "us-gov-west-1": true, "2026-01-01T00:00:00Z": true, "10.0.0.1:6443": true, "db.example.com": true, "me@example.com": true, "arn:aws:iam::123456789012:role/x": true,
		"ssh-rsa AAAAB3NzaC1yc2E": true, "0b9f1c5e-7b8f-4d7b-9f1c-5e7b8f4d7b9f": true, "projects/mayfly-17": true, "db17.example.com:5432": true, "logs1234": true, "logs12345": false, "logs-12345": true,
		"a1b-x2y-z3": true, "a1b2-c3d4": false, "123456789": true, "camelCaseName": true, "aBcDeFg-1": true, "aBcDeFgHi-1": false, "ABCDEFGHIJ-1": true, "AbCdEfGh-1": true, "lo9gs": false, "log9s_17": false,
		"https://example.com/x7k2m9q4w1z8": true, "https://me:x7k2m9q4w1z8@example.com": false, "x7k2m9q4w1z8": false, "eu-west-1a": true, "logs 12 34": true,
	} {
		if got := isIdentifier(text); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		"plain words": true, "ssh-rsa AAAAB3NzaC1yc2E": true, "2026-01-01": true, "us-east-1": true, "https://example.com/17": true, "https://me:hunter2-17@example.com/": false, "web-17": false,
		"https://example.com/?token=hunter2-17": false,
	} {
		if got := isPublic(text); got != want {
			t.Errorf("%s is public: got %t, want %t", text, got, want)
		}
	}
}

// TestCredentials finds the secret parts of addresses and settings.
func TestCredentials(t *testing.T) {
	for text, want := range map[string][]string{
		"https://me:hunter2-17@example.com":                     {"hunter2-17"},
		"https://me:p%40ss-word@example.com":                    {"p%40ss-word", "p@ss-word"},
		"https://me:short@example.com":                          nil,
		"https://me:%61%62%63%64-17@example.com":                {"%61%62%63%64-17"}, // which is too short
		"https://me:100%-hunter2@example.com":                   {"100%-hunter2"},
		"https://example.com/?name=hunter2-17&token=hunter3+17": {"hunter3+17", "hunter3 17"},
		"AccountName=mayfly17;AccountKey=hunter2==17;":          {"hunter2==17"},
		"password='hunter2-17', host=db1\tauth=hunter3-17":      {"hunter2-17", "hunter3-17"},
		"password: hunter2-17":                                  nil,
		"password":                                              nil,
	} {
		if got := credentials(text); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
