package ssh

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
)

// signers returns the host's private key, preceded by the key with its certificate if there is one. The
// problem's text reveals nothing about the key; the texts of parsers would quote some of its bytes.
func (h *Host) signers() ([]ssh.Signer, *Problem) {
	if !h.PrivateKey.Given() {
		if h.Certificate.Given() {
			return nil, &Problem{"certificate", "A certificate needs the private key that it belongs to, which is missing."}
		}
		return nil, nil
	}
	key, err := ssh.ParsePrivateKey([]byte(h.PrivateKey.reveal()))
	if err != nil {
		return nil, &Problem{"private_key", keyProblem(h.PrivateKey.reveal(), err)}
	}
	if !h.Certificate.Given() {
		return []ssh.Signer{key}, nil
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(h.Certificate.reveal()))
	cert, ok := public.(*ssh.Certificate)
	if err != nil || !ok {
		return nil, &Problem{"certificate", "This is not an OpenSSH certificate: a line that starts with the name of a type such as \"ssh-ed25519-cert-v01@openssh.com\", as ssh-keygen writes it to a file *-cert.pub."}
	}
	certified, err := ssh.NewCertSigner(cert, key)
	if err != nil {
		return nil, &Problem{"certificate", "The certificate belongs to another private key."}
	}
	return []ssh.Signer{certified, key}, nil
}

// keyProblem says why a private key is unusable, with advice. It looks at the text for common mistakes, and
// quotes nothing of it.
func keyProblem(text string, err error) string {
	var locked *ssh.PassphraseMissingError
	block, _ := pem.Decode([]byte(text))
	switch {
	case errors.As(err, &locked):
		return "The private key is protected by a passphrase, which a connection has no argument for. Use a copy of the key without a passphrase (see \"ssh-keygen -p\"), or an SSH agent."
	case strings.HasPrefix(strings.TrimSpace(text), "PuTTY-User-Key-File"):
		return "The private key is in PuTTY's own format. PuTTYgen can export it in that of OpenSSH."
	case strings.HasPrefix(strings.TrimSpace(text), "ssh-"), strings.HasPrefix(strings.TrimSpace(text), "ecdsa-"):
		return "This is a public key. The private key is in the file of the same name without \".pub\"."
	case block == nil && !strings.Contains(text, "\n"):
		return "This is not a private key: it has only one line. If it is the name of a file, read the file with file(…)."
	case block == nil:
		return "This is not a complete private key in PEM format, which begins with a line \"-----BEGIN … PRIVATE KEY-----\" and ends with one like it."
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return "The private key is encrypted, and a connection has no argument for its passphrase. Use a key without a passphrase, or an SSH agent."
	default:
		return "The private key could not be read: it is damaged or of a kind that is not supported. RSA, ECDSA and Ed25519 are."
	}
}

// errHostKey does not quote the key, which may be ephemeral like any setting.
var errHostKey = errors.New("not a public key in OpenSSH's format, such as \"ssh-ed25519 AAAA…\", the content of a file *.pub")

// pinned returns the key that the host must show or that must have signed its certificate, or nil if none
// is set.
func (h *Host) pinned() (ssh.PublicKey, error) {
	if !h.HostKey.Given() {
		return nil, nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(h.HostKey.reveal()))
	if err != nil {
		return nil, errHostKey
	}
	return key, nil
}

// checkHost returns the function that compares the host's key with the pinned one.
func checkHost(pinned ssh.PublicKey) ssh.HostKeyCallback {
	same := func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), pinned.Marshal()) }
	certs := &ssh.CertChecker{IsHostAuthority: func(k ssh.PublicKey, _ string) bool { return same(k) }}
	return func(address string, from net.Addr, key ssh.PublicKey) error {
		cert, ok := key.(*ssh.Certificate)
		switch {
		case !ok && same(key), ok && same(cert.Key):
			return nil
		case !ok || !same(cert.SignatureKey):
			return finalError("the host's key is not the one that the connection asks for, so this may be another machine")
		}
		if err := certs.CheckHostKey(address, from, key); err != nil {
			return &Error{public: "the host's certificate is not valid for it", err: err, final: true}
		}
		return nil
	}
}

// hostAlgorithms returns the key algorithms to accept for keys of some types, or certificates signed by them.
// A host with several keys shows the one that is expected only if its kind is requested.
func hostAlgorithms(types ...string) []string {
	var out []string
	for _, algorithm := range ssh.SupportedAlgorithms().HostKeys {
		if strings.Contains(algorithm, "-cert-") {
			out = append(out, algorithm)
		}
	}
	for _, t := range types {
		if t == ssh.KeyAlgoRSA {
			out = append(out, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512)
		} else {
			out = append(out, t)
		}
	}
	return out
}

// methods lists the tried login methods in words.
func methods(words []string) string {
	if len(words) == 0 {
		return "without a key or password: the connection has none, and there is no agent"
	}
	return fmt.Sprintf("with %s", strings.Join(words, ", "))
}
