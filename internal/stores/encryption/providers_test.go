package encryption

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/mayfly-iac/mayfly/state/store"
)

// helperVariable makes the test program an external key provider or method.
const helperVariable = "MAYFLY_TEST_ENCRYPTION_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helperVariable) {
	case "":
		os.Exit(m.Run())
	case "keys":
		helperKeys()
	case "method":
		helperMethod()
	case "fail":
		fmt.Fprintln(os.Stderr, "no card in the reader")
		os.Exit(3)
	}
}

const helperKey = "AQIDBAUGBwgJCgsMDQ4PEA=="

func helperKeys() {
	fmt.Println(`{"magic":"OpenTofu-External-Key-Provider","version":1}`)
	in, _ := io.ReadAll(os.Stdin)
	if string(in) == "null" {
		fmt.Printf(`{"keys":{"encryption_key":%q},"meta":{"external_data":{"a":"1"}}}`, helperKey)
		return
	}
	if string(in) != `{"external_data":{"a":"1"}}` {
		os.Exit(4)
	}
	fmt.Printf(`{"keys":{"encryption_key":%q,"decryption_key":%q},"meta":{}}`, helperKey, helperKey)
}

// helperMethod flips bits, and requires the key of the helper if its argument says so.
func helperMethod() {
	fmt.Println(`{"magic":"OpenTofu-External-Encryption-Method","version":1}`)
	var p payload
	if json.NewDecoder(os.Stdin).Decode(&p) != nil || (len(os.Args) > 1 && os.Args[1] == "keyed") != (base64.StdEncoding.EncodeToString(p.Key) == helperKey) {
		os.Exit(4)
	}
	for i := range p.Payload {
		p.Payload[i] ^= 1
	}
	p.Key = nil
	_ = json.NewEncoder(os.Stdout).Encode(p)
}

func gcmWith(provider, ref string) string {
	return provider + "\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider." + ref + "\n}\nstate {\n  method = method.aes_gcm.m\n}\n"
}

func command1(args ...string) string {
	b, _ := json.Marshal(append([]string{os.Args[0]}, args...))
	return string(b)
}

func TestStaticAndXOR(t *testing.T) {
	static := func(name string, n int) string {
		return fmt.Sprintf("key_provider \"static\" %q {\n  key = %q\n}\n", name, strings.Repeat("c4", n))
	}
	c := must(t, gcmWith(static("k", 32), "static.k")).State
	stored := sealed(t, c)
	opens(t, c, stored)
	refuses(t, must(t, gcmWith(static("k", 16), "static.k")).State, stored, ErrWrongKey, "")
	both := static("k", 32) + "key_provider \"static\" \"l\" {\n  key = \"" + strings.Repeat("0f", 32) + "\"\n}\nkey_provider \"xor\" \"x\" {\n  a = key_provider.static.k\n  b = key_provider.static.l\n}\n"
	x := must(t, gcmWith(both, "xor.x")).State
	opens(t, x, sealed(t, x))
	refuses(t, c, sealed(t, x), ErrWrongKey, "")
	uneven := must(t, gcmWith(strings.Replace(both, "0f0f", "0f", 1), "xor.x")).State
	if _, err := uneven.Encrypt(nil); err == nil || !strings.Contains(err.Error(), "the same length") {
		t.Error(err)
	}
	short := must(t, gcmWith(static("k", 5), "static.k")).State
	if _, err := short.Encrypt(nil); err == nil || !strings.Contains(err.Error(), "16, 24 or 32 bytes") {
		t.Error(err)
	}
	if _, diags := configure(t, gcmWith("key_provider \"static\" \"k\" {\n  key = \"c4nary\"\n}", "static.k")); !diags.HasErrors() || strings.Contains(fmt.Sprint(diags), "c4nary") {
		t.Error(diags)
	}
}

func TestExternalKeys(t *testing.T) {
	provider := "key_provider \"external\" \"x\" {\n  command = " + command1() + "\n}\n"
	c := must(t, gcmWith(provider, "external.x"), helperVariable+"=keys").State
	opens(t, c, sealed(t, c))
	if _, err := store.Decode(golden(t, "external.tfstate"), c); err != nil {
		t.Errorf("a file of OpenTofu: %v", err)
	}
	chain := provider + "key_provider \"pbkdf2\" \"old\" {\n  chain = key_provider.external.x\n  iterations = 200000\n}\n"
	k := must(t, gcmWith(chain, "pbkdf2.old"), helperVariable+"=keys").State
	opens(t, k, sealed(t, k))
	if _, err := store.Decode(golden(t, "chain.tfstate"), k); err != nil {
		t.Errorf("a file of OpenTofu: %v", err)
	}
	for mode, want := range map[string]string{"fail": "no card in the reader", "method": "does not speak the protocol"} {
		if _, err := must(t, gcmWith(provider, "external.x"), helperVariable+"="+mode).State.Encrypt(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	_, err := must(t, gcmWith(strings.Replace(provider, command1(), `["/nowhere/at-all"]`, 1), "external.x")).State.Encrypt(nil)
	if err == nil || !strings.Contains(err.Error(), "/nowhere/at-all") {
		t.Error(err)
	}
}

func TestExternalMethod(t *testing.T) {
	method := func(args string) string {
		return "key_provider \"static\" \"k\" {\n  key = \"0102030405060708090a0b0c0d0e0f10\"\n}\nmethod \"external\" \"m\" {\n" + args + "\n}\nstate {\n  method = method.external.m\n}\n"
	}
	keyed := method("keys = key_provider.static.k\nencrypt_command = " + command1("keyed") + "\ndecrypt_command = " + command1("keyed"))
	c := must(t, keyed, helperVariable+"=method").State
	opens(t, c, sealed(t, c))
	bare := must(t, method("encrypt_command = "+command1("bare")+"\ndecrypt_command = "+command1("bare")), helperVariable+"=method").State
	opens(t, bare, sealed(t, bare))
	_, err := must(t, keyed, helperVariable+"=fail").State.Decrypt(sealed(t, c))
	if err == nil || errors.Is(err, ErrWrongKey) || !strings.Contains(err.Error(), "no card in the reader") {
		t.Error(err)
	}
}

func TestAge(t *testing.T) {
	first, err1 := age.GenerateX25519Identity()
	second, err2 := age.GenerateHybridIdentity()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	method := func(identity string, recipients ...any) string {
		list, _ := json.Marshal(recipients)
		if identity != "" {
			identity = fmt.Sprintf("  identity = %q\n", identity)
		}
		return "method \"age\" \"m\" {\n  recipients = " + string(list) + "\n" + identity + "}\nstate {\n  method = method.age.m\n}\n"
	}
	one := fmt.Sprint(first.Recipient())
	writer := must(t, method("", one)).State
	stored := sealed(t, writer)
	if _, err := writer.Decrypt(stored); err == nil || !strings.Contains(err.Error(), "recipients only") {
		t.Error(err)
	}
	opens(t, must(t, method("# a comment\n"+first.String(), one)).State, stored)
	refuses(t, must(t, method(second.String(), one)).State, stored, ErrWrongKey, "method.age.m")
	refuses(t, must(t, method(first.String(), one)).State, sealed(t, must(t, keyA+stateA).State), ErrWrongKey, "the key was from key_provider.pbkdf2.a")
	hybrid := must(t, method(second.String(), fmt.Sprint(second.Recipient()))).State
	opens(t, hybrid, sealed(t, hybrid))
	for _, bad := range []string{method("AGE-SECRET-KEY-c4nary", one), method("", "c4nary"), method("")} {
		if _, diags := configure(t, bad); !diags.HasErrors() || strings.Contains(fmt.Sprint(diags), "c4nary") {
			t.Errorf("%s: %v", bad, diags)
		}
	}
}

// transit is a server that speaks the protocol of the transit engine.
type transit struct {
	status   int
	words    string
	requests []string
}

func (s *transit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.requests = append(s.requests, r.Method+" "+r.URL.Path+" "+string(body)+" "+r.Header.Get("X-Vault-Namespace"))
	if r.Header.Get("X-Vault-Token") != "c4nary-token" {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"errors":["permission denied"]}`)
		return
	}
	if s.status != 0 {
		w.Header().Set("Location", "https://elsewhere.example/")
		w.WriteHeader(s.status)
		fmt.Fprint(w, s.words)
		return
	}
	key := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	fmt.Fprintf(w, `{"data":{"plaintext":%q,"ciphertext":"vault:v1:abcd"}}`, key)
}

func TestOpenBao(t *testing.T) {
	s := &transit{}
	server := httptest.NewServer(s)
	defer server.Close()
	provider := "key_provider \"openbao\" \"x\" {\n  key_name = \"test-key\"\n  transit_engine_path = \"/my/transit\"\n  associated_data = \"QUJD\"\n}\n"
	environ := []string{"BAO_ADDR=" + server.URL, "BAO_TOKEN=c4nary-token", "VAULT_NAMESPACE=ns"}
	c := must(t, gcmWith(provider, "openbao.x"), environ...).State
	stored := sealed(t, c)
	opens(t, c, stored)
	want := "POST /v1/my/transit/datakey/plaintext/test-key {\"associated_data\":\"QUJD\",\"bits\":256} ns|POST /v1/my/transit/decrypt/test-key {\"associated_data\":\"QUJD\",\"ciphertext\":\"vault:v1:abcd\"} ns"
	if got := strings.Join(s.requests, "|"); got != want {
		t.Errorf("requests: got %s, want %s", got, want)
	}
	e, err := readEnvelope(golden(t, "openbao.tfstate"))
	var w wrapped
	if err != nil || json.Unmarshal(e.Meta["key_provider.openbao.x"], &w) != nil || string(w.Ciphertext) != "vault:v1:abcd" {
		t.Errorf("metadata of OpenTofu: got %q, %v, want the ciphertext vault:v1:abcd", e.Meta, err)
	}
	for _, bad := range []struct {
		status      int
		words, want string
	}{
		{http.StatusServiceUnavailable, `{"errors":["Vault is sealed"]}`, "Vault is sealed. The server is sealed"},
		{http.StatusForbidden, `{"errors":["permission denied"]}`, "may have expired"},
		{http.StatusBadRequest, `{"errors":["cipher: message authentication failed"]}`, "authentication failed"},
		{http.StatusTemporaryRedirect, "", "to which the token is not sent"},
		{http.StatusOK, `hello`, "not what an OpenBao server gives"},
	} {
		s.status, s.words = bad.status, bad.words
		_, err := must(t, gcmWith(provider, "openbao.x"), environ...).State.Decrypt(stored)
		if err == nil || !strings.Contains(err.Error(), bad.want) || strings.Contains(err.Error(), "c4nary") || errors.Is(err, ErrWrongKey) {
			t.Errorf("%d: %v", bad.status, err)
		}
	}
	_, err = must(t, gcmWith(provider, "openbao.x"), environ[0]).State.Decrypt(stored)
	if err == nil || !strings.Contains(err.Error(), "No token is set") {
		t.Error(err)
	}
}

// TestAWSKMS uses a server that answers like the service. What it was asked is checked where the requests are
// made.
func TestAWSKMS(t *testing.T) {
	refuse := ""
	var contexts []string // of requests
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ EncryptionContext map[string]string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		contexts = append(contexts, fmt.Sprint(in.EncryptionContext))
		if refuse != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, refuse)
			return
		}
		fmt.Fprintf(w, `{"CiphertextBlob":"d3JhcHBlZA==","Plaintext":%q}`, base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")))
	}))
	defer server.Close()
	provider := "key_provider \"aws_kms\" \"x\" {\n  kms_key_id = \"k\"\n  key_spec = \"AES_256\"\n  region = \"eu-west-1\"\n  access_key = \"AKID\"\n  secret_key = \"c4nary\"\n" +
		"  skip_credentials_validation = true\n  endpoints = { kms = \"" + server.URL + "\" }\n}\n"
	c := must(t, gcmWith(provider, "aws_kms.x")).State
	stored := sealed(t, c)
	opens(t, must(t, gcmWith(provider, "aws_kms.x")).State, stored)
	contexts = nil
	of := strings.Replace(provider, "key_spec", "encryption_context = { stage = \"test\" }\n  key_spec", 1)
	stored = sealed(t, must(t, gcmWith(of, "aws_kms.x")).State)
	opens(t, must(t, gcmWith(of, "aws_kms.x")).State, stored)
	if len(contexts) != 2 || contexts[0] != "map[stage:test]" || contexts[1] != contexts[0] {
		t.Errorf("contexts of a new key and of unwrapping it: got %q, want map[stage:test] twice", contexts)
	}
	e, err := readEnvelope(golden(t, "aws_kms.tfstate"))
	var w wrappedByAWS
	if err != nil || json.Unmarshal(e.Meta["key_provider.aws_kms.x"], &w) != nil || string(w.Blob) != "WRAPPED" {
		t.Errorf("metadata of OpenTofu: got %q, %v, want the wrapped key WRAPPED", e.Meta, err)
	}
	refuse = `{"__type":"AccessDeniedException","message":"not allowed"}`
	_, err = must(t, gcmWith(provider, "aws_kms.x")).State.Decrypt(stored)
	if err == nil || !strings.Contains(err.Error(), "key_provider.aws_kms.x: ") || !strings.Contains(err.Error(), "not allowed") || strings.Contains(err.Error(), "c4nary") {
		t.Error(err)
	}
	for _, bad := range []struct{ from, to, want string }{
		{"secret_key = \"c4nary\"\n", "", "must be set together"},
		{"{ kms", "{ s3", `only "kms" and "sts" are used here`},
		{"\"AES_256\"", "\"\"", "must not be empty"},
	} {
		if _, diags := configure(t, gcmWith(strings.Replace(provider, bad.from, bad.to, 1), "aws_kms.x")); !diags.HasErrors() || !strings.Contains(fmt.Sprint(diags), bad.want) {
			t.Errorf("%v, want %q", diags, bad.want)
		}
	}
}

// elsewhere sends every request to a server of the test.
type elsewhere struct{ to string }

func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "cloudkms.googleapis.com" || r.URL.Scheme != "https" {
		return nil, fmt.Errorf("a request to %s", r.URL)
	}
	r.URL.Scheme, r.URL.Host = "http", e.to
	return http.DefaultTransport.RoundTrip(r)
}

// TestGCPKMS uses a server that wraps keys by putting two letters before them, as the one did with which
// OpenTofu wrote its file.
func TestGCPKMS(t *testing.T) {
	refuse := ""
	var authenticated []string // the additional data of requests
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Plaintext, Ciphertext, AdditionalAuthenticatedData []byte }
		_ = json.NewDecoder(r.Body).Decode(&in)
		authenticated = append(authenticated, string(in.AdditionalAuthenticatedData))
		name, operation, _ := strings.Cut(r.URL.Path, ":")
		switch {
		case r.Header.Get("Authorization") != "Bearer c4nary" || name != "/v1/projects/p/locations/global/keyRings/r/cryptoKeys/k":
			t.Errorf("%s %v", r.URL, r.Header)
		case refuse != "":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, refuse)
		case operation == "encrypt":
			_ = json.NewEncoder(w).Encode(map[string]any{"ciphertext": append([]byte("GW"), in.Plaintext...)})
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"plaintext": in.Ciphertext[2:]})
		}
	}))
	defer server.Close()
	services = func(http.RoundTripper) *http.Client {
		return &http.Client{Transport: elsewhere{strings.TrimPrefix(server.URL, "http://")}}
	}
	defer func() { services = func(http.RoundTripper) *http.Client { return still } }()
	provider := "key_provider \"gcp_kms\" \"x\" {\n  kms_encryption_key = \"projects/p/locations/global/keyRings/r/cryptoKeys/k\"\n  key_length = 32\n  access_token = \"c4nary\"\n}\n"
	c := must(t, gcmWith(provider, "gcp_kms.x")).State
	stored := sealed(t, c)
	opens(t, must(t, gcmWith(provider, "gcp_kms.x")).State, stored)
	authenticated = nil
	of := strings.Replace(provider, "key_length", "additional_authenticated_data = \"QUJD\"\n  key_length", 1)
	opens(t, must(t, gcmWith(of, "gcp_kms.x")).State, sealed(t, must(t, gcmWith(of, "gcp_kms.x")).State))
	if !slices.Equal(authenticated, []string{"ABC", "ABC"}) {
		t.Errorf("authenticated with a key: got %q, want ABC to encrypt and to decrypt", authenticated)
	}
	if _, err := store.Decode(golden(t, "gcp_kms.tfstate"), c); err != nil {
		t.Errorf("a file of OpenTofu: %v", err)
	}
	refuse = `{"error":{"code":403,"message":"Permission denied on resource","status":"PERMISSION_DENIED"}}`
	_, err := must(t, gcmWith(provider, "gcp_kms.x")).State.Decrypt(stored)
	if err == nil || !strings.Contains(err.Error(), "PERMISSION_DENIED: Permission denied") || strings.Contains(err.Error(), "c4nary") {
		t.Error(err)
	}
	for from, to := range map[string]string{"/cryptoKeys/k\"": "\"", "key_length = 32": "key_length = 0", "access_token": "credentials"} {
		if _, diags := configure(t, gcmWith(strings.Replace(provider, from, to, 1), "gcp_kms.x")); !diags.HasErrors() || strings.Contains(fmt.Sprint(diags), "c4nary") {
			t.Errorf("%s: %v", to, diags)
		}
	}
}

// TestAlteredDerivation reads files that ask for hours of work, and those that ask for less or more than the
// configuration does, as after a change of it.
func TestAlteredDerivation(t *testing.T) {
	for _, row := range []struct {
		iterations, length int // of the file
		configured         int
		ok                 bool
	}{
		{999_999_999, 32, minIterations, false},
		{minIterations * 40, maxKeyLength, minIterations, false},
		{1000, 32, minIterations, true},
		{minIterations + 1, 32, minIterations, true},
		{1000, maxKeyLength, maxIterations, true},
	} {
		p := &passphrase{text: []byte("c4nary-passphrase"), derivation: derivation{Iterations: row.configured, Hash: "sha512", KeyLength: 32}}
		meta := fmt.Sprintf(`{"salt":"AAAA","iterations":%d,"hash_function":"sha512","key_length":%d}`, row.iterations, row.length)
		key, err := p.decryption(t.Context(), nil, []byte(meta))
		if row.ok && (err != nil || len(key) != row.length) || !row.ok && (err == nil || !strings.Contains(err.Error(), fmt.Sprint(row.iterations))) {
			t.Errorf("%+v: got a key of %d bytes, %v, want one of this length, or an error with the iterations", row, len(key), err)
		}
	}
}
