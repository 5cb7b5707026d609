package verdicts

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/suite"
)

// TestJUnit decodes a report as CI systems do: by the elements and attributes of JUnit XML, not by the types
// that it is written from. Texts may have whatever XML gives a meaning.
func TestJUnit(t *testing.T) {
	run := func(name string, v suite.Verdict, errors ...string) *suite.Run {
		r := &suite.Run{TestRun: &config.TestRun{Name: name}, Verdict: v, Duration: 1500 * time.Millisecond}
		for _, e := range errors {
			r.Diags = append(r.Diags, diag.Errorf("Test assertion failed", "%s", e)...)
		}
		return r
	}
	odd := "a ]]> b <c> & \"d\" \x01"
	files := []*suite.File{
		{TestFile: &config.TestFile{Name: "a<b>.tftest.hcl"}, Runs: []*suite.Run{
			run("passes", suite.Pass), run("fails", suite.Fail, odd), run("breaks", suite.Error, "broken"), run("skipped", suite.Skip),
		}},
		{TestFile: &config.TestFile{Name: "empty.tftest.hcl"}},
	}
	var out strings.Builder
	if err := JUnit(&out, files); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{} // what is in each testcase
	var suites []string
	var name, text string
	for d := xml.NewDecoder(strings.NewReader(out.String())); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		switch token := token.(type) {
		case xml.StartElement:
			attrs := map[string]string{}
			for _, a := range token.Attr {
				attrs[a.Name.Local] = a.Value
			}
			text = ""
			switch token.Name.Local {
			case "testsuite":
				suites = append(suites, strings.Join([]string{attrs["name"], attrs["tests"], attrs["skipped"], attrs["failures"], attrs["errors"]}, " "))
			case "testcase":
				name = attrs["name"]
				cases[name] = attrs["classname"] + " " + attrs["time"]
			}
		case xml.CharData:
			text += string(token)
		case xml.EndElement:
			if kind := token.Name.Local; kind == "skipped" || kind == "failure" || kind == "error" {
				cases[name] += " " + kind + " " + strings.TrimSpace(text)
			}
		}
	}
	if got := strings.Join(suites, ", "); got != "a<b>.tftest.hcl 4 1 1 1, empty.tftest.hcl 0 0 0 0" {
		t.Errorf("the suites: got %s, want %s", got, "a<b>.tftest.hcl 4 1 1 1, empty.tftest.hcl 0 0 0 0")
	}
	for name, want := range map[string]string{
		"passes":  "a<b>.tftest.hcl 1.500000",
		"fails":   "a<b>.tftest.hcl 1.500000 failure Test assertion failed\na ]]> b <c> & \"d\" \uFFFD",
		"breaks":  "a<b>.tftest.hcl 1.500000 error Test assertion failed\nbroken",
		"skipped": "a<b>.tftest.hcl  skipped ",
	} {
		if cases[name] != want {
			t.Errorf("%s: got %q, want %q", name, cases[name], want)
		}
	}
}
