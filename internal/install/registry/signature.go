package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// signingKeys is the registry's list of a publisher's keys.
type signingKeys struct {
	Keys []struct {
		KeyID string `json:"key_id"`
		Armor string `json:"ascii_armor"`
	} `json:"gpg_public_keys"`
}

// verify checks the signature of a checksum document with the publisher's keys according to the registry.
// The default registry lists providers of publishers without registered keys; other registries have no
// reason to lack one.
func (c *Client) verify(ctx context.Context, p addr.Provider, d *description, sums []byte, creds web.Credentials) (proof string, err error) {
	switch {
	case len(d.SigningKeys.Keys) > 0:
	case p.Hostname != addr.DefaultHost:
		return "", fmt.Errorf("the registry %s gives no key to check the signature with; its operator has to publish that of the provider's publisher", p.Hostname.ForDisplay())
	case c.policy.Signed:
		return "", errors.New("the registry has no key of the publisher, so that the signature can't be checked, and the environment variable OPENTOFU_ENFORCE_GPG_VALIDATION demands that")
	default:
		return "verified checksum, signature not checked: the registry has no key for it", nil
	}
	signature, err := c.web.Get(ctx, d.signature, creds)
	if web.NotFound(err) {
		return "", fmt.Errorf("the package is not signed, though the registry has a key of its publisher: %w", err)
	}
	if err != nil {
		return "", fmt.Errorf("the signature could not be read: %w", err)
	}
	var why error
	for _, k := range d.SigningKeys.Keys {
		ring, err := openpgp.ReadArmoredKeyRing(strings.NewReader(k.Armor))
		if err != nil {
			continue // another key may match
		}
		signer, err := openpgp.CheckDetachedSignature(ring, bytes.NewReader(sums), bytes.NewReader(signature.Body), nil)
		switch {
		case err == nil:
			return "signed, key ID " + signer.PrimaryKey.KeyIdString(), nil
		case errors.Is(err, pgperrors.ErrKeyExpired) && signer != nil && !c.policy.FreshKeys:
			// Packages outlive keys: a signature made in time stays valid.
			return "signed, key ID " + signer.PrimaryKey.KeyIdString() + ", which has expired since", nil
		case errors.Is(err, pgperrors.ErrKeyExpired):
			why = errors.New("the key has expired, and the environment variable OPENTOFU_ENFORCE_GPG_EXPIRATION demands a fresh one")
		case why == nil || !errors.Is(err, pgperrors.ErrUnknownIssuer):
			why = err
		}
	}
	if why == nil {
		why = errors.New("none of the keys can be read")
	}
	return "", fmt.Errorf("the signature of the checksums at %s is not by a key that the registry has for the publisher, so the package may have been tampered with: %w", web.Show(d.sumsURL), why)
}
