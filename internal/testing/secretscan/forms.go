package secretscan

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Least is the length in bytes from which a form is searched for: shorter ones stand in other texts by
// chance.
const Least = 8

// forms returns the spellings in which a secret may stand in a text, by their names.
func forms(secret string) map[string]string {
	out := map[string]string{
		"as JSON with HTML escaped": asJSON(secret, true),
		"as JSON":                   asJSON(secret, false),
		"as JSON in ASCII":          strings.Trim(strconv.QuoteToASCII(secret), `"`),
		"as JSON with slashes":      strings.ReplaceAll(asJSON(secret, false), "/", `\/`),
		"as JSON in JSON":           asJSON(asJSON(secret, false), false),
		"as a Go string":            strings.Trim(strconv.Quote(secret), `"`),
		"as HCL":                    strings.NewReplacer(`${`, `$${`, `%{`, `%%{`).Replace(strings.Trim(strconv.Quote(secret), `"`)),
		"as HTML":                   html.EscapeString(secret),
		"as XML":                    asXML(secret),
		"in a URL's query":          url.QueryEscape(secret),
		"in a URL's path":           url.PathEscape(secret),
		"in UTF-16":                 asUTF16(secret),
		"in hexadecimal":            hex.EncodeToString([]byte(secret)),
		"in upper-case hexadecimal": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"in base32":                 trimmed(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(secret)), 0),
		"as a list of bytes":        decimals(secret),
	}
	for name, enc := range map[string]*base64.Encoding{"in base64": base64.RawStdEncoding, "in base64 for URLs": base64.RawURLEncoding} {
		for shift, where := range []string{"", " after one byte", " after two bytes"} {
			out[name+where] = aligned(enc, secret, shift)
		}
	}
	for name, form := range out {
		if form == secret || len(form) < Least {
			delete(out, name)
		}
	}
	out["verbatim"] = secret
	return out
}

// aligned returns the part of the base64 form that is always the same if the secret begins after some bytes:
// text before and after the secret does not change it.
func aligned(enc *base64.Encoding, secret string, shift int) string {
	text := enc.EncodeToString(append(make([]byte, shift), secret...))
	return trimmed(text, (shift*8+5)/6)
}

// trimmed cuts off the first characters, and the last, which depends on the next byte.
func trimmed(text string, first int) string {
	if len(text) < first+1 {
		return ""
	}
	return text[first : len(text)-1]
}

func asJSON(secret string, escapeHTML bool) string {
	var sb strings.Builder
	e := json.NewEncoder(&sb)
	e.SetEscapeHTML(escapeHTML)
	if e.Encode(secret) != nil {
		return "" // it is not valid UTF-8
	}
	text := strings.TrimSuffix(sb.String(), "\n")
	return text[1 : len(text)-1]
}

func asXML(secret string) string {
	var sb strings.Builder
	if xml.EscapeText(&sb, []byte(secret)) != nil {
		return ""
	}
	return sb.String()
}

// asUTF16 returns the little-endian form, which contains the big-endian one but for its first and last byte
// if all characters are ASCII.
func asUTF16(secret string) string {
	var sb strings.Builder
	for _, u := range utf16.Encode([]rune(secret)) {
		sb.WriteByte(byte(u))
		sb.WriteByte(byte(u >> 8))
	}
	return sb.String()
}

// decimals returns the numbers that fmt prints for a slice of bytes.
func decimals(secret string) string {
	var sb strings.Builder
	for i := range len(secret) {
		if i > 0 {
			sb.WriteByte(' ')
		}
		sb.WriteString(strconv.Itoa(int(secret[i])))
	}
	return sb.String()
}
