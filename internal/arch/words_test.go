package arch

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wording is a wording that is not wanted. A line that has none of the parts, in lower case, does not match
// the pattern: looking for them takes a fraction of the time.
type wording struct {
	parts   []string
	pattern *regexp.Regexp
	why     string
}

// find returns the wording in a text, whose form in lower case is lower; "" if it has none.
func (w wording) find(text, lower string) string {
	if !slices.ContainsFunc(w.parts, func(part string) bool { return strings.Contains(lower, part) }) {
		return ""
	}
	return w.pattern.FindString(text)
}

// words are what no file of the module says, each with the reason. The file with this table is not looked at.
var words = []wording{
	{[]string{"issue", "gh-", "(#"}, regexp.MustCompile(`(?i)\bissue #?[0-9]+|\bGH-[0-9]+|\(#[0-9]+\)`), "says nothing once the tracker is gone: give the reason itself"},
	{[]string{"todo", "fixme", "xxx", "hack"}, regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`), "is either done or not started: no promises in the sources"},
	{[]string{"/work/", "/root/", "/home/", "/users/"}, regexp.MustCompile(`(^|[^\w.~$}])/(work|root|home/[a-z]+|Users)/`), "is the path of one machine"},
	{[]string{"session"}, regexp.MustCompile(`(?i)\b(previous|earlier|last|coding|chat|agent) sessions?\b`), "is about how the text came to be"},
	{[]string{"agent", "language model", "chatgpt", "claude", "copilot", "llm"}, regexp.MustCompile(`(?i)\b(sub-?agents?|helper agents?|language model|chatgpt|claude|copilot|LLM)\b`), "is about how the text came to be"},
	{[]string{"box", "brief", "lead"}, regexp.MustCompile(`(?i)\b(time ?box|as the brief says|task brief|the lead (?:said|wants|asked))\b`), "is about how the text came to be"},
	{[]string{"spec/", "seeds/"}, regexp.MustCompile(`\b(spec|seeds)/[a-z-]+\.(md|txt)\b`), "names a document that readers do not have"},
	{[]string{"copied from"}, regexp.MustCompile(`(?i)\bcopied from (terraform|opentofu)\b`), "must not be true: every line is written here"},
}

// phrases are wordings that a native writer would not choose, in comments, documents and messages.
var phrases = []wording{
	{[]string{"whoever", "somebody", "nobody"}, regexp.MustCompile(`(?i)\b(?:whoever|somebody|nobody)\b`), "names no one: name the caller, the user, the task"},
	{[]string{"told"}, regexp.MustCompile(`(?i)\b(?:is|are|was|were|be|been|being) told\b`), "is not how programs report: say what is reported, shown or called"},
	{[]string{"mended"}, regexp.MustCompile(`(?i)\bmended\b`), "is not what one does to code: say fixed"},
	{[]string{"what it came to"}, regexp.MustCompile(`(?i)\bwhat it came to\b`), "says nothing: name the result"},
	{[]string{"of which"}, regexp.MustCompile(`(?i)\bof which (?:the|one)\b`), "makes the reader go back: begin another sentence"},
	{[]string{"for ever"}, regexp.MustCompile(`(?i)\bfor ever\b`), "is one word"},
	{[]string{"circle"}, regexp.MustCompile(`(?i)\bcircles?\b`), "is a cycle"},
}

// noNoun finds "X is no Y" for "X is not a Y". "There is no Y" and "X is no longer Y" are good English.
var noNoun = regexp.MustCompile(`(?i)\b(\w+) (?:is|are) no (\w+)`)

func isNoNoun(text string) string {
	if !strings.Contains(text, " no ") && !strings.Contains(text, " NO ") && !strings.Contains(text, " No ") {
		return ""
	}
	for _, m := range noNoun.FindAllStringSubmatch(text, -1) {
		first, last := strings.ToLower(m[1]), m[2]
		if !strings.HasSuffix(first, "there") && !slices.Contains([]string{"longer", "more", "less", "later", "one"}, last) {
			return m[0]
		}
	}
	return ""
}

var (
	comment = regexp.MustCompile(`(?:^|\s)//.*`)
	literal = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"")
)

// prose returns what of a line people read: all of a document, and the comments and messages of a source
// file. Strings of tests are data.
func prose(name, line string) string {
	switch {
	case path.Ext(name) == ".md":
		return line
	case path.Ext(name) != ".go" || strings.HasSuffix(name, ".pb.go"):
		return ""
	}
	if c := comment.FindString(line); c != "" || strings.HasSuffix(name, "_test.go") {
		return c
	}
	return strings.Join(literal.FindAllString(line, -1), " ")
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
			lower := strings.ToLower(line)
			for _, w := range words {
				if found := w.find(line, lower); found != "" {
					t.Errorf("%s:%d: got %q, want another word: it %s", name, n, found, w.why)
				}
			}
			text := prose(name, line)
			for _, w := range phrases {
				if found := w.find(text, lower); found != "" {
					t.Errorf("%s:%d: got %q, want another phrase: it %s", name, n, found, w.why)
				}
			}
			if found := isNoNoun(text); found != "" {
				t.Errorf("%s:%d: got %q, which is not idiomatic, want \"is not a\"", name, n, found)
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
		return slices.ContainsFunc(words, func(w wording) bool { return w.find(s, strings.ToLower(s)) != "" })
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

func TestPhrases(t *testing.T) {
	said := func(name, line string) bool {
		text := prose(name, line)
		return isNoNoun(text) != "" || slices.ContainsFunc(phrases, func(w wording) bool { return w.find(text, strings.ToLower(text)) != "" })
	}
	for name, line := range map[string]string{
		"a.go": "x := 1 // for whoever asks", "b.go": `	return errors.New("this is no address")`, "c_test.go": "// a torn tail is no damage", "d.md": "Errors are told once.",
	} {
		if !said(name, line) {
			t.Errorf("%s: %q is not recognized", name, line)
		}
	}
	for name, line := range map[string]string{
		"a.go": `	// There is no such file, and it is no longer needed.`, "b_test.go": `	user := "somebody"`, "c.go": "	nobody := 65534", "d.md": "There are no others.",
	} {
		if said(name, line) {
			t.Errorf("%s: %q is taken for bad", name, line)
		}
	}
}
