package ssh

import (
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// keyring is a connection to an authentication agent.
type keyring struct {
	agent.Agent
	conn     io.Closer
	identity string
	wanted   bool // requested by the connection, rather than found by chance
}

// close ends the connection; k may be nil.
func (k *keyring) close() {
	if k != nil {
		_ = k.conn.Close()
	}
}

// openAgent connects to the agent that the connection uses, and returns nil if it uses none.
func (c *Connection) openAgent() (*keyring, error) {
	if c.Agent == AgentNever || c.Agent == AgentIfAny && !agentAvailable(c.AgentSocket) {
		return nil, nil
	}
	if !agentAvailable(c.AgentSocket) {
		return nil, finalError("the connection requires an authentication agent, but there is none: set SSH_AUTH_SOCK, or start Pageant on Windows")
	}
	a, conn, err := dialAgent(c.AgentSocket)
	if err != nil && c.Agent == AgentIfAny {
		return nil, nil // left behind by an agent that has ended
	}
	if err != nil {
		return nil, &Error{public: "the authentication agent does not answer", err: err, final: true}
	}
	return &keyring{a, conn, c.AgentIdentity, c.Agent == AgentAlways || c.AgentIdentity != ""}, nil
}

// signers returns the agent's keys, the preferred one first.
func (k *keyring) signers() ([]ssh.Signer, error) {
	all, err := k.Signers()
	if err != nil || k.identity == "" {
		return all, err
	}
	preferred := k.preferred()
	slices.SortStableFunc(all, func(a, b ssh.Signer) int {
		return rank(preferred(a.PublicKey())) - rank(preferred(b.PublicKey()))
	})
	return all, nil
}

// rank returns the place of a key among others: those that come first, and the rest.
func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// preferred returns a function that reports whether a key is the one that the identity names. An identity
// may be a key's comment, its fingerprint, the key itself, or the name of a file with it.
func (k *keyring) preferred() func(ssh.PublicKey) bool {
	blobs := map[string]bool{}
	if keys, err := k.List(); err == nil {
		for _, key := range keys {
			if key.Comment == k.identity {
				blobs[string(key.Marshal())] = true
			}
		}
	}
	texts := []string{k.identity}
	for _, name := range []string{k.identity, k.identity + ".pub"} {
		if text, err := os.ReadFile(name); err == nil {
			texts = append(texts, string(text))
		}
	}
	for _, text := range texts {
		if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err == nil {
			blobs[string(key.Marshal())] = true
		}
	}
	return func(key ssh.PublicKey) bool {
		return blobs[string(key.Marshal())] || ssh.FingerprintSHA256(key) == k.identity ||
			ssh.FingerprintLegacyMD5(key) == strings.TrimPrefix(k.identity, "MD5:")
	}
}
