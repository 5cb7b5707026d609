package pgprovider

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// iterations of the hash, as the server's own default.
const iterations = 4096

// verifier returns the text that a server stores of a password, in the form of SCRAM-SHA-256. A password with
// characters outside ASCII would have to be normalized first, so it is refused.
func verifier(password string) (string, error) {
	for _, c := range []byte(password) {
		if c < ' ' || c > '~' {
			return "", errors.New("the password must consist of printable characters of ASCII")
		}
	}
	if password == "" {
		return "", errors.New("the password must not be empty")
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // it never fails
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(authenticated(salted, "Client Key"))
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, text(salt), text(stored[:]), text(authenticated(salted, "Server Key"))), nil
}

func authenticated(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
