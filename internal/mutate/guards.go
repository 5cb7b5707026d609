package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// place is a place in the code to be mutated: a package, a file of it, or a function or method, as in "dir",
// "dir/file.go", "dir:Func" and "dir/file.go:Type.Method".
type place struct {
	text, dir, file, fn string
	tests               []target // none if it guards nothing
	used                bool     // it has at least one statement
}

// target is a package whose tests are to notice, or the tests that match a pattern, as in "dir:Pattern".
type target struct{ dir, run string }

func (t target) String() string {
	if t.run == "" {
		return t.dir
	}
	return t.dir + ":" + t.run
}

// readGuards reads a file with a place in each line, followed by its tests in the order in which they run.
// Blank lines and lines that begin with # are comments. Where places overlap, the first one counts. A place
// that guards nothing has - and the reason instead of tests: it is not mutated.
func readGuards(file string) ([]*place, error) {
	var out []*place
	err := eachLine(file, func(at, line string) error {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			return nil
		}
		if len(words) == 1 {
			return fmt.Errorf("%s: %s has no tests", at, words[0])
		}
		p := &place{text: words[0]}
		p.dir, p.fn, _ = strings.Cut(words[0], ":")
		if strings.HasSuffix(p.dir, ".go") {
			p.dir, p.file = path.Split(p.dir)
			p.dir = path.Clean(p.dir)
		}
		if words[1] == "-" {
			if len(words) == 2 {
				return fmt.Errorf("%s: no reason is given why %s guards nothing", at, words[0])
			}
			out = append(out, p)
			return nil
		}
		for _, w := range words[1:] {
			dir, run, _ := strings.Cut(w, ":")
			if _, err := regexp.Compile(run); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			p.tests = append(p.tests, target{dir, run})
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

func eachLine(file string, do func(at, line string) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if err := do(fmt.Sprintf("%s:%d", file, n), lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// accepted is a survivor that is known. Its key belongs to a mutant, or to several: a * in it stands for any
// text.
type accepted struct {
	at, key, why string
}

// fits reports whether the key belongs to a mutant. A * may also stand for itself.
func (a accepted) fits(key string) bool {
	parts := strings.Split(a.key, "*")
	if a.key == key || len(parts) == 1 {
		return a.key == key
	}
	rest, ok := strings.CutPrefix(key, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if ok {
			_, rest, ok = strings.Cut(rest, part)
		}
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

// readAccepted reads survivors: the line of the key, and below it, indented, the reason.
func readAccepted(file string) ([]accepted, error) {
	var out []accepted
	err := eachLine(file, func(at, line string) error {
		switch text := strings.TrimSpace(line); {
		case text == "" || strings.HasPrefix(line, "#"):
		case text == line:
			out = append(out, accepted{at: at, key: text})
		case len(out) == 0:
			return fmt.Errorf("%s: a reason without a survivor", at)
		default:
			last := &out[len(out)-1]
			last.why = strings.TrimSpace(last.why + " " + text)
		}
		return nil
	})
	for _, a := range out {
		if err == nil && a.why == "" {
			err = fmt.Errorf("%s: the survivor has no reason", a.at)
		}
	}
	return out, err
}

// lineSet has ranges of lines by file. Both ends belong to a range.
type lineSet map[string][][2]int

// touches reports whether a range of lines of a file has one in the set.
func (s lineSet) touches(file string, from, to int) bool {
	return slices.ContainsFunc(s[file], func(r [2]int) bool { return r[0] <= to && from <= r[1] })
}

var hunk = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

// readDiff returns the lines that a diff without context adds or changes. Where it only removes, it
// returns the lines on both sides.
func readDiff(r io.Reader) (lineSet, error) {
	out, file := lineSet{}, ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			file = strings.TrimPrefix(strings.Fields(name + " ")[0], "b/")
			continue
		}
		m := hunk.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		from, _ := strconv.Atoi(m[1]) // the pattern has digits only
		to := from
		switch n, err := strconv.Atoi(m[2]); {
		case err != nil: // one line
		case n == 0:
			to = from + 1
		default:
			to = from + n - 1
		}
		out[file] = append(out[file], [2]int{from, to})
	}
	return out, lines.Err()
}
