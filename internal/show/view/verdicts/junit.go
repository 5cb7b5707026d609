package verdicts

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/suite"
)

// junitSuites is a report in JUnit XML, of which there are many dialects and no standard. It keeps to the
// elements and attributes that CI systems agree on: a testsuite for each test file and a testcase for each
// run.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	junitTotals
	Suites []junitSuite `xml:"testsuite"`
}

// junitTotals are the numbers of runs, and their time in seconds.
type junitTotals struct {
	Tests    int    `xml:"tests,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Time     string `xml:"time,attr"`

	took time.Duration
}

// add counts the runs of a file.
func (t *junitTotals) add(o junitTotals) {
	t.Tests, t.Skipped, t.Failures, t.Errors = t.Tests+o.Tests, t.Skipped+o.Skipped, t.Failures+o.Failures, t.Errors+o.Errors
	t.took += o.took
	t.Time = seconds(t.took)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }

// junitSuite is the outcome of a test file.
type junitSuite struct {
	Name string `xml:"name,attr"`
	junitTotals
	Cases []junitCase `xml:"testcase"`
}

// junitCase is the outcome of a run, with at most one of its last three members. Time is in seconds; it is
// missing for a run that was skipped.
type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr,omitempty"`
	Skipped *struct{}     `xml:"skipped"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
}

// junitProblem says why a run failed. CI systems show Message in lists and Text when one is opened.
type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

// JUnit writes the outcomes of files as JUnit XML. It has the texts of diagnostics, and no values besides. It
// fails if w fails.
func JUnit(w io.Writer, files []*suite.File) error {
	doc := junitSuites{junitTotals: junitTotals{Time: seconds(0)}}
	for _, f := range files {
		s := junitSuite{Name: f.Name, junitTotals: junitTotals{Tests: len(f.Runs)}}
		for _, r := range f.Runs {
			c := junitCase{Name: r.Name, Class: f.Name}
			switch r.Verdict {
			case suite.Skip, suite.Pending:
				s.Skipped++
				c.Skipped = &struct{}{}
			case suite.Fail:
				s.Failures++
				c.Failure = problem(r.Diags, "Test run failed")
			case suite.Error:
				s.Errors++
				c.Error = problem(r.Diags, "Encountered an error")
			}
			if c.Skipped == nil {
				c.Time = seconds(r.Duration)
				s.took += r.Duration
			}
			s.Cases = append(s.Cases, c)
		}
		s.Time = seconds(s.took)
		doc.add(s.junitTotals)
		doc.Suites = append(doc.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// problem returns the errors of a run, each with its place. Warnings are left out: they made nothing fail.
func problem(diags diag.List, message string) *junitProblem {
	out := &junitProblem{Message: message}
	for _, d := range diags {
		if d.Severity == diag.Error {
			at := ""
			if d.Subject != nil {
				at = d.Subject.String() + ": "
			}
			out.Text += fmt.Sprintf("%s%s\n%s\n", at, d.Summary, d.Detail)
		}
	}
	out.Text = strings.Map(inXML, out.Text)
	return out
}

// inXML replaces a character that no XML document can have. Package encoding/xml does so in attributes and
// text, but not in CDATA sections.
func inXML(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF' {
		return '\uFFFD'
	}
	return r
}
