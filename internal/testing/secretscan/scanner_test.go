package secretscan

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"
)

const secret = "correct\"<horse> &é/+\nbattery"

// TestEveryForm encodes a secret with what programs encode with, not with what the forms are made of, and
// expects it to be found in the middle of a text.
func TestEveryForm(t *testing.T) {
	asJSON := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, text := range map[string]string{
		"verbatim":         "a" + secret + "b",
		"JSON":             asJSON(map[string]string{"a": "x" + secret}),
		"JSON in JSON":     plainJSON(t, plainJSON(t, secret)),
		"JSON, slashes":    strings.ReplaceAll(plainJSON(t, secret), "/", `\/`),
		"JSON, plain":      plainJSON(t, "x"+secret+"y"),
		"JSON, ASCII":      fmt.Sprintf("%+q", secret),
		"%q":               fmt.Sprintf("%q", "x"+secret),
		"%x":               fmt.Sprintf("%x", "x"+secret),
		"%X":               fmt.Sprintf("%X", secret),
		"%v of bytes":      fmt.Sprint([]byte("x" + secret + "y")),
		"HTML":             template.HTMLEscapeString("x" + secret),
		"XML":              asElement(t, secret),
		"query":            url.Values{"a": {secret}}.Encode(),
		"path":             (&url.URL{Path: "x"}).JoinPath(url.PathEscape(secret)).String() + url.PathEscape(secret),
		"UTF-16":           littleEndian(secret),
		"base32":           base32.StdEncoding.EncodeToString([]byte(secret + "y")),
		"hex":              hex.EncodeToString([]byte("-" + secret)),
		"zip":              zipped(t, "entry", secret),
		"name in a zip":    zipped(t, secret, "entry"),
		"gzip":             gzipped(t, "x"+secret),
		"tar":              tarred(t, secret),
		"gzip in a zip":    zipped(t, "entry", gzipped(t, secret)),
		"tar in gzip":      gzipped(t, tarred(t, secret)),
		"base64 in base64": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(secret)))),
	} {
		t.Run(name, func(t *testing.T) {
			var s Scanner
			s.Add("it", secret)
			s.Add("it in base64", base64.StdEncoding.EncodeToString([]byte(secret))) // what is derived is a secret too
			if found := s.Scan([]byte(text)); len(found) == 0 || !strings.HasPrefix(found[0].Secret, "it") {
				t.Errorf("found %v", found)
			}
		})
	}
	for shift := range 7 {
		for end := range 7 {
			plain := []byte(strings.Repeat("x", shift) + secret + strings.Repeat("y", end))
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
				var s Scanner
				s.Add("it", secret)
				if found := s.Scan([]byte("before" + enc.EncodeToString(plain) + "after")); len(found) == 0 {
					t.Errorf("not found in base64 after %d and before %d bytes", shift, end)
				}
			}
		}
	}
}

// TestOnlyWhatIsThere looks for secrets in texts that have parts of them.
func TestOnlyWhatIsThere(t *testing.T) {
	var s Scanner
	if found := s.Scan([]byte(secret)); found != nil {
		t.Errorf("without secrets: %v", found)
	}
	s.Add("a", secret)
	s.Add("b", "correct\"<house>")
	for _, text := range []string{"", "c", "correct", "a correct <horse> & battery", secret[:len(secret)-1], zipped(t, "entry", secret[1:])} {
		if found := s.Scan([]byte(text)); found != nil {
			t.Errorf("%q: %v", text, found)
		}
	}
	found := s.Scan([]byte("xx" + secret + secret + " correct\"<house>"))
	if len(found) != 2 || found[0].Offset != 2 || found[0].Secret != "a" || found[1].Secret != "b" || found[1].Form != "verbatim" {
		t.Errorf("got %v, want a at 2, and then b verbatim", found)
	}
	if text := fmt.Sprint(found); strings.Contains(text, "correct") {
		t.Errorf("the description has the secret: %s", text)
	}
}

func plainJSON(t *testing.T, v string) string {
	var sb strings.Builder
	e := json.NewEncoder(&sb)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(sb.String())
}

func asElement(t *testing.T, text string) string {
	b, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"a"`
		Text    string   `xml:",chardata"`
	}{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func littleEndian(text string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("x" + text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func zipped(t *testing.T, name, content string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(t *testing.T, content string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tarred(t *testing.T, content string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "entry", Size: int64(len(content)), Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
