package main

import (
	"bytes"
	"cmp"
	"context"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const subject = `package subject

import (
	"errors"
	"fmt"
	"log"
	"os"
)

type box struct{ seen map[string]bool }

func (b *box) check(name string) error {
	if name == "" || b.seen[name] {
		return fmt.Errorf("no: %s", name)
	}
	b.seen[name] = true
	log.Print("checked")
	return nil
}

func clean(s string) string { return s }

func (b *box) use(name string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := b.check(name); err != nil {
		return err
	}
	switch text := clean(name); {
	case text == "x":
		return errors.Join(err, f.Sync(), f.Close())
	}
	return b.check(clean(name))
}
`

// analyzed returns the mutants of a text that compile, and how many do not.
func analyzed(t *testing.T, withErrors bool) (out []*mutant, broken int) {
	t.Helper()
	p := &pkg{dir: "subject", path: "m/subject", module: "m", set: token.NewFileSet(), config: types.Config{Importer: importer.ForCompiler(token.NewFileSet(), "source", nil)}}
	f := &file{name: "subject/subject.go", text: []byte(subject), set: p.set}
	var err error
	if f.ast, err = parser.ParseFile(p.set, f.name, subject, parser.ParseComments); err != nil {
		t.Fatal(err)
	}
	p.files = []*file{f}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if _, err := p.config.Check(p.path, p.set, p.syntax(nil, nil), p.info); err != nil {
		t.Fatal(err)
	}
	for _, m := range mutantsOf(p, f, []*place{{dir: "subject", tests: []target{{dir: "subject"}}}}, withErrors) {
		if p.compiles(f, m) {
			out = append(out, m)
		} else {
			broken++
		}
	}
	return out, broken
}

func TestMutants(t *testing.T) {
	found, broken := analyzed(t, false)
	var got []string
	for _, m := range found {
		got = append(got, m.String())
	}
	want := []string{
		`subject/subject.go:13: subject box.check delete: if name == "" || b.seen[name] …`,
		`subject/subject.go:13: subject box.check drop name == "" from: name == "" || b.seen[name]`,
		`subject/subject.go:13: subject box.check drop b.seen[name] from: name == "" || b.seen[name]`,
		`subject/subject.go:16: subject box.check delete: b.seen[name] = true`,
		`subject/subject.go:28: subject box.use delete: defer f.Close()`,
		`subject/subject.go:29: subject box.use delete: if err := b.check(name); err != nil …`,
		`subject/subject.go:32: subject box.use unwrap name from: clean(name)`,
		`subject/subject.go:33: subject box.use never: case text == "x": …`,
		`subject/subject.go:34: subject box.use drop f.Sync() from: errors.Join(err, f.Sync(), f.Close())`,
		`subject/subject.go:34: subject box.use drop f.Close() from: errors.Join(err, f.Sync(), f.Close())`,
		`subject/subject.go:34: subject box.use no error from: errors.Join(err, f.Sync(), f.Close())`,
		`subject/subject.go:36: subject box.use no error from: b.check(clean(name))`,
		`subject/subject.go:36: subject box.use unwrap name from: clean(name) #2`,
	}
	for _, s := range got {
		if !slices.Contains(want, s) {
			t.Errorf("this is one more: %s", s)
		}
	}
	for _, s := range want {
		if !slices.Contains(got, s) {
			t.Errorf("this is missing: %s", s)
		}
	}
	if broken == 0 {
		t.Error("to delete the last return is a mutant that compiles")
	}
	with, _ := analyzed(t, true)
	if !slices.ContainsFunc(with, func(m *mutant) bool { return m.line == 25 && m.kind == "delete" }) {
		t.Error("an error that is passed on is not asked for with -errors")
	}
}

func TestApply(t *testing.T) {
	found, _ := analyzed(t, false)
	for _, m := range found {
		text := string(m.apply())
		// What was deleted leaves its variables and imports used, or else this would not compile.
		switch m.String() {
		case `subject/subject.go:13: subject box.check delete: if name == "" || b.seen[name] …`:
			if !strings.Contains(text, "_ \"fmt\"") || !strings.Contains(text, "error {\n\t_, _ = name, b\n\tb.seen[name] = true") {
				t.Errorf("%s: %s", m, text)
			}
		case `subject/subject.go:34: subject box.use drop f.Sync() from: errors.Join(err, f.Sync(), f.Close())`:
			if !strings.Contains(text, "errors.Join(err, nil, f.Close())") {
				t.Errorf("%s: %s", m, text)
			}
		case `subject/subject.go:36: subject box.use unwrap name from: clean(name) #2`:
			if !strings.Contains(text, "return b.check(name)") || !strings.Contains(text, "text := clean(name)") {
				t.Errorf("%s: %s", m, text)
			}
		}
	}
}

func TestReadDiff(t *testing.T) {
	lines, err := readDiff(strings.NewReader("diff --git a/x/y.go b/x/y.go\n--- a/x/y.go\n+++ b/x/y.go\n@@ -3 +4,2 @@ func f() {\n+a\n+b\n@@ -10,2 +20,0 @@\n-c\n@@ -30 +41 @@\n+d\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		from, to int
		want     bool
	}{{1, 3, false}, {4, 4, true}, {5, 9, true}, {6, 19, false}, {20, 20, true}, {21, 22, true}, {22, 40, false}, {41, 41, true}, {42, 50, false}} {
		if got := lines.touches("x/y.go", test.from, test.to); got != test.want {
			t.Errorf("%d to %d: got %t, want %t", test.from, test.to, got, test.want)
		}
	}
	if lines.touches("y.go", 1, 100) {
		t.Error("another file is touched")
	}
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadGuards(t *testing.T) {
	places, err := readGuards(written(t, "# a comment\n\nstate/journal.go:Log.write state state/store/local:Cut|Kill\nlease lease\n"))
	if err != nil || len(places) != 2 {
		t.Fatal(places, err)
	}
	p := places[0]
	if p.dir != "state" || p.file != "journal.go" || p.fn != "Log.write" || !slices.Equal(p.tests, []target{{"state", ""}, {"state/store/local", "Cut|Kill"}}) {
		t.Errorf("first place: got %+v, want Log.write in state/journal.go, with two tests", p)
	}
	if p := places[1]; p.dir != "lease" || p.file != "" || p.fn != "" {
		t.Errorf("second place: got %+v, want the whole directory lease", p)
	}
	if places, err := readGuards(written(t, "lease:Pool.Busy - tells only the timeline\nlease lease\n")); err != nil || len(places) != 2 || places[0].tests != nil || places[0].fn != "Pool.Busy" {
		t.Error(places, err)
	}
	for _, bad := range []string{"lease", "lease -", "lease lease:("} {
		if _, err := readGuards(written(t, bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestReadAccepted(t *testing.T) {
	known, err := readAccepted(written(t, "# a comment\na f delete: b()\n\tfor a reason\n\tof two lines\nc g delete: d()\n\tanother\n"))
	if err != nil || len(known) != 2 || known[0].key != "a f delete: b()" || known[0].why != "for a reason of two lines" || known[1].why != "another" {
		t.Error(known, err)
	}
	for _, bad := range []string{"a f delete: b()\n", "\tfor a reason\n", "a f delete: b()\nc g delete: d()\n\twhy\n"} {
		if _, err := readAccepted(written(t, bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestAcceptedFits(t *testing.T) {
	for key, want := range map[string]bool{"a f delete: b()": true, "a * delete: *": true, "a f *": true, "*": true, "a f": false, "a * delete: c*": false, "a f delete: b()*b()": false, "": false} {
		if got := (accepted{key: key}).fits("a f delete: b()"); got != want {
			t.Errorf("%q: got %v, want %v", key, got, want)
		}
	}
	if a := (accepted{key: "a f delete: *p = 0"}); !a.fits("a f delete: *p = 0") {
		t.Error("a key with a star does not fit itself")
	}
}

// TestSeveral holds an entry for several survivors against what became of them.
func TestSeveral(t *testing.T) {
	found, _ := analyzed(t, false)
	for _, survives := range []bool{false, true} {
		out := &bytes.Buffer{}
		r := &runner{out: out, alive: map[string]bool{found[0].key(): survives, found[1].key(): false}, known: []accepted{{at: "list:1", key: "subject *"}}}
		for _, whole := range []bool{false, true} {
			r.outdated = 0
			r.stale(found, whole)
			if outdated := r.outdated == 1; outdated != (whole && !survives) {
				t.Errorf("survives %t, whole %t: got %d outdated, want one: %t\n%s", survives, whole, r.outdated, whole && !survives, out)
			}
		}
	}
}

// TestNoGuard mutates nothing in a place that guards nothing.
func TestNoGuard(t *testing.T) {
	p := &pkg{dir: "subject", module: "m", set: token.NewFileSet()}
	f := &file{name: "subject/subject.go", text: []byte(subject), set: p.set}
	var err error
	if f.ast, err = parser.ParseFile(p.set, f.name, subject, 0); err != nil {
		t.Fatal(err)
	}
	for _, fn := range []string{"", "clean"} {
		whole := &place{dir: "subject", fn: fn}
		if found := mutantsOf(p, f, []*place{whole}, true); len(found) != 0 || !whole.used {
			t.Errorf("%q: got %d mutants, used %t, want none, used", fn, len(found), whole.used)
		}
	}
}

// TestVerdicts counts outcomes and reports what the list of survivors says wrongly.
func TestVerdicts(t *testing.T) {
	found, _ := analyzed(t, false)
	out := &bytes.Buffer{}
	r := &runner{out: out, alive: map[string]bool{}, known: []accepted{
		{at: "list:1", key: found[0].key()}, {at: "list:3", key: found[1].key()}, {at: "list:5", key: "gone"}, {at: "list:7", key: found[4].key()},
	}}
	for i, o := range []outcome{{}, {by: "a test"}, {}, {by: "a test"}, {left: true}} {
		if err := r.count(found[i], o); err != nil {
			t.Fatal(err)
		}
	}
	if r.survived != 2 || r.accepted != 1 || r.noticed != 2 || r.left != 1 {
		t.Errorf("got %+v, want 2 survived, 1 accepted, 2 noticed, 1 left", r)
	}
	r.stale(found, false)
	if r.outdated != 1 {
		t.Errorf("entries that are outdated: got %d, want 1", r.outdated)
	}
	r.stale(found, true)
	want := "survived " + found[2].String() + "\nlist:3: does not survive any more: " + found[1].key() + "\n"
	want += strings.TrimPrefix(want, "survived "+found[2].String()+"\n") + "list:5: is no mutant any more: gone\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	if err := r.count(found[0], outcome{err: context.Canceled}); err == nil {
		t.Error("an error is lost")
	}
}

func TestFailed(t *testing.T) {
	for text, want := range map[string]string{
		"    --- FAIL: TestA/b (0.00s)\n--- FAIL: TestA (0.00s)\nFAIL\n": " TestA/b",
		"panic: test timed out after 1s\n":                               " (time limit)",
		"exit status 2\n":                                                "",
	} {
		if got := failed([]byte(text)); got != want {
			t.Errorf("failed(%q): got %q, want %q", text, got, want)
		}
	}
}

// TestGuards reads the lists in the tree and loads what they name.
func TestGuards(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs every package compiled")
	}
	t.Chdir("../..")
	places, err := readGuards("internal/mutate/guards.txt")
	if err != nil {
		t.Fatal(err)
	}
	known, err := readAccepted("internal/mutate/accepted.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	packages, err := load(t.Context(), places)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		for _, f := range p.files {
			for _, m := range mutantsOf(p, f, places, false) {
				all = append(all, m.key())
			}
		}
	}
	for _, p := range places {
		if !p.used {
			t.Errorf("%s: there is nothing to mutate", p.text)
		}
	}
	for _, a := range known {
		if !slices.ContainsFunc(all, a.fits) {
			t.Errorf("%s: there is nothing like it any more: %s", a.at, a.key)
		}
	}
	if !slices.IsSortedFunc(known, func(a, b accepted) int { return cmp.Compare(a.key, b.key) }) {
		t.Error("the accepted survivors are not sorted")
	}
}
