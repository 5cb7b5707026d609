package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// outcome is the outcome of a mutant.
type outcome struct {
	by   string // the test that noticed it; "" if it survived
	left bool   // there was no time for it
	err  error
}

// runner tests mutants and counts.
type runner struct {
	options
	out   io.Writer
	known []accepted
	temp  string
	root  string
	begin time.Time

	noticed, survived, accepted, left, outdated int

	alive map[string]bool // by key, of tested mutants
}

// run tests the mutants, prints the survivors in their order, and counts.
func (r *runner) run(ctx context.Context, all []*mutant) (err error) {
	if r.root, err = os.Getwd(); err != nil {
		return err
	}
	r.temp, r.begin = os.TempDir(), time.Now() // the confinement's
	outcomes := map[*mutant]chan outcome{}
	for _, m := range all {
		outcomes[m] = make(chan outcome, 1)
	}
	packages := group(all, r.temp)
	slices.SortStableFunc(packages, func(a, b *switched) int { return len(b.mutants) - len(a.mutants) })
	next := make(chan *switched, len(packages))
	for _, s := range packages {
		next <- s
	}
	close(next)
	var workers sync.WaitGroup
	defer workers.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for range max(1, r.workers) {
		workers.Go(func() {
			for s := range next {
				r.testPackage(ctx, s, func(m *mutant, o outcome) { outcomes[m] <- o })
			}
		})
	}
	r.alive = map[string]bool{}
	for _, m := range all {
		if err := r.count(m, <-outcomes[m]); err != nil {
			return err
		}
	}
	return nil
}

// count prints and counts an outcome.
func (r *runner) count(m *mutant, o outcome) error {
	if o.err != nil {
		return o.err
	}
	if o.left {
		r.left++
		if r.verbose {
			fmt.Fprintln(r.out, "left out", m)
		}
		return nil
	}
	r.alive[m.key()] = o.by == ""
	at := slices.IndexFunc(r.known, func(a accepted) bool { return a.fits(m.key()) })
	switch {
	case o.by != "":
		r.noticed++
		if r.verbose {
			fmt.Fprintln(r.out, "noticed by", o.by, m)
		}
	case at >= 0:
		r.survived++
		r.accepted++
		if r.verbose {
			fmt.Fprintln(r.out, "accepted", m)
		}
	default:
		r.survived++
		fmt.Fprintln(r.out, "survived", m)
	}
	return nil
}

// stale prints the accepted survivors that were noticed. With whole, it also prints those that do not exist.
// Only then is it known that none of several with one key survives.
func (r *runner) stale(all []*mutant, whole bool) {
	for _, a := range r.known {
		exists, noticed, alive := false, false, false
		for _, m := range all {
			key := m.key()
			if !a.fits(key) {
				continue
			}
			survives, tested := r.alive[key]
			exists, alive = true, alive || survives
			noticed = noticed || tested && !survives && (whole || key == a.key)
		}
		switch {
		case noticed && !alive:
			fmt.Fprintf(r.out, "%s: does not survive any more: %s\n", a.at, a.key)
			r.outdated++
		case whole && !exists:
			fmt.Fprintf(r.out, "%s: is no mutant any more: %s\n", a.at, a.key)
			r.outdated++
		}
	}
}

// testPackage tests the mutants of a package one after the other and reports the outcome of each.
func (r *runner) testPackage(ctx context.Context, s *switched, report func(*mutant, outcome)) {
	tests, err := r.prepare(ctx, s)
	for i, m := range s.mutants {
		switch {
		case errors.Is(err, errTime) || err == nil && r.late():
			report(m, outcome{left: true})
		case err != nil:
			report(m, outcome{err: err})
		default:
			report(m, r.test(ctx, s, tests, m, i+1))
		}
	}
}

// errTime is returned if there is no time left.
var errTime = errors.New("the time is over")

// late reports whether the time is over.
func (r *runner) late() bool { return r.budget > 0 && time.Since(r.begin) > r.budget }

// program is the test program of a package, and the course of its tests without a mutant.
type program struct {
	path, dir string // dir is where it runs
	env       []string
	tests     []measured
}

// measured is a test.
type measured struct {
	name    string // of a part of a test, with the name of the test before it, as in Test/part
	takes   time.Duration
	reaches map[*ast.FuncDecl]bool
}

// prepare compiles a package with its mutants and the programs that test it, and runs each test once to
// record which functions it calls. The programs are for the targets of the mutants.
func (r *runner) prepare(ctx context.Context, s *switched) (map[target]*program, error) {
	if r.late() {
		return nil, errTime
	}
	if err := s.write(r.root); err != nil {
		return nil, err
	}
	compiled, out := map[string]*program{}, map[target]*program{}
	for _, m := range s.mutants {
		for _, t := range m.tests {
			if out[t] != nil {
				continue
			}
			if compiled[t.dir] == nil {
				p, err := r.compile(ctx, s, t.dir, len(compiled))
				if err != nil {
					return nil, err
				}
				compiled[t.dir] = p
			}
			p := *compiled[t.dir]
			if err := r.record(ctx, s, &p, t); err != nil {
				return nil, err
			}
			out[t] = &p
		}
	}
	return out, nil
}

// compile returns the test program of a directory with the mutants of a package. Programs that its tests
// compile have them as well.
func (r *runner) compile(ctx context.Context, s *switched, dir string, n int) (*program, error) {
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -overlay=" + s.path(overlayFile))
	p := &program{path: s.path(fmt.Sprintf("test%d", n)), dir: filepath.Join(r.root, filepath.FromSlash(dir))}
	p.env = append(os.Environ(), "GOFLAGS="+flags, "GOTMPDIR="+r.temp)
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", p.path, "./"+dir)
	cmd.Env = p.env
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling %s with the mutants of %s: %w\n%s", dir, s.dir, err, text)
	}
	if _, err := os.Stat(p.path); err != nil {
		return nil, fmt.Errorf("there are no tests in %s", dir)
	}
	return p, nil
}

// record runs the tests of a target one by one, without a mutant.
func (r *runner) record(ctx context.Context, s *switched, p *program, t target) error {
	names, err := p.list(ctx, t)
	if err != nil {
		return err
	}
	if err := s.choose(recording); err != nil {
		return err
	}
	for _, name := range names {
		if r.late() {
			return errTime
		}
		begin := time.Now()
		text, err := p.run(ctx, "-test.run="+exactly(name))
		if err != nil {
			return fmt.Errorf("%s of %s fails without any mutant: %w\n%s", name, t, err, text)
		}
		if bytes.Contains(text, []byte("no tests to run")) {
			return fmt.Errorf("%s: no test has the name %s", t, name)
		}
		m := measured{name: name, takes: time.Since(begin)}
		if m.reaches, err = s.reached(); err != nil {
			return err
		}
		p.tests = append(p.tests, m)
		if r.verbose {
			fmt.Fprintf(r.out, "%s of %s takes %s and calls %d functions of %s\n", name, t, m.takes.Round(time.Millisecond), len(m.reaches), s.dir)
		}
	}
	return s.choose("0")
}

// list returns the names of a target's tests. Parts of tests are not listed by the program: a pattern with a
// slash is their names, with a bar between them.
func (p *program) list(ctx context.Context, t target) ([]string, error) {
	if strings.Contains(t.run, "/") {
		return strings.Split(t.run, "|"), nil
	}
	text, err := p.run(ctx, "-test.list="+cmp.Or(t.run, "."))
	if err != nil {
		return nil, fmt.Errorf("listing the tests of %s: %w\n%s", t, err, text)
	}
	names := slices.DeleteFunc(strings.Fields(string(text)), func(name string) bool { return strings.HasPrefix(name, "Benchmark") })
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no test has such a name", t)
	}
	return names, nil
}

// exactly returns the pattern for the tests of these names, of which only a single one may have parts.
func exactly(names ...string) string {
	if len(names) == 1 {
		return "^" + strings.ReplaceAll(names[0], "/", "$/^") + "$"
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// test runs the tests of a mutant that call its function until one fails.
func (r *runner) test(ctx context.Context, s *switched, programs map[target]*program, m *mutant, number int) outcome {
	if err := s.choose(fmt.Sprint(number)); err != nil {
		return outcome{err: err}
	}
	for _, t := range m.tests {
		for _, tests := range programs[t].reaching(m.decl) {
			var names []string
			limit := 3 * time.Second
			for _, test := range tests {
				names, limit = append(names, test.name), limit+4*test.takes
			}
			text, err := programs[t].run(ctx, "-test.run="+exactly(names...), "-test.failfast", "-test.timeout="+limit.String())
			if ctx.Err() != nil {
				return outcome{err: ctx.Err()}
			}
			if err != nil {
				return outcome{by: t.String() + failed(text)}
			}
		}
	}
	return outcome{}
}

// reaching returns the tests that call a function, in groups that run together. Parts of tests run alone.
func (p *program) reaching(fn *ast.FuncDecl) (out [][]measured) {
	var together []measured
	for _, test := range p.tests {
		switch {
		case !test.reaches[fn]:
		case strings.Contains(test.name, "/"):
			out = append(out, []measured{test})
		default:
			together = append(together, test)
		}
	}
	if len(together) > 0 {
		out = slices.Insert(out, 0, together)
	}
	return out
}

const (
	// memory is the directory for files of tests. Synchronizing them would take most of the time on a disk.
	memory = "/dev/shm"
	// passable is the mode of a directory that other users may pass, but not list: tests start servers that
	// refuse to run as root.
	passable = 0o711
)

// run runs a test program with options, in the directory of its package.
func (p *program) run(ctx context.Context, options ...string) ([]byte, error) {
	temp, err := os.MkdirTemp(memory, "test-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, passable); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.path, options...)
	cmd.Dir, cmd.Env = p.dir, append(slices.Clip(p.env), "TMPDIR="+temp)
	cmd.WaitDelay = 10 * time.Second // a process that a test has started may keep the output open
	return cmd.CombinedOutput()
}

// failed returns the name of the first test that failed, for people.
func failed(text []byte) string {
	for line := range bytes.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "--- FAIL: "); ok {
			return " " + strings.Fields(name)[0]
		}
		if bytes.HasPrefix(line, []byte("panic: test timed out")) {
			return " (time limit)"
		}
	}
	return ""
}
