// Command attachments writes the files of a release beside the programs: the licences of everything that is
// linked into them, functions for shells that complete commands, and the compressed manual page. The result
// depends on the source only.
//
// usage: attachments DIR      in the directory of the module that it belongs to, or below
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systems are the systems that programs are released for. They don't link the same modules.
var systems = []string{"linux", "darwin", "windows"}

// licenceFile matches the names of files whose text must come along with a program.
var licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice)([-.]\w+)?$`)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: attachments DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "attachments:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	for _, sub := range []string{"completions", "man"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	text, err := licences()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "THIRD_PARTY_LICENSES"), text, 0o644); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "mayfly.bash", "zsh": "_mayfly", "fish": "mayfly.fish"} {
		functions, err := output(nil, "go", "run", "./cmd/mayfly", "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "completions", name), functions, 0o644); err != nil {
			return err
		}
	}
	root, err := repository()
	if err != nil {
		return err
	}
	return compress(filepath.Join(root, "docs", "man", "mayfly.1"), filepath.Join(dir, "man", "mayfly.1.gz"))
}

// compress writes a file in compressed form, without its name and time.
func compress(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}

// licences returns the texts for all linked modules and Go's own library. It is an error if one has none.
func licences() ([]byte, error) {
	goroot, err := output(nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules := []string{"Go\t\t" + strings.TrimSpace(string(goroot))}
	for _, system := range systems {
		list, err := output([]string{"GOOS=" + system, "GOARCH=amd64", "CGO_ENABLED=0"}, "go", "list", "-deps", "-f",
			`{{with .Module}}{{if not .Main}}{{.Path}}{{"\t"}}{{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`, "./cmd/...")
		if err != nil {
			return nil, err
		}
		modules = append(modules, strings.Fields(strings.ReplaceAll(string(list), "\t", "\x00"))...)
	}
	slices.Sort(modules[1:])
	modules = slices.Compact(modules)
	var out bytes.Buffer
	out.WriteString("Mayfly is distributed under the Mozilla Public License 2.0. The following are the licences of what its programs contain.\n")
	var missing []error
	for _, m := range modules {
		f := strings.Split(strings.ReplaceAll(m, "\x00", "\t"), "\t")
		title := strings.TrimSpace(f[0] + " " + f[1])
		entries, err := os.ReadDir(f[2])
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(f[2], e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&out, "\n%[1]s\n%[2]s, %[3]s\n%[1]s\n\n%[4]s\n", strings.Repeat("=", 80), title, e.Name(), bytes.TrimSpace(text))
		}
		if !found {
			missing = append(missing, fmt.Errorf("%s has no file with a licence", title))
		}
	}
	return out.Bytes(), errors.Join(missing...)
}

// repository returns the root of the repository, two levels above this module.
func repository() (string, error) {
	file, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Join(filepath.Dir(string(bytes.TrimSpace(file))), "..", ".."), nil
}

// output runs a command in the root of the repository and returns its output.
func output(env []string, name string, args ...string) ([]byte, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return out, nil
}
