package hashes

import (
	"encoding/hex"
	"testing"
)

// TestSalt makes the salt of a key, which no other use of the key gives. With another one, every block that
// reads a sensitive value would have another hash.
func TestSalt(t *testing.T) {
	const want = "fb51e1dc97d95454d1c5b6aa4f763882568ec40d2cf4f48d2bf764bffe8609bc"
	if got := hex.EncodeToString(salt([]byte("key")).Bytes); got != want {
		t.Errorf("got the salt %s, want %s", got, want)
	}
}
