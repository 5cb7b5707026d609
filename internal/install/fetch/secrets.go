package fetch

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
)

const hidden = "REDACTED"

// harmless are the parameters of addresses that may be shown. Any other may be a key.
var harmless = []string{"ref", "depth", "archive", "checksum", "filename", "tag", "digest", "version", "versionId", "region", "generation", "terraform-get", "aws_profile"}

// Show returns an address without passwords, tokens and keys.
func Show(address string) string {
	prefix, rest := "", address
	if m := forced().FindStringSubmatch(address); m != nil {
		prefix, rest = m[1]+"::", m[2]
	}
	base, query, has := strings.Cut(rest, "?")
	if scheme, after, ok := strings.Cut(base, "://"); ok {
		authority, path, slash := strings.Cut(after, "/")
		if user, host, ok := cutLast(authority, "@"); ok {
			authority = shownUser(scheme, user) + host
		}
		if base = scheme + "://" + authority; slash {
			base += "/" + path
		}
	}
	if !has {
		return prefix + base
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		if name, _, ok := strings.Cut(p, "="); ok && !slices.Contains(harmless, name) {
			params[i] = name + "=" + hidden
		}
	}
	return prefix + base + "?" + strings.Join(params, "&")
}

// shownUser returns the part of the user in an address that may be shown. For web servers, a name alone may
// be a token; for SSH, it is a name.
func shownUser(scheme, user string) string {
	name, _, password := strings.Cut(user, ":")
	if strings.HasSuffix(scheme, "ssh") {
		if password {
			return name + ":" + hidden + "@"
		}
		return name + "@"
	}
	return hidden + "@"
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// Secrets are texts that must not be shown.
type Secrets []string

// SecretsOf returns the secret parts of an address.
func SecretsOf(address string) Secrets {
	var out Secrets
	add := func(text string) {
		const shortest = 3 // shorter texts occur in every message
		if len(text) >= shortest {
			out = append(out, text)
		}
		if plain, err := url.QueryUnescape(text); err == nil && len(plain) >= shortest {
			out = append(out, leak.Escaped(plain)...)
		}
	}
	_, rest, _ := strings.Cut("::"+address, "::")
	if m := forced().FindStringSubmatch(address); m != nil {
		rest = m[2]
	}
	base, query, _ := strings.Cut(rest, "?")
	if scheme, after, ok := strings.Cut(base, "://"); ok {
		authority, _, _ := strings.Cut(after, "/")
		user, _, _ := cutLast(authority, "@")
		name, password, _ := strings.Cut(user, ":")
		add(password)
		if !strings.HasSuffix(scheme, "ssh") {
			add(name)
		}
	}
	for p := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(p, "="); ok && !slices.Contains(harmless, name) {
			add(value)
		}
	}
	return out
}

// inAddress finds users and passwords in addresses within a text. Programs print addresses that they were
// redirected to.
var inAddress = pattern.New(`(https?://)[^/@\s'"]+@`)

// Hide returns the text without the secrets.
func (s Secrets) Hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return inAddress().ReplaceAllString(text, "${1}"+hidden+"@")
}
