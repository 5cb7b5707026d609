package given

import (
	"crypto/hmac"
	"crypto/sha256"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

// mostSecrets is how many different sensitive values a plan hashes, and an apply, which takes two seconds of
// a core. An object with one more has no hash, so that its provider is asked.
const mostSecrets = 100

// secrets are the slow hashes of sensitive values, with a salt that follows from the key.
type secrets struct {
	key  []byte
	slow *fingerprint.Hasher
	most int

	mu   sync.Mutex
	seen map[[sha256.Size]byte]struct{} // keyed hashes of the values, which never leave the memory
}

func newSecrets(key []byte, most int) *secrets {
	return &secrets{key: key, slow: fingerprint.New([]fingerprint.Salt{fingerprint.SaltOf(key)}, nil), most: most, seen: map[[sha256.Size]byte]struct{}{}}
}

// sum returns the slow hash of a value for a purpose. It returns false if there would be too many, or if the
// value can't be encoded.
func (s *secrets) sum(v cty.Value, purpose string) ([]byte, bool) {
	b, err := msgpack.Marshal(v, v.Type())
	if err != nil || !s.may(b) {
		return nil, false
	}
	sum, ok, err := s.slow.Sum(v, purpose)
	return sum, ok && err == nil
}

// may reports whether a value may be hashed: it was before, or there is room for one more.
func (s *secrets) may(encoded []byte) bool {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(encoded)
	name := [sha256.Size]byte(mac.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.seen[name]; is {
		return true
	}
	if len(s.seen) >= s.most {
		return false
	}
	s.seen[name] = struct{}{}
	return true
}
