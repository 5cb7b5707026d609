package encryption

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzDecryptState opens files that seem to be encrypted states, also those that were sealed in another way.
// Every error is one of three kinds, and what is opened was sealed.
func FuzzDecryptState(f *testing.F) {
	const keys = "key_provider \"static\" \"a\" {\n  key = \"00112233445566778899aabbccddeeff\"\n}\nmethod \"aes_gcm\" \"a\" {\n  keys = key_provider.static.a\n}\n" +
		"key_provider \"pbkdf2\" \"p\" {\n  passphrase = \"c4nary-passphrase-a\"\n  iterations = 200000\n}\nmethod \"aes_gcm\" \"p\" {\n  keys = key_provider.pbkdf2.p\n}\n"
	set := must(f, keys+"state {\n  method = method.aes_gcm.a\n  fallback {\n    method = method.aes_gcm.p\n  }\n}\n")
	stored, err := set.State.EncryptState([]byte(content), meta)
	if err != nil {
		f.Fatal(err)
	}
	frame, err := set.State.Seal([]byte(content))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stored)
	f.Add(frame)
	f.Add([]byte(`{"encryption_version":"v0","meta":{"key_provider.pbkdf2.p":"e30="},"encrypted_data":"AAAA"}`))
	f.Add([]byte(content))
	f.Fuzz(func(t *testing.T, src []byte) {
		plain, _, err := set.State.DecryptState(src)
		if err == nil && !bytes.Equal(plain, []byte(content)) {
			t.Errorf("DecryptState: got %q, which was never sealed, want %q or an error", plain, content)
		}
		if err != nil && !errors.Is(err, ErrWrongKey) && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnencrypted) {
			t.Errorf("an error of no kind: %v", err)
		}
		IsState(src)
		if plain, err := set.State.Unseal(src); err == nil && !bytes.Equal(plain, []byte(content)) {
			t.Errorf("Unseal: got %q, which was never sealed, want %q or an error", plain, content)
		}
	})
}
