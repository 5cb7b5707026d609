package leak

import (
	"net/url"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// counts reports whether the value of a name in a secret text is secret by itself.
func counts(name, v string) bool {
	switch {
	case publicKey().MatchString(v):
		return false
	case len(credentials(v)) > 0:
		return true
	case address().MatchString(v):
		return false
	case isSecretName(name):
		return true
	default:
		return !publicName().MatchString(letters(name)) && !isIdentifier(v)
	}
}

// Words in the names of arguments, without the signs between them. The last word counts.
var (
	secretWord = pattern.New(`pass(?:word|wd|phrase|code)|secret|token|credential|signature|.key|pwd|(?:pass|auth|pat|sas|psk|pem)$`)
	publicName = pattern.New(`(?:public|pub)key|(?:ur[iln]|id|type|name|user|e?mail|host|server|endpoint|region|zone|domain|path|file|dir|ce?rt|certificate|ca|(?:certificate|authority|ca)(?:data|pem)|date|time|(?:created|updated|modified|issued|expires?)(?:at|on|in)?|expir(?:y|ation)|version|algorithm|arn|issuer|scope|audience|fingerprint|count|size|length|ttl|format|kind|mode|method|label|description|comment|alias|identifier|instance|cluster|database|bucket|namespace)s?$`)
)

// letters returns a name in lower case, without signs.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_. ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// isSecretName reports whether a name says that it stands for something secret.
func isSecretName(name string) bool {
	name = letters(name)
	isSecretID := strings.HasSuffix(name, "secretid") // of Vault and Consul
	return isSecretID || secretWord().MatchString(name) && !publicName().MatchString(name)
}

var (
	address = pattern.New(`^(?:[a-zA-Z][a-zA-Z0-9+.-]*://\S*|(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}\.?(?::\d+)?|[\w.+-]+@[a-z0-9.-]+\.[a-z]{2,}|arn:\S+)$`)
	moment  = pattern.New(`^\d{4}-\d\d-\d\d[\dT :.,Z+-]*$|^(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d+)?$`)
	region  = pattern.New(`^[a-z]+(?:-gov|-iso[a-z]?)?-(?:north|south|east|west|central)+-?\d{1,2}(?:-?[a-z])?$`)
	uuid    = pattern.New(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// isPublic reports whether a text is a word, an address without credentials, a date, a region, or a
// public key.
func isPublic(s string) bool {
	return isWord(s) || publicKey().MatchString(s) || moment().MatchString(s) || region().MatchString(s) || address().MatchString(s) && len(credentials(s)) == 0
}

// Limits for words of an identifier.
const (
	maxDigits   = 4 // at its end
	maxChanges  = 3 // from lower case to upper case
	maxAnything = 3 // the length up to which it may be anything
)

// isIdentifier reports whether a text looks like the name of something rather than a secret: it is public or
// a UUID, or consists of words that may have digits at the end, as in "us-east-1", "db17.example.com:5432" or
// "projects/mayfly-17".
func isIdentifier(s string) bool {
	if isPublic(s) || uuid().MatchString(s) {
		return true
	}
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !isNameChar(r) || strings.ContainsRune("-_.", r) }) {
		start := strings.TrimRight(word, "0123456789")
		if len(word) <= maxAnything || start == "" {
			continue
		}
		if len(word)-len(start) > maxDigits || strings.ContainsAny(start, "0123456789") || changes(start) > maxChanges {
			return false
		}
	}
	return true
}

// changes counts where a word goes from lower case to upper case.
func changes(word string) (n int) {
	for i := 1; i < len(word); i++ {
		if word[i-1] >= 'a' && word[i] < 'a' {
			n++
		}
	}
	return n
}

// credentials returns the secret parts of an address or of the settings in a line, as they are written and
// decoded: the password of a user, and the values of secret names, as in "AccountKey=…;" or "?token=…".
func credentials(s string) (out []string) {
	if !strings.ContainsAny(s, "=@") {
		return nil
	}
	add := func(text string, decode func(string) (string, error)) {
		if !isSecret(text) {
			return
		}
		out = append(out, text)
		if plain, err := decode(text); err == nil && plain != text && isSecret(plain) {
			out = append(out, plain)
		}
	}
	if m := userInfo().FindStringSubmatch(s); m != nil {
		add(m[1], url.PathUnescape)
	}
	for field := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" \t;&?", r) }) {
		if name, v, ok := strings.Cut(field, "="); ok && isSecretName(name) {
			add(strings.Trim(v, `"',`), url.QueryUnescape)
		}
	}
	return out
}

// userInfo matches the password in an address.
var userInfo = pattern.New(`^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#:@]*:([^/?#]*)@`)
