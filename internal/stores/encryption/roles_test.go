package encryption

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// TestAWSRole assumes a role for the requests about keys, and refuses an account that is not allowed.
func TestAWSRole(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		id, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
		asked = append(asked, strings.TrimSpace(r.Form.Get("Action")+" "+r.Form.Get("RoleArn")+" "+id))
		switch r.Form.Get("Action") {
		case "AssumeRole":
			fmt.Fprint(w, `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>AKIDROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey>`+
				`<SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
		case "GetCallerIdentity":
			fmt.Fprint(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`)
		default:
			fmt.Fprintf(w, `{"CiphertextBlob":"d3JhcHBlZA==","Plaintext":%q}`, base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")))
		}
	}))
	defer server.Close()
	provider := func(account string) string {
		return "key_provider \"aws_kms\" \"x\" {\nkms_key_id = \"k\"\nkey_spec = \"AES_256\"\nregion = \"eu-west-1\"\naccess_key = \"AKID\"\nsecret_key = \"c4nary\"\n" +
			"assume_role = { role_arn = \"arn:aws:iam::1:role/keys\", duration = \"15m\" }\nallowed_account_ids = [\"" + account + "\"]\n" +
			"endpoints {\nkms = \"" + server.URL + "\"\nsts = \"" + server.URL + "\"\n}\n}\n"
	}
	stored := sealed(t, must(t, gcmWith(provider("123456789012"), "aws_kms.x")).State)
	if want := "AssumeRole arn:aws:iam::1:role/keys AKID|GetCallerIdentity  AKIDROLE|AKIDROLE"; strings.Join(asked, "|") != want {
		t.Errorf("the services were asked %q, want %q", strings.Join(asked, "|"), want)
	}
	_, err := must(t, gcmWith(provider("999999999999"), "aws_kms.x")).State.Decrypt(stored)
	if err == nil || !strings.Contains(err.Error(), `"allowed_account_ids"`) || strings.Contains(err.Error(), "c4nary") {
		t.Errorf("another account: %v", err)
	}
	for from, to := range map[string]string{"endpoints {\nkms": "endpoints {\n}\nendpoints {\nkms", "endpoints {": "servers {"} {
		if _, diags := config.ParseEncryption([]byte(gcmWith(strings.Replace(provider("1"), from, to, 1), "aws_kms.x")), "test"); !diags.HasErrors() {
			t.Errorf("%s is accepted", to)
		}
	}
	for from, want := range map[string]string{"\"15m\"": "must be written like", "role_arn = \"arn:aws:iam::1:role/keys\",": "must be a"} {
		if _, diags := configure(t, gcmWith(strings.Replace(provider("1"), from, map[string]string{"\"15m\"": "\"soon\""}[from], 1), "aws_kms.x")); !strings.Contains(fmt.Sprint(diags), want) {
			t.Errorf("without %s: %v, want %q", from, diags, want)
		}
	}
}

// answers are bodies for the requests of a client.
type answers func(r *http.Request) string

// RoundTrip implements http.RoundTripper.
func (c answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c(r))), Request: r}, nil
}

// TestGCPImpersonation acts as another service account, which the argument or the environment names.
func TestGCPImpersonation(t *testing.T) {
	usual := services
	t.Cleanup(func() { services = usual })
	var asked []string
	services = func(http.RoundTripper) *http.Client {
		return &http.Client{Transport: answers(func(r *http.Request) string {
			asked = append(asked, r.URL.Host+r.URL.Path+" "+r.Header.Get("Authorization"))
			if strings.HasPrefix(r.URL.Host, "iamcredentials.") {
				return `{"accessToken": "other", "expireTime": "2100-01-01T00:00:00Z"}`
			}
			var in struct{ Plaintext []byte }
			_ = json.NewDecoder(r.Body).Decode(&in)
			out, _ := json.Marshal(map[string]any{"ciphertext": append([]byte("GW"), in.Plaintext...)})
			return string(out)
		})}
	}
	provider := "key_provider \"gcp_kms\" \"x\" {\n  kms_encryption_key = \"projects/p/locations/global/keyRings/r/cryptoKeys/k\"\n  key_length = 32\n  access_token = \"c4nary\"\n}\n"
	argument := strings.Replace(provider, "key_length", "impersonate_service_account = \"a@p\"\nkey_length", 1)
	for name, set := range map[string]*Set{
		"argument": must(t, gcmWith(argument, "gcp_kms.x")), "variable": must(t, gcmWith(provider, "gcp_kms.x"), "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT=a@p"),
	} {
		asked = nil
		sealed(t, set.State)
		if len(asked) != 2 || !strings.Contains(asked[0], "a@p:generateAccessToken Bearer c4nary") || !strings.HasSuffix(asked[1], " Bearer other") {
			t.Errorf("%s: got the requests %q, want one for the role, and one with its token", name, asked)
		}
	}
}
