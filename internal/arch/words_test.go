package arch

import (
	"path"
	"regexp"
	"slices"
	"testing"
)

// words are what no file of the module says, each with the reason. The file with this table is not looked at.
var words = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`(?i)\bissue #?[0-9]+|\bGH-[0-9]+|\(#[0-9]+\)`), "says nothing once the tracker is gone: give the reason itself"},
	{regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`), "is either done or not started: no promises in the sources"},
	{regexp.MustCompile(`(^|[^\w.~$}])/(work|root|home/[a-z]+|Users)/`), "is the path of one machine"},
	{regexp.MustCompile(`(?i)\b(previous|earlier|last|coding|chat|agent) sessions?\b`), "is about how the text came to be"},
	{regexp.MustCompile(`(?i)\b(sub-?agents?|helper agents?|language model|chatgpt|claude|copilot|LLM)\b`), "is about how the text came to be"},
	{regexp.MustCompile(`(?i)\b(time ?box|as the brief says|task brief|the lead (?:said|wants|asked))\b`), "is about how the text came to be"},
	{regexp.MustCompile(`\b(spec|seeds)/[a-z-]+\.(md|txt)\b`), "names a document that readers do not have"},
	{regexp.MustCompile(`(?i)\bcopied from (terraform|opentofu)\b`), "must not be true: every line is written here"},
}

// texts are the kinds of files that are read for words. Others may be what a build or a run left.
var texts = []string{".go", ".md", ".tf", ".tofu", ".hcl", ".txtar", ".proto", ".mod", ".golden"}

func TestWords(t *testing.T) {
	looked := 0
	walk(t, func(name, file string) {
		if name == "internal/arch/words_test.go" || name != ".ci/run" && !slices.Contains(texts, path.Ext(name)) {
			return
		}
		looked++
		lines(t, file, func(n int, line string) {
			for _, w := range words {
				if found := w.pattern.FindString(line); found != "" {
					t.Errorf("%s:%d: %q %s", name, n, found, w.why)
				}
			}
		})
	})
	const few = 100
	if looked < few {
		t.Errorf("only %d files were read: the walk is broken", looked)
	}
}

func TestWordPatterns(t *testing.T) {
	matches := func(s string) bool {
		return slices.ContainsFunc(words, func(w struct {
			pattern *regexp.Regexp
			why     string
		},
		) bool {
			return w.pattern.MatchString(s)
		})
	}
	for _, bad := range []string{
		"see issue #12", "Issue 7", "fixed (#41)", "// TODO later", `"/work/x"`, "cd /root/go", "/home/jo/x", "found in an earlier session",
		"a sub-agent wrote it", "spec/cli.md", "the lead said so",
	} {
		if !matches(bad) {
			t.Errorf("%q is not recognised", bad)
		}
	}
	for _, good := range []string{
		"a session ends", "the issue is that", "/tmp/work/x", "~/work/", "root/", "https://example.com/roots/", "leads to", "the session of an operation", "#12 of 40",
	} {
		if matches(good) {
			t.Errorf("%q is taken for forbidden", good)
		}
	}
}
