package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// outcome is what became of a mutant.
type outcome struct {
	by   string // what noticed it; "" if it survived
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
	limit map[target]time.Duration // after which a test counts as one that notices

	noticed, survived, accepted, left, outdated int

	alive map[string]bool // by key, of what has been tested
}

// run tests the mutants, prints what survives in their order, and counts.
func (r *runner) run(ctx context.Context, all []*mutant) (err error) {
	if r.root, err = os.Getwd(); err != nil {
		return err
	}
	r.temp = os.TempDir() // that of the confinement
	begin := time.Now()
	if err := r.baseline(ctx, all); err != nil {
		return err
	}
	outcomes := make([]chan outcome, len(all))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	next := make(chan int, len(all))
	for i := range all {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	defer workers.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for range max(1, r.workers) {
		workers.Go(func() {
			for i := range next {
				if r.budget > 0 && time.Since(begin) > r.budget {
					outcomes[i] <- outcome{left: true}
					continue
				}
				outcomes[i] <- r.test(ctx, all[i], filepath.Join(r.temp, fmt.Sprint(i)))
			}
		})
	}
	r.alive = map[string]bool{}
	for i, m := range all {
		if err := r.count(m, <-outcomes[i]); err != nil {
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
	at := slices.IndexFunc(r.known, func(a accepted) bool { return a.key == m.key() })
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
func (r *runner) stale(all []*mutant, whole bool) {
	for _, a := range r.known {
		alive, tested := r.alive[a.key]
		exists := tested || slices.ContainsFunc(all, func(m *mutant) bool { return m.key() == a.key })
		switch {
		case tested && !alive:
			fmt.Fprintf(r.out, "%s: does not survive any more: %s\n", a.at, a.key)
			r.outdated++
		case whole && !exists:
			fmt.Fprintf(r.out, "%s: is no mutant any more: %s\n", a.at, a.key)
			r.outdated++
		}
	}
}

// baseline runs the tests of all mutants without any, and measures them.
func (r *runner) baseline(ctx context.Context, all []*mutant) error {
	r.limit = map[target]time.Duration{}
	for _, m := range all {
		for _, t := range m.tests {
			if r.limit[t] > 0 {
				continue
			}
			begin := time.Now()
			text, err := r.goTest(ctx, t, "-count=1")
			if err != nil {
				return fmt.Errorf("the tests of %s fail without any mutant: %w\n%s", t, err, text)
			}
			if bytes.Contains(text, []byte("no tests to run")) || bytes.Contains(text, []byte("no test files")) {
				return fmt.Errorf("%s: no test has such a name", t)
			}
			r.limit[t] = 30*time.Second + 4*time.Since(begin)
			if r.verbose {
				fmt.Fprintf(r.out, "%s takes %s\n", t, time.Since(begin).Round(time.Second/10))
			}
		}
	}
	return nil
}

// test runs the tests of a mutant until one fails. dir does not exist yet.
func (r *runner) test(ctx context.Context, m *mutant, dir string) outcome {
	defer os.RemoveAll(dir)
	overlay, err := r.overlay(m, dir)
	if err != nil {
		return outcome{err: err}
	}
	for _, t := range m.tests {
		text, err := r.goTest(ctx, t, "-failfast", "-timeout="+r.limit[t].String(), "-overlay="+overlay)
		if ctx.Err() != nil {
			return outcome{err: ctx.Err()}
		}
		if err == nil {
			continue
		}
		if bytes.Contains(text, []byte("[build failed]")) || bytes.Contains(text, []byte("[setup failed]")) {
			return outcome{err: fmt.Errorf("%s does not compile for the tests of %s:\n%s", m, t, text)}
		}
		return outcome{by: t.String() + failed(text)}
	}
	return outcome{}
}

// overlay writes the mutated file and the description of the overlay, and returns the path of the latter.
func (r *runner) overlay(m *mutant, dir string) (string, error) {
	original := filepath.Join(r.root, filepath.FromSlash(m.file))
	mutated, overlay := filepath.Join(dir, path.Base(m.file)), filepath.Join(dir, "overlay.json")
	about, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(mutated, m.apply(), 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, about, 0o600)
}

// memory is where the files of tests are. What they synchronize would take most of the time on a disk.
const memory = "/dev/shm"

// goTest runs the tests of a target. Options reach the programs that the tests build as well.
func (r *runner) goTest(ctx context.Context, t target, options ...string) ([]byte, error) {
	args, flags := []string{"test", "-vet=off", "-p=1"}, os.Getenv("GOFLAGS")
	for _, o := range options {
		if strings.HasPrefix(o, "-overlay=") {
			flags += " " + o
		} else {
			args = append(args, o)
		}
	}
	if t.run != "" {
		args = append(args, "-run="+t.run)
	}
	temp, err := os.MkdirTemp(memory, "test-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+t.dir)...)
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(flags), "TMPDIR="+temp, "GOTMPDIR="+r.temp)
	cmd.WaitDelay = 10 * time.Second // what a test has started may keep the output open
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
