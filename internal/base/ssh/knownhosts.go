package ssh

import (
	"errors"
	"net"
	"slices"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// trust says which keys a host may show.
type trust struct {
	check      ssh.HostKeyCallback
	algorithms []string // nil for any
	anyone     bool     // every key is accepted
}

// trusted returns the trust in host keys by the settings of a checked host.
func (h *Host) trusted() (trust, error) {
	pinned, _ := h.pinned()
	switch {
	case pinned != nil:
		return trust{check: checkHost(pinned), algorithms: hostAlgorithms(pinned.Type())}, nil
	case h.KnownHosts != "":
		return h.known()
	}
	// As in OpenTofu and Terraform: hosts are new and their keys are not known yet.
	return trust{check: ssh.InsecureIgnoreHostKey(), anyone: true}, nil
}

// known returns the trust in the keys in the file of known hosts.
func (h *Host) known() (trust, error) {
	lookup, err := knownhosts.New(h.KnownHosts)
	if err != nil {
		return trust{}, &Error{public: "the file of known hosts cannot be read", err: err, final: true}
	}
	check := func(address string, from net.Addr, key ssh.PublicKey) error {
		err := lookup(address, from, key)
		var other *knownhosts.KeyError
		var revoked *knownhosts.RevokedError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &revoked):
			return finalError("the host's key was revoked")
		case errors.As(err, &other) && len(other.Want) == 0:
			return finalError("the host is not among the known hosts, so its key cannot be checked")
		case errors.As(err, &other):
			return finalError("the host's key is not the one that is known, so this may be another machine")
		}
		return &Error{public: "the host's certificate is not valid for it", err: err, final: true}
	}
	var wanted *knownhosts.KeyError
	if !errors.As(lookup(h.address(), &net.TCPAddr{IP: net.IPv4zero}, unknownKey{}), &wanted) || len(wanted.Want) == 0 {
		return trust{check: check}, nil
	}
	var kinds []string
	for _, k := range wanted.Want {
		kinds = append(kinds, k.Key.Type())
	}
	slices.Sort(kinds)
	return trust{check: check, algorithms: hostAlgorithms(slices.Compact(kinds)...)}, nil
}

// unknownKey is a key that no host has: the error about it says which ones a host is known by.
type unknownKey struct{}

func (unknownKey) Type() string                        { return "unknown" }
func (unknownKey) Marshal() []byte                     { return nil }
func (unknownKey) Verify([]byte, *ssh.Signature) error { return errors.New("no host has this key") }
