package leak

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"html/template"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// guardOf returns a guard that knows one confidential value.
func guardOf(secret string) *Guard {
	g := New()
	g.Remember(token, cty.StringVal(secret).Mark(value.Sensitive), cty.String)
	return g
}

// randomSecret returns a text that is recognized, of characters that are escaped somewhere and others.
func randomSecret(r *rand.Rand) string {
	kinds := [][]rune{
		[]rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), []rune("abcdefghijklmnopqrstuvwxyz0123456789 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
		[]rune("ab1\"'<>&%+/ =\\$`{}\n\t~!@:;,?#"), []rune("aö日本ß€😀é\u00a0\u2028\ufeff"), []rune("a1\x00\x01\a\b\x1b\x7f\r\n\v\f"),
	}
	for {
		chars := kinds[r.IntN(len(kinds))]
		if r.IntN(3) == 0 {
			chars = slices.Concat(kinds...)
		}
		var sb strings.Builder
		for range MinLength + r.IntN(1+r.IntN(200)) {
			sb.WriteRune(chars[r.IntN(len(chars))])
		}
		if s := cty.StringVal(sb.String()).AsString(); isSecret(s) {
			return s
		}
	}
}

// jsonOf returns s as a JSON string, without the quotes.
func jsonOf(s string, escapeHTML bool) string {
	var sb strings.Builder
	e := json.NewEncoder(&sb)
	e.SetEscapeHTML(escapeHTML)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(strings.TrimSpace(sb.String())[1:], `"`)
}

// upperEscapes writes the digits of \uXXXX in upper case.
func upperEscapes(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '\\' {
			if s[i+1] == 'u' {
				s = s[:i+2] + strings.ToUpper(s[i+2:i+6]) + s[i+6:]
			}
			i++
		}
	}
	return s
}

// lowerEscapes writes the digits of %XX in lower case.
func lowerEscapes(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' {
			s = s[:i] + strings.ToLower(s[i:i+3]) + s[i+3:]
		}
	}
	return s
}

func xmlOf(s string) string {
	var sb strings.Builder
	if err := xml.EscapeText(&sb, []byte(s)); err != nil {
		panic(err)
	}
	return sb.String()
}

func unquoted(s string) string { return s[1 : len(s)-1] }

// encoders write a text as it stands in others.
var encoders = map[string]func(string) string{
	"itself":         func(s string) string { return s },
	"JSON":           func(s string) string { return jsonOf(s, true) },
	"JSON, not HTML": func(s string) string { return jsonOf(s, false) },
	"JSON, upper":    func(s string) string { return upperEscapes(jsonOf(s, true)) },
	"JSON, slashes":  func(s string) string { return strings.ReplaceAll(jsonOf(s, false), "/", `\/`) },
	"HTML":           html.EscapeString,
	"HTML, named": func(s string) string {
		return strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(html.EscapeString(s))
	},
	"HTML, Python": func(s string) string {
		return strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(html.EscapeString(s))
	},
	"template":       template.HTMLEscapeString,
	"query":          url.QueryEscape,
	"query, spaces":  func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	"query, lower":   func(s string) string { return lowerEscapes(url.QueryEscape(s)) },
	"segment":        url.PathEscape,
	"segment, lower": func(s string) string { return lowerEscapes(url.PathEscape(s)) },
	"path":           func(s string) string { return (&url.URL{Path: s}).EscapedPath() },
	"address": func(s string) string {
		return strings.TrimPrefix((&url.URL{Scheme: "s", Host: "h", Path: "/" + s}).String(), "s://h/")
	},
	"fragment": func(s string) string { return (&url.URL{Fragment: s}).EscapedFragment() },
	"password": func(s string) string { return strings.TrimPrefix(url.UserPassword("u", s).String(), "u:") },
	"hex":      func(s string) string { return hex.EncodeToString([]byte(s)) },
	"%X":       func(s string) string { return fmt.Sprintf("%X", s) },
	"%q":       func(s string) string { return unquoted(strconv.Quote(s)) },
	"%+q":      func(s string) string { return unquoted(strconv.QuoteToASCII(s)) },
	"graphic":  func(s string) string { return unquoted(strconv.QuoteToGraphic(s)) },
	"shell":    func(s string) string { return strings.ReplaceAll(s, `'`, `'\''`) },
	"HCL": func(s string) string {
		return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s))
	},
}

// TestEncoders hides random values in all spellings. Nothing that is eight bytes long may be left of them.
func TestEncoders(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range rounds(t, 300) {
		secret := randomSecret(r)
		g := guardOf(secret)
		for name, encode := range encoders {
			expectHidden(t, g, name, secret, "<- "+encode(secret)+" ->", encode(secret))
		}
		if text := xmlOf(secret); !strings.Contains(text, "\uFFFD") { // which stands for what XML cannot write
			expectHidden(t, g, "XML", secret, text, text)
		}
	}
}

// rounds is how many rounds a test of random cases has: some, or as many as its variable says.
func rounds(t *testing.T, some int) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("MAYFLY_TEST_LEAK_ROUNDS")); err == nil {
		return n
	}
	return some
}

// expectHidden fails if a text shows eight bytes or more of what is to be hidden.
func expectHidden(t *testing.T, g *Guard, name, secret, text, hidden string) {
	t.Helper()
	got := g.Redact(text)
	for i := 0; i+MinLength <= len(hidden); i++ {
		if piece := hidden[i : i+MinLength]; strings.Contains(strings.ReplaceAll(got, Withheld, "\n"), piece) && isSecret(piece) {
			t.Fatalf("%s of %q: %q became %q, with %q", name, secret, text, got, piece)
		}
	}
}

// TestBase64 hides values that are encoded together with others, in lines or not.
func TestBase64(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for range rounds(t, 1000) {
		secret := randomSecret(r)
		if r.IntN(4) == 0 {
			if secret = cty.StringVal(string(random(MinLength + r.IntN(40)))).AsString(); !isSecret(secret) || utf8.ValidString(secret) {
				continue
			}
		}
		g := guardOf(secret)
		before, after := random(r.IntN(1+r.IntN(200))), random(r.IntN(1+r.IntN(200)))
		all := slices.Concat(before, []byte(secret), after)
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			text := e.EncodeToString(all)
			from, to := (8*len(before)+5)/6, 8*(len(before)+len(secret))/6
			expectHidden(t, g, "Base64", secret, text, text[from:to])
			for _, length := range []int{64, 76} {
				for _, end := range []string{"\n", "\r\n", "\n    ", "\n| ", "\n│   ", "\n+ ", "\n- ", `\n`, `\r\n`, `\n  `, `\\n`} {
					wrapped := "certificate: " + inLinesOf(text, length, end) + end + "the end"
					out := strings.ReplaceAll(g.Redact(wrapped), end, "")
					if hidden := text[from:to]; strings.Contains(out, hidden[:MinLength]) || strings.Contains(out, hidden[len(hidden)-MinLength:]) {
						t.Fatalf("Base64 of %q in lines that end in %q: %q became %q", secret, end, wrapped, out)
					}
				}
			}
			if out := g.Redact(text + `\`); strings.Contains(out, text[from:to]) {
				t.Fatalf("%q before a backslash became %q", text, out)
			}
			for _, special := range []string{url.QueryEscape(text), lowerEscapes(url.QueryEscape(text)), strings.ReplaceAll(text, "/", `\/`)} {
				if out := g.Redact(special); strings.Contains(out, url.QueryEscape(text[from:to])) || !strings.Contains(out, Withheld) {
					t.Fatalf("%q became %q", special, out)
				}
			}
		}
	}
}

func inLinesOf(text string, length int, end string) string {
	var lines []string
	for line := range slices.Chunk([]byte(text), length) {
		lines = append(lines, string(line))
	}
	return strings.Join(lines, end)
}

// TestBase64LineByLine hides what programs write of a value that is encoded alone, in output that comes line
// by line.
func TestBase64LineByLine(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range rounds(t, 300) {
		secret := randomSecret(r)
		g := guardOf(secret)
		for _, length := range []int{64, 76} {
			text := base64.StdEncoding.EncodeToString([]byte(secret + "\n"))
			for line := range strings.SplitSeq(inLinesOf(text[:8*len(secret)/6], length, "\n"), "\n") {
				if isSecret(line) {
					expectHidden(t, g, "Base64", secret, line, line)
				}
			}
		}
	}
}

// TestLinesAreNotValues finds no value in another one whose Base64 begins with the same line, as that of all
// keys of one kind does. Only output and logs, which come line by line, are without that line.
func TestLinesAreNotValues(t *testing.T) {
	const frame = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA"
	mine, other := frame+"u5e9Lq0KcWv3nZ\nq8Xr\n", frame+"x0Trm4Hd1PbYs7\nw2Jk\n"
	g := guardOf(mine)
	for name, text := range map[string]string{
		"in one line": base64.StdEncoding.EncodeToString([]byte(other)),
		"in lines":    inLinesOf(base64.StdEncoding.EncodeToString([]byte(other)), 64, "\n"),
	} {
		if g.Contains(text) {
			t.Errorf("%s, another key has the value", name)
		}
		if out, found := g.RedactDocument([]byte(text)); found {
			t.Errorf("%s, a document became %q", name, out)
		}
		if out := g.Redact(text); out == text {
			t.Errorf("%s, the line is shown", name)
		}
		defer g.Publish(slices.Values([][]byte{[]byte(text)}))()
	}
	if code := base64.StdEncoding.EncodeToString([]byte(mine)); g.Redact(code) == code || !g.Contains(code) {
		t.Error("the key is in the open")
	}
}

// TestEdgesOfBase64 finds no value in a code of one that differs in the bits that its first or last byte has
// in the characters next to it.
func TestEdgesOfBase64(t *testing.T) {
	const secret = "kX6-94e0d5ab-p"
	g := guardOf(secret)
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			for after := range 3 {
				code := func(s string) string {
					return alphabet.EncodeToString([]byte(strings.Repeat("\xff", before) + s + strings.Repeat("?", after)))
				}
				if !g.Contains(code(secret)) {
					t.Errorf("the value is not found with %d bytes before and %d after it", before, after)
				}
				for bit := range 8 {
					for _, at := range []int{0, len(secret) - 1} {
						other := []byte(secret)
						if other[at] ^= 1 << bit; g.Contains(code(string(other))) {
							t.Errorf("%q is found as %q, with %d bytes before and %d after it", other, secret, before, after)
						}
					}
				}
			}
		}
	}
	for _, text := range []string{`"\u002B\nkX6-"`, "a%2B", `a\n`, "x=2B", "x&#43;"} { // what may be an escape
		code := base64.StdEncoding.EncodeToString([]byte("\xff" + secret))
		if !g.Contains(text+code[2:]) || g.Contains("aaaaaaaB"+code[2:]) {
			t.Errorf("after %q: %t", text, g.Contains(text+code[2:]))
		}
	}
}

// TestPrograms hides values as programs write them.
func TestPrograms(t *testing.T) {
	const secret = "a'b\"c /d<é>&$`\\x\n=+~😀${%{1}"
	g := guardOf(secret)
	for program, text := range map[string]string{
		"jq":                      `"a'b\"c /d<é>&$` + "`" + `\\x\n=+~😀${%{1}"`,
		"jq -a":                   `"a'b\"c /d<\u00e9>&$` + "`" + `\\x\n=+~\ud83d\ude00${%{1}"`,
		"php":                     `"a'b\"c \/d<\u00e9>&$` + "`" + `\\x\n=+~\ud83d\ude00${%{1}"`,
		".NET":                    `"a\u0027b\u0022c /d\u003C\u00E9\u003E\u0026$\u0060\\x\n=\u002B~\uD83D\uDE00${%{1}"`,
		"Gson":                    `"a\u0027b\"c /d\u003cé\u003e\u0026$` + "`" + `\\x\n\u003d+~😀${%{1}"`,
		"encodeURIComponent":      "a'b%22c%20%2Fd%3C%C3%A9%3E%26%24%60%5Cx%0A%3D%2B~%F0%9F%98%80%24%7B%25%7B1%7D",
		"encodeURI":               "a'b%22c%20/d%3C%C3%A9%3E&$%60%5Cx%0A=+~%F0%9F%98%80$%7B%25%7B1%7D",
		"URLSearchParams":         "a%27b%22c+%2Fd%3C%C3%A9%3E%26%24%60%5Cx%0A%3D%2B%7E%F0%9F%98%80%24%7B%25%7B1%7D",
		"urllib.parse.quote":      "a%27b%22c%20/d%3C%C3%A9%3E%26%24%60%5Cx%0A%3D%2B~%F0%9F%98%80%24%7B%25%7B1%7D",
		"html.escape of Python":   "a&#x27;b&quot;c /d&lt;é&gt;&amp;$`\\x\n=+~😀${%{1}",
		"repr of Python":          `'a\'b"c /d<é>&$` + "`" + `\\x\n=+~😀${%{1}'`,
		"shlex.quote":             `'a'"'"'b"c /d<é>&$` + "`" + `\x` + "\n" + `=+~😀${%{1}'`,
		"bash, printf %q":         `$'a\'b"c /d<é>&$` + "`" + `\\x\n=+~😀${%{1}'`,
		"bash, printf %q, LANG=C": `$'a\'b"c /d<\303\251>&$` + "`" + `\\x\n=+~\360\237\230\200${%{1}'`,
		"YAML, single quotes":     `'a''b"c /d<é>&$` + "`" + `\x` + "\n" + `=+~😀${%{1}'`,
		"GitHub Actions":          "::error::a'b\"c /d<é>&$`\\x%0A=+~😀${%25{1}",
		"HTTP Basic":              "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+secret)),
	} {
		out := g.Redact(text)
		if !strings.Contains(out, Withheld) || len(out) > len(Withheld)+40 || strings.Contains(out, "1}") || strings.Contains(out, "c /") {
			t.Errorf("%s: %s became %s", program, text, out)
		}
	}
	if _, err := time.ParseDuration(secret); !strings.Contains(err.Error(), `\xc3\xa9`) || g.Redact(err.Error()) != `time: invalid duration "`+Withheld+`"` {
		t.Errorf("an invalid duration: got %s, want the value in it hidden", g.Redact(err.Error()))
	}
	if out := guardOf(`it's a "b"`).Redact(`it\'s\ a\ \"b\"`); out != Withheld {
		t.Errorf("bash, printf %%q: got %s, want %s", out, Withheld)
	}
}

// TestControlCharacters hides values with characters that each program writes in its own way.
func TestControlCharacters(t *testing.T) {
	const secret = "k3y\a\x01\x1b-\t\v\x7f\\'é\x1f.17"
	g := guardOf(secret)
	for program, text := range map[string]string{
		"bash, printf %q":         `k3y\a\001\E-\t\v\177\\\'é\037.17`,
		"bash, printf %q, LANG=C": `k3y\a\001\E-\t\v\177\\\'\303\251\037.17`,
		"repr of Python":          `k3y\x07\x01\x1b-\t\x0b\x7f\\\'é\x1f.17`,
		"inspect of Node.js":      `k3y\x07\x01\x1B-\t\x0B\x7F\\\'é\x1F.17`,
		"Python, JSON":            "k3y\\u0007\\u0001\\u001b-\\t\\u000b\\u007f\\\\'\\u00e9\\u001f.17",
		".NET, JSON":              "k3y\\u0007\\u0001\\u001B-\\t\\u000B\\u007F\\\\\\u0027\\u00E9\\u001F.17",
	} {
		if out := g.Redact("<" + text + ">"); out != "<"+Withheld+">" {
			t.Errorf("%s: %s: got %s, want %s", program, text, out, "<"+Withheld+">")
		}
	}
	for text, spellings := range map[string][]string{
		"größe-17-straße":         {`gr\u00f6\u00dfe-17-stra\u00dfe`, `gr\u00F6\u00DFe-17-stra\u00DFe`},
		"a\u2028\"b\u2029-17\"é":  {"a\u2028\\\"b\u2029-17\\\"é", `a\u2028\"b\u2029-17\"é`, `a\u2028\"b\u2029-17\"\u00E9`},
		"a\u2028\x01b-17":         {"a\u2028\\u0001b-17", `a\u2028\u0001b-17`},
		"a\u2029\x01b-17":         {"a\u2029\\u0001b-17", `a\u2029\u0001b-17`},
		"é<17\u2029-as-Go-does":   {`é\u003c17\u2029-as-Go-does`},
		"\u2029-separators-alone": {"\u2029-separators-alone", `\u2029-separators-alone`},
	} {
		g := guardOf(text)
		for _, as := range spellings {
			if out := g.Redact(as); out != Withheld {
				t.Errorf("%q in JSON: got %s, want %s", text, out, Withheld)
			}
		}
	}
	for text, as := range map[string]string{"~tilde-17": `\~tilde-17`, "#number-17": `\#number-17`, "a=~b:~c=#17~": `a=\~b:\~c=#17~`} {
		if out := guardOf(text).Redact(as); out != Withheld {
			t.Errorf("bash, printf %%q of %s: got %s, want %s", text, out, Withheld)
		}
	}
}

// TestFormsAreFew keeps the cost of a value down.
func TestFormsAreFew(t *testing.T) {
	for secret, most := range map[string]int{
		"abcdefgh12345678": 6, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": 20, "p4$$w0rd!&<>\"'+": 60,
	} {
		got := forms(secret)
		if len(got) > most {
			t.Errorf("%d forms: %+v", len(got), got)
		}
		seen := map[string]bool{}
		for _, f := range got {
			if !isSecret(f.text) || seen[f.text] {
				t.Errorf("%q is a form, before: %t", f.text, seen[f.text])
			}
			seen[f.text] = true
		}
	}
}

// TestOthers changes no texts that do not have the value.
func TestOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	words := strings.Fields("error the provider returned region us-east-1 token password resource aws_instance.web module.vpc https://registry.example.com/v1 null true 200 404 {} [] = => \"id\": \"name\": 17 0x1f sha256 YWJj LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t %20 \\n &quot; user:")
	guards := make([]*Guard, 20)
	for i := range guards {
		guards[i] = New()
		for range 50 {
			guards[i].Remember(token, cty.StringVal(randomSecret(r)).Mark(value.Sensitive), cty.String)
		}
	}
	for i := range rounds(t, 20000) {
		var sb strings.Builder
		for range 1 + r.IntN(20) {
			switch r.IntN(8) {
			case 0:
				fmt.Fprintf(&sb, "%x", r.Uint64())
			case 1:
				fmt.Fprint(&sb, base64.StdEncoding.EncodeToString([]byte(words[r.IntN(len(words))])))
			default:
				sb.WriteString(words[r.IntN(len(words))])
			}
			sb.WriteString([]string{" ", "\n", "", "/"}[r.IntN(4)])
		}
		if text := sb.String(); guards[i%len(guards)].Redact(text) != text {
			t.Fatalf("%q: got %q, want %q", text, guards[i%len(guards)].Redact(text), text)
		}
	}
}
