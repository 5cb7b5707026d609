package arch

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// systems are those that .ci/run builds the programs for.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}

// licence recognizes one licence by how its text begins and ends, and by how long it is in between: a text
// with other terms added or removed is not recognized.
type licence struct {
	id         string // of SPDX
	begin, end string // in the form of words
	words      [2]int // the least and the most of them
}

// licences are all that may be linked. Each lets a program under the MPL be distributed if its text comes
// along.
var licences = []licence{
	{"Apache-2.0", "apache license version 2 0 january 2004", "accepting any such warranty or additional liability", [2]int{1420, 1430}},
	{"Apache-2.0", "end of terms and conditions appendix", "identification within third party archives", [2]int{85, 95}},
	{"Apache-2.0", "licensed under the apache license version 2 0 the license", "limitations under the license", [2]int{80, 90}},
	{"BSD-2-Clause", "redistribution and use in source and binary forms", "even if advised of the possibility of such damage", [2]int{180, 190}},
	{"BSD-3-Clause", "redistribution and use in source and binary forms", "even if advised of the possibility of such damage", [2]int{200, 220}},
	{"ISC", "permission to use copy modify and or distribute this software for any purpose", "performance of this software", [2]int{110, 120}},
	{"MIT", "permission is hereby granted free of charge", "other dealings in the software", [2]int{160, 166}},
	{"MPL-2.0", "mozilla public license version 2 0", "as defined by the mozilla public license v 2 0", [2]int{2420, 2430}},
	{"Unicode-DFS-2016", "unicode data files include all data files", "written authorization of the copyright holder", [2]int{440, 455}},
	{"Unlicense", "this is free and unencumbered software released into the public domain", "please refer to http unlicense org", [2]int{195, 205}},
}

// maxRest is how many words of a licence's file may belong to none: titles, names of holders, addresses.
const maxRest = 100

var (
	licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying)([-.]\w+)?$`)
	notWords    = regexp.MustCompile(`[^a-z0-9]+`)
)

// notCode are files of licences for other things than code, by their names.
var notCode = []string{"LICENSE.docs"}

// identify returns the identifiers of the licences in a text, in order. The error says what was not
// recognized.
func identify(text string) ([]string, error) {
	rest := " " + strings.TrimSpace(notWords.ReplaceAllString(strings.ToLower(text), " ")) + " "
	var ids []string
	for i := 0; i < len(licences); i++ {
		l := licences[i]
		at := strings.Index(rest, l.begin)
		if at < 0 {
			continue
		}
		length := strings.Index(rest[at:], l.end)
		if length < 0 {
			continue
		}
		length += len(l.end)
		if n := len(strings.Fields(rest[at : at+length])); n < l.words[0] || n > l.words[1] {
			continue
		}
		ids = append(ids, l.id)
		rest = rest[:at] + rest[at+length:]
		i-- // it may be there more than once
	}
	if n := len(strings.Fields(rest)); n > maxRest || len(ids) == 0 {
		return nil, fmt.Errorf("%d words belong to no licence that may be linked: %.400s", n, rest)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// linkedModule is a module that a program links, for any system.
type linkedModule struct {
	path, version, dir string
	packages           map[string]bool // the directories of those that are linked
}

// linkedModules returns the modules that the programs link, by path.
var linkedModules = sync.OnceValues(func() (map[string]*linkedModule, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	out := map[string]*linkedModule{}
	for _, system := range systems {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}\t{{.Dir}}", "./cmd/mayfly", "./cmd/terraform-provider-keep")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=", "GOPROXY=off")
		list, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("listing what is linked for %s: %w", system, err)
		}
		for line := range strings.Lines(string(list)) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(f) != 4 || f[0] == module {
				continue // of the standard library, or our own
			}
			if out[f[0]] == nil {
				out[f[0]] = &linkedModule{f[0], f[1], f[2], map[string]bool{}}
			}
			out[f[0]].packages[f[3]] = true
		}
	}
	return out, nil
})

// licences returns the identifiers of all licences in the directories of the module's linked packages, and of
// those above them.
func (m *linkedModule) licences() ([]string, error) {
	dirs := map[string]bool{m.dir: true}
	for dir := range m.packages {
		for ; len(dir) > len(m.dir); dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	found := map[string]bool{}
	for dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !licenceFile.MatchString(e.Name()) || e.IsDir() || filepath.Ext(e.Name()) == ".go" || slices.Contains(notCode, e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			ids, err := identify(string(text))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, e.Name()), err)
			}
			for _, id := range ids {
				found[id] = true
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no file with a licence", m.dir)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// TestIdentify checks that texts with other terms are not taken for licences that may be linked.
func TestIdentify(t *testing.T) {
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(own)
	for name, test := range map[string]struct{ text, want string }{
		"as it is":          {text, "MPL-2.0"},
		"with a title":      {"Copyright 2026 A. Author\n" + text, "MPL-2.0"},
		"terms added":       {strings.Replace(text, "1. Definitions", "No one may sell the software or offer it as a service, not for money.\n1. Definitions", 1), ""},
		"terms removed":     {text[:len(text)/2], ""},
		"terms after it":    {text + strings.Repeat("No one may sell the software. ", maxRest/5), ""},
		"two licences":      {text + "-----\n" + text, "MPL-2.0"},
		"an unknown one":    {"GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007", ""},
		"nothing":           {"", ""},
		"only a title":      {"MIT License", ""},
		"a licence by name": {"Licensed under the MPL-2.0.", ""},
	} {
		ids, err := identify(test.text)
		if got := strings.Join(ids, ", "); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: got %q, %v, want %q (an error if empty)", name, got, err, test.want)
		}
	}
}

const licencesHead = `# Licences

The modules that the programs are linked from, on any of the supported systems, and the licences in them. Mayfly itself is under the Mozilla Public License 2.0
([LICENSE](../LICENSE)). A test lists the linked packages, recognizes the texts in the module cache and writes this page:
` + "`MAYFLY_UPDATE_GOLDEN=1 go test ./internal/arch -run TestLicences`" + `. A licence that it does not recognize as one of these is an error.

| module | version | licences |
|---|---|---|
`

// TestLicences compares docs/licences.md with the modules that the programs link.
func TestLicences(t *testing.T) {
	modules, err := linkedModules()
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("%s; go mod download gets the modules that other systems need", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	const fewest = 50
	if len(modules) < fewest {
		t.Fatalf("only %d modules were listed: the list is broken", len(modules))
	}
	page := bytes.NewBufferString(licencesHead)
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		ids, err := m.licences()
		if err != nil {
			t.Errorf("%s may not be linked: %s", path, err)
		}
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", path, m.version, strings.Join(ids, ", "))
	}
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "docs", "licences.md")
	if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" && !t.Failed() {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Collect(strings.Lines(page.String()))
	for line := range strings.Lines(string(have)) {
		if i := slices.Index(want, line); i >= 0 {
			want = slices.Delete(want, i, i+1)
		} else {
			t.Errorf("docs/licences.md has a line too many: %s", line)
		}
	}
	for _, line := range want {
		t.Errorf("docs/licences.md lacks a line: %s", line)
	}
	if t.Failed() {
		t.Log("run: MAYFLY_UPDATE_GOLDEN=1 go test ./internal/arch -run TestLicences")
	}
}
