package azureserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The address of the vault, the only key in it, and its tenant.
const (
	VaultHost = "states.vault.azure.net"
	VaultKey  = "main"
	Tenant    = "11111111-1111-4111-8111-111111111111" // that the vault belongs to
)

// keyVersion is a version of the key in the vault, which is of every type at once. Its name is its place in
// order.
type keyVersion struct {
	pair      *rsa.PrivateKey
	symmetric []byte // of any length that is asked for, up to its own
}

func newKeyVersion() keyVersion {
	pair, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // there is no randomness
	}
	v := keyVersion{pair, make([]byte, 32)}
	_, _ = rand.Read(v.symmetric)
	return v
}

// Rotate adds a version of the key in the vault.
func (s *Server) Rotate() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.versions = append(s.versions, newKeyVersion())
}

// message is the body of a request to the vault, and of its answer. Its texts are in base64 for URLs.
type message struct {
	Algorithm string `json:"alg,omitempty"`
	Key       string `json:"kid,omitempty"`
	Value     string `json:"value"`
	IV        string `json:"iv,omitempty"`
	Tag       string `json:"tag,omitempty"`
}

// RefuseJSON answers with an error as vaults do.
func RefuseJSON(w http.ResponseWriter, status int, code, words string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code, "message": words}})
}

// serveVault serves requests for keys/NAME/encrypt and keys/NAME/VERSION/decrypt.
func (s *Server) serveVault(w http.ResponseWriter, r *http.Request, body string) {
	at := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	operation, version := at[len(at)-1], len(s.versions)
	if len(at) == 4 {
		version, _ = strconv.Atoi(at[2])
	}
	var in message
	switch {
	case r.Header.Get("Authorization") != "Bearer "+Token:
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer authorization="https://%s/%s", resource="https://vault.azure.net"`, loginHost, Tenant))
		RefuseJSON(w, http.StatusUnauthorized, "Unauthorized", "AKV10000: Request is missing a Bearer or PoP token.")
	case len(at) < 3 || at[0] != "keys" || at[1] != VaultKey || version < 1 || version > len(s.versions):
		RefuseJSON(w, http.StatusNotFound, "KeyNotFound", "A key with this name or version was not found in this key vault.")
	case r.URL.Query().Get("api-version") == "" || json.Unmarshal([]byte(body), &in) != nil:
		RefuseJSON(w, http.StatusBadRequest, "BadParameter", "In words.")
	default:
		out, err := s.versions[version-1].operate(operation, in)
		if err != nil {
			RefuseJSON(w, http.StatusBadRequest, "BadParameter", err.Error())
			return
		}
		out.Key = fmt.Sprintf("https://%s/keys/%s/%d", VaultHost, VaultKey, version)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	}
}

func (v keyVersion) operate(operation string, in message) (out message, err error) {
	var value, iv, tag []byte
	for to, text := range map[*[]byte]string{&value: in.Value, &iv: in.IV, &tag: in.Tag} {
		if *to, err = base64.RawURLEncoding.DecodeString(text); err != nil {
			return out, err
		}
	}
	encrypts := operation == "encrypt"
	switch {
	case in.Algorithm == "RSA-OAEP-256" && encrypts:
		value, err = rsa.EncryptOAEP(sha256.New(), rand.Reader, &v.pair.PublicKey, value, nil)
	case in.Algorithm == "RSA-OAEP-256":
		value, err = rsa.DecryptOAEP(sha256.New(), rand.Reader, v.pair, value, nil)
	default:
		var bits int
		if _, err := fmt.Sscanf(in.Algorithm, "A%dGCM", &bits); err != nil || bits < 128 || bits > 256 {
			return out, fmt.Errorf("the algorithm %q does not fit the key", in.Algorithm)
		}
		value, iv, tag, err = v.gcm(encrypts, bits/8, value, iv, tag)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return message{Value: encode(value), IV: encode(iv), Tag: encode(tag)}, err
}

// gcm encrypts or decrypts in Galois counter mode with the first bytes of the symmetric key.
func (v keyVersion) gcm(encrypts bool, length int, value, iv, tag []byte) (result, newIV, newTag []byte, err error) {
	block, err := aes.NewCipher(v.symmetric[:length])
	if err != nil {
		return nil, nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case !encrypts && len(iv) != aead.NonceSize():
		return nil, nil, nil, fmt.Errorf("the IV has %d bytes", len(iv))
	case !encrypts:
		result, err = aead.Open(nil, iv, append(value, tag...), nil)
		return result, nil, nil, err
	}
	iv = make([]byte, aead.NonceSize())
	_, _ = rand.Read(iv)
	sealed := aead.Seal(nil, iv, value, nil)
	n := len(sealed) - aead.Overhead()
	return sealed[:n], iv, sealed[n:], nil
}
