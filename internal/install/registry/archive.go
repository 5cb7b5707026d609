package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// Archive is a package that can be downloaded, with data from a signed document.
type Archive struct {
	// Sums are the zh checksums of the whole version: of its packages for all platforms and anything else
	// that its publisher signed.
	Sums []lockfile.Hash
	// Proof says in a few words why the checksum can be trusted, such as "signed, key ID 0C0AF313E5FD9F80".
	Proof string

	url   *url.URL
	creds web.Credentials
	sum   string // SHA-256, in hexadecimal
}

// Hash returns the zh checksum that the archive must have.
func (a *Archive) Hash() lockfile.Hash { return lockfile.Hash("zh:" + a.sum) }

// description is a registry's answer about one package.
type description struct {
	Protocols                             []string
	Filename, Shasum                      string
	DownloadURL                           string      `json:"download_url"`
	SumsURL                               string      `json:"shasums_url"`
	SignatureURL                          string      `json:"shasums_signature_url"`
	SigningKeys                           signingKeys `json:"signing_keys"`
	base, downloadURL, sumsURL, signature *url.URL
}

// Archive finds the package of a version for a platform, and verifies the publisher's signature. platform
// has the form OS_ARCH.
func (c *Client) Archive(ctx context.Context, p addr.Provider, v versions.Version, platform string) (*Archive, error) {
	base, creds, err := c.service(ctx, p)
	if err != nil {
		return nil, err
	}
	if base == nil {
		return nil, fmt.Errorf("the host %s has no registry of providers", p.Hostname.ForDisplay())
	}
	goos, arch, _ := strings.Cut(platform, "_")
	d, err := c.describe(ctx, web.Below(base, p.Namespace, p.Type, v.String(), "download", goos, arch), creds)
	if err != nil {
		return nil, c.hint(err, p)
	}
	if !speaks(d.Protocols) {
		return nil, c.incompatible(ctx, p, d.Protocols)
	}
	// The addresses may belong to any server, and only the registry itself may see its token.
	owner := func(u *url.URL) web.Credentials {
		if web.SameOrigin(u, base) {
			return creds
		}
		return nil
	}
	sums, err := c.web.Get(ctx, d.sumsURL, owner(d.sumsURL))
	if err != nil {
		return nil, fmt.Errorf("the checksums could not be read: %w", c.hint(err, p))
	}
	proof, err := c.verify(ctx, p, d, sums.Body, owner(d.signature))
	if err != nil {
		return nil, err
	}
	a := &Archive{Proof: proof, url: d.downloadURL, creds: owner(d.downloadURL)}
	if err := a.take(sums.Body, d); err != nil {
		return nil, err
	}
	return a, nil
}

// describe requests and checks the description of a package.
func (c *Client) describe(ctx context.Context, u *url.URL, creds web.Credentials) (*description, error) {
	doc, err := c.web.Get(ctx, u, creds)
	if err != nil {
		return nil, err
	}
	d := &description{base: doc.URL}
	if err := json.Unmarshal(doc.Body, d); err != nil {
		return nil, fmt.Errorf("the answer of %s is not the description of a package", web.Show(doc.URL))
	}
	for _, part := range []struct {
		name, text string
		to         **url.URL
	}{{"download_url", d.DownloadURL, &d.downloadURL}, {"shasums_url", d.SumsURL, &d.sumsURL}, {"shasums_signature_url", d.SignatureURL, &d.signature}} {
		if *part.to, err = web.Resolve(doc.URL, part.text); err != nil {
			return nil, fmt.Errorf("the description of the package at %s has a bad %s: %w", web.Show(doc.URL), part.name, err)
		}
	}
	return d, nil
}

// take reads the checksum document, whose signature has been verified. The registry's own statement must
// agree with it.
func (a *Archive) take(sums []byte, d *description) error {
	for line := range strings.Lines(string(sums)) {
		words := strings.Fields(line)
		if len(words) != 2 || !isSum(words[0]) {
			continue
		}
		sum := strings.ToLower(words[0])
		a.Sums = append(a.Sums, lockfile.Hash("zh:"+sum))
		if strings.TrimPrefix(words[1], "*") == d.Filename {
			a.sum = sum
		}
	}
	switch {
	case a.sum == "":
		return fmt.Errorf("the checksums at %s have none for the file %q of the package", web.Show(d.sumsURL), d.Filename)
	case d.Shasum != "" && !strings.EqualFold(d.Shasum, a.sum):
		return fmt.Errorf("the registry gives the checksum %.64q for the file %q, and the publisher gives %s", d.Shasum, d.Filename, a.sum)
	}
	return nil
}

func isSum(s string) bool {
	const digits = "0123456789abcdefABCDEF"
	return len(s) == 64 && strings.Trim(s, digits) == ""
}

// ErrTampered is returned for a download that differs from the package that its publisher signed.
var ErrTampered = errors.New("the downloaded package does not have the checksum that its publisher gives; it was damaged or changed on the way")

// Download writes the archive to a file and verifies it.
func (c *Client) Download(ctx context.Context, a *Archive, to *os.File, progress web.Progress) error {
	sum, err := c.web.Download(ctx, a.url, a.creds, to, progress)
	if err == nil && sum != a.sum {
		err = fmt.Errorf("%w: it has %s, and %s is expected", ErrTampered, sum, a.sum)
	}
	return err
}

func major(protocol string) string {
	m, _, _ := strings.Cut(protocol, ".")
	return m
}

// incompatible explains that a version can't be used, and which can.
func (c *Client) incompatible(ctx context.Context, p addr.Provider, offered []string) error {
	text := fmt.Sprintf("it speaks version %s of the plugin protocol, and this program speaks 5 and 6", strings.Join(offered, ", "))
	list, err := c.Versions(ctx, p)
	if err != nil {
		return errors.New(text)
	}
	newest := versions.Unspecified
	for _, o := range list.Versions {
		if speaks(o.Protocols) && o.Version.Prerelease == "" && (newest == versions.Unspecified || o.Version.GreaterThan(newest)) {
			newest = o.Version
		}
	}
	if newest == versions.Unspecified {
		return fmt.Errorf("%s; no other version can be used either", text)
	}
	return fmt.Errorf("%s; the newest version that can be used is %s, selected by the version constraint \"%s\"", text, newest, newest)
}
