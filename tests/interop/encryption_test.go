package interop

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// keyProgram and methodProgram speak the protocols of external key providers and methods.
const (
	keyProgram = `#!/bin/sh
echo '{"magic":"OpenTofu-External-Key-Provider","version":1}'
if [ "$(cat)" = null ]; then
  echo '{"keys":{"encryption_key":"AQIDBAUGBwgJCgsMDQ4PEA=="},"meta":{"external_data":{"n":"1"}}}'
else
  echo '{"keys":{"encryption_key":"AQIDBAUGBwgJCgsMDQ4PEA==","decryption_key":"AQIDBAUGBwgJCgsMDQ4PEA=="},"meta":{"external_data":{"n":"1"}}}'
fi
`
	// The payload is in base64, and so stays valid with its case swapped.
	methodProgram = `#!/bin/sh
echo '{"magic":"OpenTofu-External-Encryption-Method","version":1}'
sed 's/.*"payload": *"\([^"]*\)".*/\1/' | tr 'a-zA-Z' 'A-Za-z' | sed 's/.*/{"payload":"&"}/'
`
)

// encrypted are ways to encrypt: what each puts into an encryption block for the method "m", whose type is
// that of the first word.
func encrypted(bao string) map[string]string {
	gcm := func(ref, more string) string {
		return "aes_gcm\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider." + ref + "\n" + more + "}\n"
	}
	return map[string]string{
		"pbkdf2 with arguments": gcm("pbkdf2.k", "  aad = [1, 255]\n") + "key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"correct horse battery\"\n  iterations = 200001\n" +
			"  hash_function = \"sha256\"\n  key_length = 24\n  salt_length = 9\n  encrypted_metadata_alias = \"alias\"\n}\n",
		"chain": gcm("pbkdf2.k", "") + "key_provider \"external\" \"x\" {\n  command = [\"sh\", \"../keys.sh\"]\n}\nkey_provider \"pbkdf2\" \"k\" {\n  chain = key_provider.external.x\n  iterations = 200000\n}\n",
		"external method": "external\nmethod \"external\" \"m\" {\n  encrypt_command = [\"sh\", \"../method.sh\"]\n  decrypt_command = [\"sh\", \"../method.sh\"]\n}\n" +
			"key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"correct horse battery\"\n}\n",
		"openbao": gcm("openbao.k", "") + "key_provider \"openbao\" \"k\" {\n  key_name = \"key\"\n  token = \"t\"\n  address = \"" + bao + "\"\n}\n",
	}
}

// transit answers like the transit engine of OpenBao, with the same key for all.
func transit(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	key := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]string{"plaintext": key, "ciphertext": "vault:v1:c"}})
}

// TestEncryption checks that each engine reads what the other has encrypted: states, also after the key was
// changed, states that data sources read, and saved plans, of which only the encryption is the same.
func TestEncryption(t *testing.T) {
	tofu(t)
	bao := httptest.NewServer(http.HandlerFunc(transit))
	defer bao.Close()
	for name, way := range encrypted(bao.URL) {
		kind, blocks, _ := strings.Cut(way, "\n")
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, first, second engine) { interchange(t, kind, blocks, first, second) })
		})
	}
}

func interchange(t *testing.T, kind, blocks string, first, second engine) {
	root := t.TempDir()
	dir, reader := filepath.Join(root, "project"), filepath.Join(root, "reader")
	method := "method." + kind + ".m"
	filetest.Lay(t, root, map[string]string{
		"keys.sh": keyProgram, "method.sh": methodProgram,
		"project/main.tf": "variable \"v\" {}\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\noutput \"o\" {\n  value = terraform_data.a.output\n}\n",
		"reader/main.tf":  "data \"terraform_remote_state\" \"r\" {\n  backend = \"local\"\n  config  = { path = \"../project/terraform.tfstate\" }\n}\noutput \"o\" {\n  value = data.terraform_remote_state.r.outputs.o\n}\n",
	})
	t.Setenv("TF_ENCRYPTION", blocks+"state {\n  method = "+method+"\n}\nplan {\n  method = "+method+"\n}\n")
	first.apply(t, dir, "-var=v=1")
	second.unchanged(t, dir, "-var=v=1")
	second.apply(t, dir, "-var=v=2")
	first.unchanged(t, dir, "-var=v=2")
	first.must(t, 0, dir, "plan", "-no-color", "-var=v=3", "-out=p")
	if out := second.must(t, 1, dir, "show", "-no-color", "p"); strings.Contains(out, "crypt") || !strings.Contains(out, "plan") {
		t.Errorf("%s does not decrypt a plan of %s:\n%s", second.name, first.name, out)
	}

	// The key changes: the second engine writes with the new one, which is all that the first knows then.
	changed := blocks + "key_provider \"pbkdf2\" \"new\" {\n  passphrase = \"another horse battery\"\n  iterations = 200000\n}\nmethod \"aes_gcm\" \"new\" {\n  keys = key_provider.pbkdf2.new\n}\n"
	t.Setenv("TF_ENCRYPTION", changed+"state {\n  method = method.aes_gcm.new\n  fallback {\n    method = "+method+"\n  }\n}\n")
	first.unchanged(t, dir, "-var=v=2")
	second.apply(t, dir, "-var=v=4")
	t.Setenv("TF_ENCRYPTION", changed+"state {\n  method = method.aes_gcm.new\n}\n")
	first.unchanged(t, dir, "-var=v=4")

	t.Setenv("TF_ENCRYPTION", changed+"remote_state_data_sources {\n  default {\n    method = "+method+"\n  }\n  remote_state_data_source \"r\" {\n    method = method.aes_gcm.new\n  }\n}\n")
	first.apply(t, reader)
	if out := first.must(t, 0, reader, "output", "-no-color"); !strings.Contains(out, fmt.Sprintf("%q", "4")) {
		t.Errorf("%s reads %s", first.name, out)
	}
}
