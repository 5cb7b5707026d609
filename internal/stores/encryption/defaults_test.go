package encryption

import (
	"encoding/json"
	"testing"
)

// TestDefaultsOfPBKDF2 derives a key with as much work as a configuration gets that asks for none.
func TestDefaultsOfPBKDF2(t *testing.T) {
	c := must(t, "key_provider \"pbkdf2\" \"d\" {\n  passphrase = \"c4nary-passphrase-d\"\n}\nmethod \"aes_gcm\" \"d\" {\n  keys = key_provider.pbkdf2.d\n}\nstate {\n  method = method.aes_gcm.d\n}\n").State
	stored := sealed(t, c)
	opens(t, c, stored)
	var doc struct{ Meta map[string][]byte }
	if err := json.Unmarshal(stored, &doc); err != nil {
		t.Fatal(err)
	}
	var d derivation
	if err := json.Unmarshal(doc.Meta["key_provider.pbkdf2.d"], &d); err != nil || len(d.Salt) != 32 || d.Iterations != 600_000 || d.Hash != "sha512" || d.KeyLength != 32 {
		t.Errorf("derivation: got %+v, %v, want sha512, 600000 iterations, a salt and a key of 32 bytes", d, err)
	}
}
