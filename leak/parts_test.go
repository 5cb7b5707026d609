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
		"credentials of AWS": {
			"[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG\nregion = us-east-1\n",
			[]string{"wJalrXUtnFEMI/K7MDENG"},
		},
		"lines":             {"n3tw0rk key\n\tSummer2024!\nshort1\nplain words\nuser:pa$$w0rd-x\n12345678\n", []string{"n3tw0rk key", "Summer2024!", "user:pa$$w0rd-x", "pa$$w0rd-x", "12345678"}},
		"a key":             {"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nAQEFAASCBK==\n-----END PRIVATE KEY-----\n", []string{"MIIEvQIBADANBg", "AQEFAASCBK=="}},
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
		"JSON in lines": {"{\"t\": \"x7k2m9q4w1z8\"}\n{\"t\": \"z7k2m9q4w1z8\"}", []string{"x7k2m9q4w1z8", "z7k2m9q4w1z8"}},
	} {
		got := parts(test.text, true)
		for _, want := range test.parts {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q is missing in %q", name, want, got)
			}
		}
		for _, part := range got {
			if !slices.Contains(test.parts, part) && part != strings.TrimSpace(test.text) {
				t.Errorf("%s: %q is there", name, part)
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
				t.Errorf("%s is hidden", text)
			}
		}
		for line := range strings.Lines(key) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") && g.Redact("  | "+line) != "  | "+Withheld {
				t.Errorf("%s is shown", line)
			}
		}
		if out := g.Redact("private_key: " + jsonOf(key, true)); out != "private_key: "+Withheld && out != `private_key: `+Withheld+`\n` {
			t.Errorf("the key is shown: %s", out)
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
			t.Errorf("%s became %s", text, got)
		}
	}
}

// TestPartsOfOrdinary leaves the lines of what is not confidential as they are, unless they are long.
func TestPartsOfOrdinary(t *testing.T) {
	g := New()
	g.Remember(token, cty.StringVal("host: db17\nanother-line-17\na-longer-line-with-17-bytes\n"), cty.String)
	g.Remember(token, cty.StringVal("\tproduction\n"), cty.String)
	g.Remember(token, cty.StringVal("hunter2-17\n"), cty.String)
	for text, want := range map[string]string{
		"host: db17": "host: db17", "another-line-17": "another-line-17", "a-longer-line-with-17-bytes": Withheld, "production": "production", "hunter2-17": Withheld,
	} {
		if got := g.Redact(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
}
