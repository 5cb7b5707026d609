package leak

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// spelling is one way to write a value.
type spelling struct {
	text string
	next edges // if it is in Base64
	line bool  // it is a line of the value, as it is written in several
}

// forms returns the spellings by which a text is recognized, each once: as it is and as Escaped and codes
// have it, its Base64 in URLs and JSON, and lines of that. All have at least MinLength bytes and are varied
// enough.
//
// Spellings of spellings, such as a JSON document in Base64 in which the text is escaped, are not among them.
func forms(s string) []spelling {
	var out []spelling
	add := func(f spelling) {
		if isSecret(f.text) && !slices.ContainsFunc(out, func(o spelling) bool { return o.text == f.text }) {
			out = append(out, f)
		}
	}
	for _, f := range Escaped(s) {
		add(spelling{text: f})
	}
	codes([]byte(s), func(code []byte, next edges) {
		text := string(code)
		add(spelling{text: text, next: next})
		if strings.ContainsAny(text, "+/") {
			add(spelling{text: percent(text, "", true), next: next})
			add(spelling{text: percent(text, "", false), next: next})
			add(spelling{text: strings.ReplaceAll(text, "/", `\/`), next: next})
		}
	})
	inLines(s, func(line string) { add(spelling{text: line, line: true}) })
	return out
}

// plainChars are the characters that no notation escapes.
const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// Escaped returns the ways to write a text of any length with the escapes of JSON, HTML, URLs, the shell, and
// the quoted strings of Go, HCL, YAML and SQL, each once; the first is the text itself.
func Escaped(s string) []string {
	out := []string{s}
	if strings.Trim(s, plainChars) == "" {
		return out
	}
	add := func(f string) {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	eachJSON(s, add)
	eachURL(s, add)
	for _, r := range markup {
		add(r.Replace(s))
	}
	for _, f := range []string{html.EscapeString(s), strconv.Quote(s), strconv.QuoteToASCII(s), strconv.QuoteToGraphic(s)} {
		add(strings.TrimSuffix(strings.TrimPrefix(f, `"`), `"`))
	}
	for _, r := range quotings {
		add(r.Replace(s))
	}
	add(shellWord(s))
	for _, ascii := range []bool{false, true} {
		add(shellANSI(s, ascii))
	}
	for _, format := range []string{`\x%02x`, `\x%02X`} {
		add(literal(s, format))
	}
	add(goTime(s))
	return out
}

// goTime returns s as the errors of Go's package time quote it: bytes of characters that are not ASCII, and
// control characters, are hexadecimal.
func goTime(s string) string {
	var sb strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf || c < ' ':
			fmt.Fprintf(&sb, `\x%02x`, c)
		case c == '"' || c == '\\':
			sb.WriteString(`\` + string(rune(c)))
		default:
			sb.WriteByte(c)
		}
	}
	return sb.String()
}

// markup is how HTML and XML are written: with both kinds of quotes escaped in the ways that are usual, and
// as text between tags.
var markup = []*strings.Replacer{
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#039;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"),
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\x00", "\uFFFD"),                            // text/template
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\uFFFD"),              // html/template
	strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\n", "&#xA;", "\t", "&#x9;", "\r", "&#xD;"), // encoding/xml
}

// quotings are how texts are quoted that need few escapes.
var quotings = []*strings.Replacer{
	strings.NewReplacer(`'`, `'\''`), // shells
	strings.NewReplacer(`'`, `'"'"'`),
	strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`"),
	strings.NewReplacer(`'`, `''`), // YAML, SQL
	strings.NewReplacer(`"`, `""`), // CSV
	strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{"), // HCL
	strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D"),                                                // commands in logs of GitHub Actions
}

// notation says how a program writes JSON strings.
type notation struct {
	codes      string // ASCII characters that it writes as \uXXXX beside control characters
	ascii      bool   // it writes other than ASCII so
	separators bool   // it writes U+2028 and U+2029 so
	upper      bool   // with upper-case digits
	slash      bool   // it writes \/
}

// eachJSON calls add for s in all notations that differ for it.
func eachJSON(s string, add func(string)) {
	other := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
	control := strings.IndexFunc(s, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\b\f\n\r\t", r) }) >= 0
	either := func(matters bool) []bool { return []bool{false, true}[:1+btoi(matters)] }
	done := map[string]struct{}{}
	for _, codes := range []string{"", "\x7f", "<>&", "<>&'=", `"'+<>&` + "`\x7f", `"'<>&`} { // most, Python and jq, Go, Gson, .NET, PHP
		codes = common(codes, s)
		if _, again := done[codes]; again {
			continue
		}
		done[codes] = struct{}{}
		for _, ascii := range either(other) {
			for _, separators := range either(other && !ascii) {
				for _, upper := range either(codes != "" || ascii || separators || control) {
					for _, slash := range either(strings.Contains(s, "/")) {
						add(notation{codes, ascii, separators, upper, slash}.write(s))
					}
				}
			}
		}
	}
}

// common returns the ASCII characters of a list that s has.
func common(list, s string) string {
	return strings.Map(func(r rune) rune {
		if strings.IndexByte(s, byte(r)) < 0 {
			return -1
		}
		return r
	}, list)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// write returns s as it stands between the quotes of a JSON string.
func (n notation) write(s string) string {
	var sb strings.Builder
	sb.Grow(len(s) + len(s)/4)
	format := `\u%04x`
	if n.upper {
		format = `\u%04X`
	}
	for _, r := range s {
		switch short := strings.IndexRune("\b\f\n\r\t", r); {
		case short >= 0:
			sb.WriteString(`\` + "bfnrt"[short:short+1])
		case r < ' ' || strings.ContainsRune(n.codes, r) || n.separators && (r == '\u2028' || r == '\u2029'):
			fmt.Fprintf(&sb, format, r)
		case r == '"' || r == '\\' || r == '/' && n.slash:
			sb.WriteString(`\` + string(r))
		case r >= utf8.RuneSelf && n.ascii:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&sb, format, unit)
			}
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// kept are the characters beside letters, digits and -_. that stand for themselves in parts of a URL.
var kept = []string{
	"~", "*", "~/", "~!'()*", // queries: Go, HTML forms, Python, JavaScript
	"~$&+=:@", "~$&+,/:;=@", "~$&+,;=", "~!()*$&+,/:;=?@", // Go: segments, paths, users, fragments
	"~!$&'()*+,;=:@", "~!$&'()*+,;=:@/", "~!$&'()*+,;=:@/?", "~!$&'()*+,;=:@/?#", // RFC 3986, and encodeURI
	"~!$%&'()*+,;=:@/[]^|", "~!$%&'()*+,", // WHATWG: paths, users
}

// eachURL calls add for s in all parts of URLs.
func eachURL(s string, add func(string)) {
	done := map[string]struct{}{}
	for i, keep := range kept {
		keep = common(keep, s)
		if _, again := done[keep]; again {
			continue
		}
		done[keep] = struct{}{}
		for _, upper := range []bool{true, false} {
			f := percent(s, keep, upper)
			add(f)
			if i < 3 {
				add(strings.ReplaceAll(f, "%20", "+"))
			}
		}
	}
}

// percent returns s with percent escapes for all but plainChars and those in keep.
func percent(s, keep string, upper bool) string {
	digits := "0123456789abcdef"
	if upper {
		digits = "0123456789ABCDEF"
	}
	var plain [256]bool
	for _, chars := range []string{plainChars, keep} {
		for i := range len(chars) {
			plain[chars[i]] = true
		}
	}
	var sb strings.Builder
	sb.Grow(len(s) + len(s)/4)
	for i := range len(s) {
		if c := s[i]; plain[c] {
			sb.WriteByte(c)
		} else {
			sb.WriteString("%" + digits[c>>4:c>>4+1] + digits[c&15:c&15+1])
		}
	}
	return sb.String()
}

// shellWord returns s with backslashes, as the printf of bash and zsh writes a word with %q.
func shellWord(s string) string {
	var sb strings.Builder
	for i := range len(s) {
		begins := i == 0 || s[i] == '~' && strings.IndexByte(":=", s[i-1]) >= 0
		if strings.IndexByte(" \t!\"$&'()*,;<>?[\\]^`{|}", s[i]) >= 0 || begins && strings.IndexByte("#~", s[i]) >= 0 {
			sb.WriteByte('\\')
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}

// shellANSI returns s as shells write it between $' and '. With ascii set, bytes beyond ASCII are escaped.
func shellANSI(s string, ascii bool) string {
	var sb strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			sb.WriteString(`\` + string(rune(c)))
		case c == 0x1b:
			sb.WriteString(`\E`)
		case c >= '\a' && c <= '\r':
			sb.WriteString(`\` + "abtnvfr"[c-'\a':c-'\a'+1])
		case c < ' ' || c == 0x7f || c >= utf8.RuneSelf && ascii:
			fmt.Fprintf(&sb, `\%03o`, c)
		default:
			sb.WriteByte(c)
		}
	}
	return sb.String()
}

// literal returns s as it stands between single quotes in Python and JavaScript. format is for control
// characters.
func literal(s, format string) string {
	var sb strings.Builder
	for i := range len(s) {
		switch short := strings.IndexByte("\n\r\t\\'", s[i]); {
		case short >= 0:
			sb.WriteString(`\` + "nrt\\'"[short:short+1])
		case s[i] < ' ' || s[i] == 0x7f:
			fmt.Fprintf(&sb, format, s[i])
		default:
			sb.WriteByte(s[i])
		}
	}
	return sb.String()
}
