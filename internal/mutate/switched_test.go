package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSwitched tests a small module: each mutant is compiled with all others, and runs alone.
func TestSwitched(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("mutants are tested on Linux only")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"box/box.go": `package box

import "fmt"

type Box[K comparable] struct{ seen map[K]bool }

func New[K comparable, V any](_ V, all ...K) *Box[K] {
	b := &Box[K]{seen: map[K]bool{}}
	for _, k := range all {
		b.seen[k] = true
	}
	return b
}

func (b *Box[K]) Forget(k K) {
	fmt.Sprint(k)
	delete(b.seen, k)
}

func (*Box[K]) Size(int, string) (n int, err error) {
	n = 1
	if n == 2 {
		return 0, fmt.Errorf("never")
	}
	return n, nil
}

func (b *Box[K]) Unused() {
	fmt.Print()
	b.seen = nil
}
`,
		"box/box_test.go": `package box

import "testing"

func TestForget(t *testing.T) {
	b := New(1, "a", "b")
	if !b.seen["a"] || !b.seen["b"] {
		t.Error("it has not seen what it was given")
	}
	if b.Forget("a"); b.seen["a"] {
		t.Error("it has not forgotten")
	}
}

func TestParts(t *testing.T) {
	t.Run("one", func(t *testing.T) { t.Fail() })
	t.Run("two", func(t *testing.T) {
		b := New(1, "a")
		if b.Unused(); b.seen != nil {
			t.Error("it is still used")
		}
	})
}

func TestSize(t *testing.T) {
	if n, err := (*Box[int])(nil).Size(1, ""); n != 1 || err != nil {
		t.Error(n, err)
	}
}
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("GOFLAGS", "")
	places := []*place{{text: "box", dir: "box", tests: []target{{dir: "box", run: "Forget|Size"}, {dir: "box", run: "TestParts/two"}}}}
	all, _, err := mutants(t.Context(), places, options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	r := &runner{options: options{workers: 1, verbose: true}, out: out}
	if err := r.run(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"TestForget of box:Forget|Size takes ", " and calls 2 functions of box\n",
		"TestSize of box:Forget|Size takes ", " and calls 1 functions of box\n",
		"noticed by box:Forget|Size TestForget box/box.go:10: box New delete: b.seen[k] = true\n",
		"survived box/box.go:16: box Box.Forget delete: fmt.Sprint(k)\n",
		"noticed by box:Forget|Size TestForget box/box.go:17: box Box.Forget delete: delete(b.seen, k)\n",
		"noticed by box:Forget|Size TestSize box/box.go:21: box Box.Size delete: n = 1\n",
		"survived box/box.go:22: box Box.Size delete: if n == 2 …\n",
		"survived box/box.go:29: box Box.Unused delete: fmt.Print()\n",
		"noticed by box:TestParts/two TestParts box/box.go:30: box Box.Unused delete: b.seen = nil\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q", want)
		}
	}
	if len(all) != r.noticed+r.survived || t.Failed() {
		t.Errorf("got %d mutants, want %d, all of them judged:\n%s", len(all), r.noticed+r.survived, out)
	}
}
