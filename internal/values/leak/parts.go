package leak

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// minLine is the length in bytes from which a line of a value that is not confidential is recognized alone.
const minLine = 20

// parts returns the parts of a text that are recognized alone, as programs print them that read or indent the
// text: the text without the spaces around it, its lines, the values of its names, the strings in a JSON
// document, and passwords in addresses. All have at least MinLength bytes.
//
// Parts must be secret themselves: a region that is printed with a credential, or the address of a server,
// would make other messages unreadable, and providers return it rightly. These rules decide:
//
//   - The value of a name after "=" or ":", or in a JSON document, counts if the name says so ("password",
//     "client-key-data"). If the name is known for public values ("token_uri", "client_id", "region"), it
//     does not. Otherwise it counts unless it looks like an identifier: words with a few digits, an address,
//     a date, a UUID.
//   - Other lines count, unless they are words, addresses, dates, regions, comments or headings without
//     anything else. Of texts that are not confidential, only lines of at least twenty bytes without a space
//     do, whatever their content.
//   - Certificates, public keys and the frames of keys are public. So is the first line of OpenSSH's keys,
//     which is the same for all of them, and lines of private keys that stand in their public keys.
func parts(s string, confidential bool) []string {
	p := partsOf{confidential: confidential, whole: s, seen: map[string]struct{}{}}
	p.take(s)
	return p.found
}

// partsOf collects the parts of a text.
type partsOf struct {
	confidential bool
	whole        string
	found        []string
	seen         map[string]struct{}
}

func (p *partsOf) add(part string) {
	if _, again := p.seen[part]; again || part == p.whole || !isSecret(part) {
		return
	}
	p.seen[part] = struct{}{}
	p.found = append(p.found, part)
}

// take collects the parts of a text, which may be a part itself.
func (p *partsOf) take(s string) {
	trimmed := strings.TrimSpace(s)
	if p.confidential || !isWord(trimmed) {
		p.add(trimmed)
	}
	if p.takeJSON(trimmed) {
		return
	}
	if strings.Contains(trimmed, "\n") {
		p.takeLines(trimmed)
		return
	}
	for _, c := range credentials(trimmed) {
		p.add(c)
	}
}

// value collects the value of a name, if it counts, and reports whether it does.
func (p *partsOf) value(name, v string) bool {
	if !counts(name, v) || !p.confidential && isWord(v) {
		p.takeJSON(v)
		return false
	}
	p.take(v)
	return true
}

// takeJSON collects the strings in a JSON document. It reports whether s is one.
func (p *partsOf) takeJSON(s string) bool {
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		return false
	}
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return false
	}
	p.takeValue("", v)
	return true
}

// takeValue collects the strings in a value of a JSON document. The elements of a list have the name of the
// list.
func (p *partsOf) takeValue(name string, v any) {
	switch v := v.(type) {
	case string:
		p.value(name, v)
	case []any:
		for _, e := range v {
			p.takeValue(name, e)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			p.takeValue(name, v[name])
		}
	}
}

// takeLines collects the lines of a text.
func (p *partsOf) takeLines(s string) {
	frame, public := "", publicLines(s) // frame is the label of the frame around the line
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if label, begins := strings.CutPrefix(line, "-----BEGIN "); begins {
			frame = label
		}
		_, known := public[line]
		switch {
		case strings.HasPrefix(line, "-----"):
			if !strings.HasPrefix(line, "-----BEGIN ") {
				frame = ""
			}
		case publicFrame().MatchString(frame) || strings.HasPrefix(line, openSSH) || known:
		case !p.confidential:
			if len(line) >= minLine && !strings.Contains(line, " ") {
				p.add(line)
			}
		case frame != "" && !strings.Contains(line, ":"): // behind headers
			p.add(line)
		default:
			p.line(line)
		}
	}
}

var (
	publicFrame = pattern.New(`CERTIFICATE|PUBLIC KEY|PARAMETERS|X509 CRL`)
	publicKey   = pattern.New(`^(?:-----BEGIN [A-Z0-9 ]*(?:CERTIFICATE|PUBLIC KEY)|(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ AAAA|LS0tLS1CRUdJTiBDRVJU|LS0tLS1CRUdJTiBQVUJM)`)
)

// openSSH is the beginning of a private key of OpenSSH, in Base64. The name of the cipher follows; the first
// bytes that are different stand in the second line.
const openSSH = "b3BlbnNzaC1rZXktdjEA"

// line collects the secret pieces of a line in a confidential text.
func (p *partsOf) line(s string) {
	if len(s) < MinLength {
		return
	}
	for _, c := range credentials(s) {
		p.add(c)
	}
	if name, v, ok := named(s); ok {
		found := false
		for _, v := range spelledOut(v) {
			found = p.value(name, v) || found
		}
		if found || !strings.Contains(v, " ") {
			return
		}
	}
	if user, v, ok := strings.Cut(s, ":"); ok && !strings.HasPrefix(v, "//") && !strings.Contains(user, " ") {
		p.value("", v)
	}
	heads := strings.ContainsAny(s[:1], "[]<>{}()#;/!") || strings.HasSuffix(s, ":")
	if !isPublic(s) && (!heads || !isIdentifier(s)) {
		p.add(s)
		p.takeJSON(s)
	}
}

// named splits a line such as "name = value", "name: value", or export name="value". The name is the last
// word before the sign, or the first in "password hunter2".
func named(s string) (name, v string, ok bool) {
	at := -1
	for _, sign := range []string{"=", ": ", "\":", ":\t"} {
		if i := strings.Index(s, sign); i >= 0 && (at < 0 || i < at) {
			at = i + len(sign) - 1
		}
	}
	if at < 0 {
		if at = strings.IndexAny(s, ": "); at < 0 || !isSecretName(s[:at]) || strings.Count(s, " ") > 1 {
			return "", "", false
		}
	}
	name = strings.TrimRight(s[:at], " \t:\"'")
	name = name[strings.LastIndexFunc(name, func(r rune) bool { return !isNameChar(r) })+1:]
	v = strings.TrimSpace(strings.TrimPrefix(s[at+1:], ">"))
	return name, v, name != "" && strings.Trim(v, "=") != ""
}

func isNameChar(r rune) bool { return strings.ContainsRune(plainChars, r) }

var quotedValue = pattern.New(`^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')`)

// spelledOut returns the possible readings of a value in a line: without the quotes, or with the comment
// behind it and without.
func spelledOut(v string) []string {
	switch m := quotedValue().FindStringSubmatch(v); {
	case m == nil:
		short, _, _ := strings.Cut(v, " #")
		return slices.Compact([]string{v, strings.TrimSpace(short)})
	case m[2] != "":
		return []string{strings.ReplaceAll(m[2], "''", "'")}
	default:
		var text string
		if json.Unmarshal([]byte(m[0]), &text) != nil {
			text = m[1]
		}
		return []string{text}
	}
}
