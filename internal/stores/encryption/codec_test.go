package encryption

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

func TestRoundTrip(t *testing.T) {
	c := must(t, keyA+stateA).State
	stored := sealed(t, c)
	opens(t, c, stored)
	opens(t, must(t, keyA+stateA).State, stored)
	var doc struct {
		Serial  uint64
		Lineage string
		Meta    map[string][]byte
	}
	if err := json.Unmarshal(stored, &doc); err != nil || doc.Serial != 7 || doc.Lineage != "l" {
		t.Errorf("got %+v, %v, want serial 7 of lineage l", doc, err)
	}
	var d derivation
	if err := json.Unmarshal(doc.Meta["key_provider.pbkdf2.a"], &d); err != nil || len(d.Salt) != 32 || d.Iterations != 200_000 || d.Hash != "sha256" || d.KeyLength != 32 {
		t.Errorf("derivation: got %+v, %v, want sha256, 200000 iterations, a salt and a key of 32 bytes", d, err)
	}
	// The key is derived once, and each file has a nonce of its own.
	again := sealed(t, c)
	first, err1 := readEnvelope(stored)
	second, err2 := readEnvelope(again)
	if err1 != nil || err2 != nil || !bytes.Equal(first.Meta["key_provider.pbkdf2.a"], second.Meta["key_provider.pbkdf2.a"]) || bytes.Equal(first.Data[:12], second.Data[:12]) {
		t.Errorf("two files: got %v, %v and metadata %q, %q, want the same metadata, and other nonces", err1, err2, first.Meta, second.Meta)
	}
}

func TestThreeErrors(t *testing.T) {
	a := must(t, keyA+keyB+stateA).State
	stored := sealed(t, a)
	b := must(t, keyB+"state {\n  method = method.aes_gcm.b\n}\n").State
	refuses(t, b, stored, ErrWrongKey, "the key was from key_provider.pbkdf2.a")
	other := must(t, strings.ReplaceAll(keyA, "passphrase-a", "passphrase-x")+stateA).State
	refuses(t, other, stored, ErrWrongKey, "method.aes_gcm.a")
	if _, _, err := other.DecryptState(stored); strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}

	at := bytes.Index(stored, []byte(`"encrypted_data": "`)) + 40
	altered := bytes.Clone(stored)
	if altered[at] = 'A'; stored[at] == 'A' { // which is base64 as well
		altered[at] = 'B'
	}
	refuses(t, a, altered, ErrDamaged, "checksum")
	refuses(t, a, stored[:at+20], ErrDamaged, "cut off")
	refuses(t, a, bytes.Replace(stored, []byte(`"v0"`), []byte(`"v7"`), 1), ErrDamaged, `not "v0"`)
	refuses(t, a, bytes.Replace(stored, []byte(`"encrypted_data": "`), []byte(`"encrypted_data": "!`), 1), ErrDamaged, "altered")

	refuses(t, a, []byte(content), ErrUnencrypted, "fallback { method = method.unencrypted.NAME }")
	if _, err := state.Read(stored); !errors.Is(err, state.ErrEncrypted) {
		t.Errorf("without configuration: %v", err)
	}
	if _, err := store.Decode(bytes.Replace(stored, []byte(`"serial": 7`), []byte(`"serial": 8`), 1), a); err == nil || !strings.Contains(err.Error(), "altered") {
		t.Errorf("altered serial: %v", err)
	}
}

func TestFallback(t *testing.T) {
	old := sealed(t, must(t, keyA+stateA).State)
	c := must(t, keyA+keyB+plain+"state {\n  method = method.aes_gcm.b\n  fallback {\n    method = method.aes_gcm.a\n    fallback {\n      method = method.unencrypted.u\n    }\n  }\n}\n").State
	opens(t, c, old)
	opens(t, c, []byte(content))
	opens(t, must(t, keyB+"state {\n  method = method.aes_gcm.b\n}\n").State, sealed(t, c))

	back := must(t, keyA+plain+"state {\n  method = method.unencrypted.u\n  fallback {\n    method = method.aes_gcm.a\n  }\n}\n").State
	opens(t, back, old)
	if got, err := back.EncryptState([]byte(content), meta); err != nil || string(got) != content {
		t.Errorf("EncryptState: got %q, %v, want it in clear: %q", got, err, content)
	}
	none := must(t, plain+"state {\n  method = method.unencrypted.u\n}\n").State
	refuses(t, none, old, ErrWrongKey, "as a fallback")
}

// A data source may read plans' and states' forms by the same rules, and a state may quote the name of the
// member that an encrypted file has.
func TestWhatIsEncrypted(t *testing.T) {
	c := must(t, keyA+stateA).State
	plan, err := c.Encrypt([]byte("PK\x03\x04"))
	if err != nil {
		t.Fatal(err)
	}
	quoting := `{"version":4,"terraform_version":"1","outputs":{"o":{"value":{"encrypted_data":"x","encryption_version":"v0"}}}}`
	tests := map[string]struct {
		stored          string
		sealed, isState bool
	}{
		"state":         {string(sealed(t, c)), true, true},
		"plan":          {string(plan), true, false},
		"theirs":        {string(golden(t, "pbkdf2.tfstate")), true, true},
		"their plan":    {string(golden(t, "pbkdf2.tfplan")), true, false},
		"plain":         {content, false, true},
		"empty":         {"", false, false},
		"quoting":       {quoting, false, false},
		"quoting, torn": {quoting[:len(quoting)-1], false, false},
		"torn":          {string(plan[:len(plan)-90]), true, false},
		"alias":         {`{"meta":{"encrypted_data":"e30="},"encrypted_data":"AAAA","encryption_version":"v0","lineage":"l","serial":1}`, true, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if Is([]byte(test.stored)) != test.sealed || IsState([]byte(test.stored)) != test.isState {
				t.Errorf("%t %t, want %t %t", Is([]byte(test.stored)), IsState([]byte(test.stored)), test.sealed, test.isState)
			}
		})
	}
	e, err := readEnvelope([]byte(tests["alias"].stored))
	if err != nil || len(e.Data) != 3 || string(e.Meta["encrypted_data"]) != "{}" {
		t.Errorf("readEnvelope: got %+v, %v, want 3 bytes, and empty metadata", e, err)
	}
}

func TestJournalFrames(t *testing.T) {
	c := must(t, keyA+stateA).State
	frame, err := c.Seal([]byte("c4nary record"))
	if err != nil || bytes.Contains(frame, []byte("c4nary")) {
		t.Fatalf("%q, %v", frame, err)
	}
	got, err := must(t, keyA+stateA).State.Unseal(frame)
	if err != nil || string(got) != "c4nary record" {
		t.Errorf("Unseal: got %q, %v, want \"c4nary record\"", got, err)
	}
	for n := range len(frame) {
		if _, err := c.Unseal(frame[:n]); err == nil {
			t.Errorf("%d bytes of a frame are accepted", n)
		}
	}
	if err := c.CheckPlain(); !errors.Is(err, ErrUnencrypted) {
		t.Error(err)
	}
	open := must(t, plain+"state {\n  method = method.unencrypted.u\n}\n").State
	if frame, err := open.Seal([]byte("x")); frame != nil || err != nil || open.CheckPlain() != nil {
		t.Errorf("%q, %v", frame, err)
	}
}

// The files were written by OpenTofu 1.12.6.
func TestFilesOfOpenTofu(t *testing.T) {
	pbkdf2 := "key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"correct horse battery\"\n}\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.k\n}\nstate {\n  method = method.aes_gcm.m\n}\n"
	aad := "key_provider \"pbkdf2\" \"renamed\" {\n  passphrase = \"short12123123123123123\"\n  encrypted_metadata_alias = \"ali\"\n}\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.renamed\n  aad = [65, 66]\n}\nstate {\n  method = method.aes_gcm.m\n}\n"
	for name, configuration := range map[string]string{"pbkdf2.tfstate": pbkdf2, "aad.tfstate": aad} {
		c := must(t, configuration).State
		f, err := store.Decode(golden(t, name), c)
		if err != nil || f.State.Empty() || f.Serial == 0 {
			t.Errorf("%s: %v", name, err)
		}
		wrong := must(t, strings.NewReplacer("correct horse", "another horse", "short12", "short13").Replace(configuration)).State
		if _, _, err := wrong.DecryptState(golden(t, name)); !errors.Is(err, ErrWrongKey) || !strings.Contains(err.Error(), "has been damaged") {
			t.Errorf("%s with another key: %v", name, err)
		}
	}
	if got, err := must(t, pbkdf2).State.Decrypt(golden(t, "pbkdf2.tfplan")); err != nil || !bytes.HasPrefix(got, []byte("PK")) {
		t.Errorf("%.10q, %v", got, err)
	}
}

func TestKeysAreDerivedOnce(t *testing.T) {
	c := must(t, keyA+stateA).State
	stored := sealed(t, c)
	opens(t, c, stored)
	made, boxes := c.methods[0].sealer, len(c.methods[0].boxes)
	for range 3 {
		opens(t, c, stored)
		opens(t, c, sealed(t, c))
	}
	if c.methods[0].sealer != made || boxes != 1 || len(c.methods[0].boxes) != 1 {
		t.Errorf("got %d keys, want the first one alone", len(c.methods[0].boxes))
	}
}
