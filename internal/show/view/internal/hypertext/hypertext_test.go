package hypertext_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/show/view/internal/hypertext"
)

// TestDocument checks that a page is well-formed, that its policy admits its style sheet and its script and
// nothing else, and that a text stays a text.
func TestDocument(t *testing.T) {
	for _, script := range []hypertext.Markup{"", "'use strict';"} {
		p := &hypertext.Page{}
		p.Head("a <title> & more", "a{color:red}\n", script)
		p.In(`<p title="`, "\"'><script>\u202e", `">`)
		p.Text("x\x00y")
		p.Raw("</p>\n")
		p.Foot(script)
		page := p.String()
		policy := regexp.MustCompile(`content="(default-src [^"]*)"`).FindStringSubmatch(page)[1]
		want := "default-src 'none'; style-src " + hashOf(t, page, "style")
		if script != "" {
			want += "; script-src " + hashOf(t, page, "script")
		}
		if want += "; base-uri 'none'; form-action 'none'"; policy != want {
			t.Errorf("the policy: got %s, want %s", policy, want)
		}
		for _, s := range []string{"<title>a &lt;title&gt; &amp; more</title>", `<p title="&#34;&#39;&gt;&lt;script&gt;\u{202e}">x\u{0}y</p>`} {
			if !strings.Contains(page, s) {
				t.Errorf("%s is not in\n%s", s, page)
			}
		}
		d := xml.NewDecoder(strings.NewReader(page))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s\n%s", err, page)
			}
		}
	}
}

// hashOf returns the source expression of what is within the only element of a kind.
func hashOf(t *testing.T, page, element string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, "<"+element+">")
	text, _, found := strings.Cut(rest, "</"+element+">")
	if !found {
		t.Fatalf("there is no %s in\n%s", element, page)
	}
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
