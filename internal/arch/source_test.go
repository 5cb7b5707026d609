package arch

import (
	"bufio"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the import path of the module under test.
const module = "github.com/mayfly-iac/mayfly"

// source is one Go file of the module, whatever system it is built for.
type source struct {
	name      string // path below the root of the module, with slashes
	pkg       string // import path relative to the module, "." for its root
	lines     int
	blank     int          // how many of the lines are blank
	ownLine   map[int]bool // lines that begin with a comment
	test      bool
	generated bool
	set       *token.FileSet
	file      *ast.File
}

// at renders a position for messages.
func (s *source) at(p token.Pos) string {
	return s.name + ":" + strconv.Itoa(s.set.Position(p).Line)
}

// shipped reports whether the file is part of a program that users run, or of the library.
func (s *source) shipped() bool {
	top, _, _ := strings.Cut(s.pkg, "/")
	return !s.test && inWing[s.pkg] != "testing" && top != "tests" && top != "benchmarks" && !strings.HasSuffix(s.pkg, "/storetest")
}

// imports returns the import paths of the file.
func (s *source) imports() []string {
	var out []string
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// root is the directory of the module's go.mod.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("no go.mod in this directory or above it")
		}
		dir = filepath.Dir(dir)
	}
})

// walk calls visit for each file of the module in name order: not those of nested modules, of hidden
// directories, or of what tests write.
func walk(t *testing.T, visit func(name, file string)) {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) { // removed by another test meanwhile
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		switch {
		case !d.IsDir():
			if d.Type().IsRegular() {
				visit(filepath.ToSlash(rel), file)
			}
		case rel == ".":
		case rel == ".ci":
		case strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		default:
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil {
				return filepath.SkipDir
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sources parses the Go files of the module, once for all tests.
func sources(t *testing.T) []*source {
	t.Helper()
	parsed.once.Do(func() {
		walk(t, func(name, file string) {
			if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
				return
			}
			text, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := parse(name, string(text))
			if err != nil {
				t.Fatal(err)
			}
			parsed.sources = append(parsed.sources, s)
		})
	})
	const few = 100
	if len(parsed.sources) < few {
		t.Fatalf("only %d Go files found: the walk is broken", len(parsed.sources))
	}
	return parsed.sources
}

// fileSet has the positions in all files that are read.
var fileSet = token.NewFileSet()

var parsed struct {
	once    sync.Once
	sources []*source
}

func parse(name, text string) (*source, error) {
	s := &source{
		name: name, pkg: path.Dir(name), lines: strings.Count(text, "\n"), test: strings.HasSuffix(name, "_test.go"), set: fileSet,
	}
	s.ownLine = map[int]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch line = strings.TrimSpace(line); {
		case line == "":
			s.blank++
		case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "/*"):
			s.ownLine[i+1] = true
		}
	}
	var err error
	s.file, err = parser.ParseFile(s.set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s.generated = ast.IsGenerated(s.file)
	return s, nil
}

// lines calls visit for each line of a text file.
func lines(t *testing.T, file string, visit func(number int, line string)) {
	t.Helper()
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<24)
	for n := 1; scan.Scan(); n++ {
		visit(n, scan.Text())
	}
	if err := scan.Err(); err != nil {
		t.Fatalf("%s: %s", file, err)
	}
}
