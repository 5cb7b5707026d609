package markdown

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/show/view/report"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func written(t testing.TB, c report.Content) string {
	t.Helper()
	var sb strings.Builder
	if err := Write(&sb, c); err != nil {
		t.Fatal(err)
	}
	return sb.String()
}

// row returns a change of a kind with a small block.
func row(kind, address string) report.Row {
	headline := map[string]string{"delete": "will be destroyed", "replace": "must be replaced", "update": "will be updated in-place", "create": "will be created"}[kind]
	return report.Row{Address: address, Kind: kind, Headline: headline, Text: "  ~ resource \"t_x\" \"a\" {\n      + new  = 1\n      - old  = 2 -> null\n      ~ size = 1 -> 2\n        # (3 unchanged attributes hidden)\n    }\n"}
}

func TestGolden(t *testing.T) {
	plan := report.Content{
		Title: "Plan", Where: "2026-01-02 03:04:05 +00:00, Mayfly 1.0.0", Directory: "infra/prod", Workspace: "default",
		Summary: "Plan: 14 to add, 1 to change, 2 to destroy.", Banner: "-target or -exclude leaves parts of the configuration out.",
		Notes:   []report.Note{{Text: "Warning: Old\n\nIt is old."}, {Bad: true, Text: "Error: It `failed`\n\n```\n# <b>not bold</b> @octocat #1\n```"}},
		Outputs: "  + url = \"https://example.com\"\n",
		Folds:   []string{"will be created; they differ in name and tags.n"}, Actions: 2,
	}
	for i := range 12 {
		r := row("create", fmt.Sprintf("t_x.many[%d]", i))
		r.Fold = 1
		plan.Rows = append(plan.Rows, r)
	}
	replaced := row("replace", "t_x.web")
	replaced.Text = "-/+ resource \"t_x\" \"web\" {\n      ~ name = \"a\" -> \"b\" # forces replacement\n    }\n"
	replaced.Why = []string{"name can't be changed (main.tf:3)"}
	plan.Rows = append(plan.Rows, replaced, row("delete", `t_x.old["a_b"]`), row("update", "module.m.t_x.same"), row("create", "t_x.new"),
		report.Row{Address: `t_x.later["*"]`, Kind: "deferred", Headline: "is deferred: its instances are known only after an apply", Text: "  # (waits for t_x.new)\n"})

	apply := report.Content{Title: "Apply", Summary: plan.Summary, Ended: "Applied: 1 done, 1 failed, 1 not begun.", Folds: plan.Folds}
	for i, outcome := range []string{report.Done, "failed", report.NotBegun} {
		r := row("update", fmt.Sprintf("t_x.a[%d]", i))
		r.Outcome = outcome
		if outcome == report.Done {
			r.Took = "1.5 s"
		}
		apply.Rows = append(apply.Rows, r)
	}

	tests := report.Content{Title: "Tests", Summary: "Failure! 1 passed, 1 failed.", Tests: []report.Test{
		{File: "tests/a.tftest.hcl", Verdict: "fail", Bad: true},
		{File: "tests/a.tftest.hcl", Run: "sets|name", Verdict: "pass", Took: "12ms"},
		{File: "tests/a.tftest.hcl", Run: "checks", Verdict: "fail", Bad: true, Took: "1.002s", Text: "Error: Test assertion failed\n\n  on tests/a.tftest.hcl line 3"},
	}}
	converge := report.Content{Title: "Apply", Summary: "Plan: 1 to add.", Rounds: 2, Actions: 1, Banner: "The plan is not complete."}
	for _, r := range []report.Row{row("create", "t_x.a"), row(report.Deferred, `t_x.b["*"]`), row("update", "t_x.a"), row(report.Deferred, `t_x.c["*"]`)} {
		r.Round = 1 + len(converge.Rows)/2
		if r.Kind == report.Deferred {
			r.Headline, r.Why = "is deferred: its instances are known only after an apply", []string{"It waits for t_x.a."}
		}
		converge.Rows = append(converge.Rows, r)
	}

	for name, c := range map[string]report.Content{"plan": plan, "apply": apply, "converge": converge, "tests": tests, "nothing": {Title: "Plan", Banner: "No changes: the infrastructure is as the configuration wants it."}} {
		t.Run(name, func(t *testing.T) {
			got, path := written(t, c), filepath.Join("testdata", name+".md")
			if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
				filetest.Write(t, path, got)
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

// TestLimit writes more than a comment has room for.
func TestLimit(t *testing.T) {
	for _, n := range []int{100, 300, 5000, 20_000} {
		c := report.Content{Title: "Plan", Summary: "Plan: many."}
		for i := range n {
			for _, kind := range []string{"create", "update", "replace", "delete"} {
				c.Rows = append(c.Rows, row(kind, fmt.Sprintf("t_x.%s[%d]", kind, i)))
			}
		}
		text := written(t, c)
		if len(text) > Limit {
			t.Errorf("%d: %d bytes", n, len(text))
		}
		if !strings.Contains(text, "A comment has no room for everything") {
			t.Errorf("%d: what is left out is not said to be missing", n)
		}
		listed := strings.Count(text, "<li>") + strings.Count(text, "<details>")
		left := regexp.MustCompile(`(\d+) more entries are not listed`).FindStringSubmatch(text)
		switch {
		case n == 100 && (left != nil || listed != 4*n):
			t.Errorf("%d: %d are listed, left out %q", n, listed, left)
		case n > 300 && (left == nil || fmt.Sprint(4*n-listed) != left[1]):
			t.Errorf("%d: %d are listed, left out %q", n, listed, left)
		}
		// What is less important has no details where something more important lacks them.
		lacking := false
		for _, title := range []string{"Destroy", "Replace", "Change in place", "Create"} {
			_, section, _ := strings.Cut(text, "#### "+title)
			section, _, _ = strings.Cut(section, "#### ")
			if lacking && strings.Contains(section, "<details>") {
				t.Errorf("%d: %s has details, and what is worse has not", n, title)
			}
			lacking = lacking || strings.Count(section, "<details>") < n
		}
	}
	long := row("create", "t_x.a")
	long.Text = strings.Repeat("      + line = 1\n", 100_000)
	if text := written(t, report.Content{Title: "Plan", Rows: []report.Row{long, row("create", strings.Repeat("x", 100_000))}}); len(text) > Limit || !strings.Contains(text, "more lines of it are left out") || !strings.Contains(text, "1 more entries are not listed") {
		t.Errorf("%d bytes", len(text))
	}
	if err := Write(broken{}, report.Content{}); err == nil {
		t.Error("an error of writing is lost")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

var _ io.Writer = broken{}

// mark is in each text of the run, to tell its places in a document from the document's own text.
const mark = "XyZ9"

// contained fails if a text of the run is anywhere but in a fenced block or in an element for code, or if the
// document's own markup is not what it should be.
func contained(t rapid.TB, doc string) {
	t.Helper()
	if len(doc) > Limit {
		t.Errorf("the document has %d bytes", len(doc))
	}
	own := regexp.MustCompile(`</?(details|summary|code|p|b|ul|li|table|tr|td|th)>`)
	fence := ""
	for line := range strings.SplitSeq(doc, "\n") {
		if fence != "" {
			if strings.TrimSpace(line) == fence {
				fence = ""
			} else if ticks := strings.TrimLeft(line, " "); len(ticks) >= len(fence) && strings.Trim(ticks[:len(fence)], "`") == "" {
				t.Errorf("a text ends its block: %q", line)
			}
			continue
		}
		if strings.HasPrefix(line, "```") {
			fence = strings.TrimSuffix(line, "diff")
			continue
		}
		outside := regexp.MustCompile(`<code>[^<>]*</code>`).ReplaceAllStringFunc(line, func(s string) string {
			if inner := s[len("<code>") : len(s)-len("</code>")]; strings.ContainsAny(inner, "`*_[]@|\\~$!<>") || strings.Contains(strings.ReplaceAll(inner, "&#", ""), "#") {
				t.Errorf("code is not escaped: %q", s)
			}
			return ""
		})
		if strings.Contains(outside, mark) {
			t.Errorf("a text of the run is not within code: %q", line)
		}
		if rest := own.ReplaceAllString(outside, ""); strings.ContainsAny(rest, "<>&`@|*_[]\\~") || strings.Contains(strings.TrimLeft(rest, "#"), "#") {
			t.Errorf("there is other markup: %q", line)
		}
	}
	if fence != "" {
		t.Error("a block does not end")
	}
	for _, tag := range []string{"details", "summary", "code", "ul", "li", "table", "tr", "td", "p"} {
		_, outside := split(doc)
		if strings.Count(outside, "<"+tag+">") != strings.Count(outside, "</"+tag+">") {
			t.Errorf("elements %s: got %d begun, want as many ended: %d", tag, strings.Count(outside, "<"+tag+">"), strings.Count(outside, "</"+tag+">"))
		}
	}
}

// split separates what is in fenced blocks from the rest.
func split(doc string) (inside, outside string) {
	fence := ""
	var in, out strings.Builder
	for line := range strings.SplitSeq(doc, "\n") {
		switch {
		case fence != "" && line == fence:
			fence = ""
		case fence != "":
			in.WriteString(line + "\n")
		case strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "diff")
		default:
			out.WriteString(line + "\n")
		}
	}
	return in.String(), out.String()
}

// content returns a report in which each text is s.
func content(s string) report.Content {
	c := report.Content{
		Title: "Plan", Where: s, Directory: s, Workspace: s, Outputs: s, Notes: []report.Note{{Text: s}, {Bad: true, Text: s}}, Folds: []string{"will be created; they differ in " + s},
		Tests: []report.Test{{File: s, Run: s, Verdict: "fail", Bad: true, Text: s}, {File: s, Verdict: "pass"}},
	}
	for i := range 12 {
		c.Rows = append(c.Rows, report.Row{Address: fmt.Sprint(s, i), Kind: "create", Headline: "has moved to " + s, Text: s, Why: []string{s}, Fold: 1})
	}
	c.Rows = append(c.Rows, report.Row{Address: s, Kind: "delete", Text: s, Outcome: "failed", Took: "1 s"})
	return c
}

func TestTextsAreContained(t *testing.T) {
	pieces := []string{
		mark, "`", "``````", "\n", "\r", "\n\n", "\n```\n", "</details>", "</code>", "<script>", "<!--", "@octocat", "#12", "|", "[a](http://b)", "**", "_", "~~~", "&lt;", "$", "!1",
		"\u202e", "\u2028", "\x00", "\xff", " ", "    ", "# ", "- ", "+ ", "~ ", "-/+ ", "www.example.com", "a/b@1", "0123456789abcdef0123456789abcdef01234567", ":smile:",
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := mark + strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 20).Draw(rt, "text"), "")
		contained(rt, written(t, content(s)))
	})
}

func FuzzTextsAreContained(f *testing.F) {
	f.Add("`")
	f.Add("\n```\n</details>\n@a #1 | <b>")
	f.Fuzz(func(t *testing.T, s string) { contained(t, written(t, content(mark+s))) })
}
