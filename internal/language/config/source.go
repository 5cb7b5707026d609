package config

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// FS is the file system of configurations. Names are slash separated and relative to the working directory,
// or absolute. One goroutine at a time uses it; testing/fstest.MapFS satisfies it.
type FS interface {
	ReadFile(name string) ([]byte, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// OSFS reads from the operating system's file system.
type OSFS struct {
	// Pipes makes ReadFile wait for the writer of a pipe, for files named by the user. Otherwise a pipe is
	// an error.
	Pipes bool
}

// ReadFile reads a whole file. Its size is limited as for configuration and values files.
func (f OSFS) ReadFile(name string) ([]byte, error) {
	read := safefile.Read
	if f.Pipes {
		read = safefile.ReadStream
	}
	return read(filepath.FromSlash(name), maxFileSize)
}

// ReadDir lists a directory, sorted by name.
func (OSFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(filepath.FromSlash(name)) }

// maxFileSize is the maximum size of a configuration or values file, in bytes. Syntax trees take about
// fifty times the size of their source.
const maxFileSize = 16 << 20

// maxFileDiagnostics bounds the errors of each kind, of syntax and of structure, per file: a file that
// isn't configuration at all has one per line.
const maxFileDiagnostics = 100

// nativeSuffixes and jsonSuffixes are the suffixes of configuration files. If two files share a base name
// and a syntax, the first suffix hides the second: main.tofu hides main.tf.
var nativeSuffixes, jsonSuffixes = []string{".tofu", ".tf"}, []string{".tofu.json", ".tf.json"}

// splitName returns the base name and the suffix of a configuration file's name; ok is false for other
// files.
//
//	main.tf             → main, .tf
//	main_override.tofu  → main_override, .tofu
func splitName(name string) (base, suffix string, ok bool) {
	if ignoredName(name) {
		return "", "", false
	}
	for _, list := range [][]string{jsonSuffixes, nativeSuffixes} {
		for _, s := range list {
			if b, found := strings.CutSuffix(name, s); found && b != "" {
				return b, s, true
			}
		}
	}
	return "", "", false
}

// ignoredName reports whether name is a hidden file or an editor's backup or lock file.
func ignoredName(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		(strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"))
}

// selectFiles picks the configuration files from a directory listing: primary files and override files, each
// sorted by name. Files that are not regular are included: ignoring a pipe or device would remove its content
// from the configuration.
func selectFiles(entries []fs.DirEntry) (primary, override []string) {
	names := map[string]bool{}
	for _, e := range entries {
		if _, _, ok := splitName(e.Name()); ok && !e.IsDir() {
			names[e.Name()] = true
		}
	}
	for name := range names {
		base, suffix, _ := splitName(name)
		if shadow, ok := strings.CutPrefix(suffix, ".tf"); ok && names[base+".tofu"+shadow] {
			continue
		}
		if base == "override" || strings.HasSuffix(base, "_override") {
			override = append(override, name)
		} else {
			primary = append(primary, name)
		}
	}
	slices.Sort(primary)
	slices.Sort(override)
	return primary, override
}

// readChecked reads a file and refuses content that must not reach a parser. The returned bytes have no
// byte order mark.
func readChecked(fsys FS, name string) ([]byte, diag.List) {
	src, err := fsys.ReadFile(name)
	if errors.Is(err, safefile.ErrTooLarge) || len(src) > maxFileSize {
		return nil, diag.At(startOf(name), "File too large",
			"The file %q has more than %d bytes, which is the most that is accepted. Split it into several files, or load bulk data with a function such as jsondecode(file(...)).",
			name, maxFileSize)
	}
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = similarFile(fsys, name)
		}
		return nil, diag.Errorf("Failed to read file", "The file %q could not be read: %s.%s", name, diag.Reason(err), hint)
	}
	return checkEncoding(src, name)
}

// similarFile returns a sentence, preceded by a space, that suggests a file of the same directory whose name
// is similar to one that does not exist; "" if there is none.
func similarFile(fsys FS, name string) string {
	entries, _ := fsys.ReadDir(path.Dir(name)) // those that were read before an error will do
	ext := path.Ext(name)
	var names []string
	for _, e := range entries {
		if base, same := strings.CutSuffix(e.Name(), ext); same {
			names = append(names, base)
		}
	}
	if near := diag.Nearest(strings.TrimSuffix(path.Base(name), ext), names); near != "" {
		return fmt.Sprintf(" Did you mean %q?", path.Join(path.Dir(name), near+ext))
	}
	return ""
}

// parse parses the source of a file in the syntax that its name implies. The body is never nil. With syntax
// errors, it has the parts that the parser recognized.
func parse(src []byte, name string) (hcl.Body, diag.List) {
	isJSON := strings.HasSuffix(name, ".json")
	if diags := checkBounds(src, name, isJSON); diags.HasErrors() {
		return hcl.EmptyBody(), diags
	}
	if isJSON {
		file, hd := hcljson.Parse(src, name)
		if hd.HasErrors() {
			return hcl.EmptyBody(), jsonProblem(hd, src, name)
		}
		return file.Body, diag.FromHCL(hd)
	}
	file, hd := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	diags := limit(syntax(hd, src, name), name)
	if file == nil || file.Body == nil {
		return hcl.EmptyBody(), diags
	}
	return file.Body, diags
}

// syntax converts the parser's errors about a file.
func syntax(hd hcl.Diagnostics, src []byte, name string) diag.List {
	if !hd.HasErrors() {
		return diag.FromHCL(hd)
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	return diag.Syntax(hd, tokens)
}

// expressionSyntax converts the parser's errors about an expression that starts at a position in a file.
func expressionSyntax(hd hcl.Diagnostics, src []byte, name string, start hcl.Pos) diag.List {
	if !hd.HasErrors() {
		return diag.FromHCL(hd)
	}
	tokens, _ := hclsyntax.LexExpression(src, name, start)
	return diag.Syntax(hd, tokens)
}

// jsonProblem reports the first problem of a JSON file. Later ones are its consequences, and the parser may
// place the first too late.
func jsonProblem(hd hcl.Diagnostics, src []byte, name string) diag.List {
	d := diag.FromHCL(hd)[0]
	d.Summary = strings.Replace(d.Summary, "seperator", "separator", 1)
	var syntax *json.SyntaxError
	if err := json.Unmarshal(src, new(json.RawMessage)); errors.As(err, &syntax) && d.Subject != nil && int(syntax.Offset) <= d.Subject.Start.Byte {
		at := positionOf(src, int(syntax.Offset)-1, name)
		d.Subject = &at
	}
	return diag.List{d}
}

// positionOf returns the range of the character at an offset.
func positionOf(src []byte, offset int, name string) hcl.Range {
	out := startOf(name)
	for sc := hcl.NewRangeScanner(src, name, bufio.ScanRunes); sc.Scan() && out.End.Byte <= offset; {
		out = sc.Range()
	}
	return out
}

// limit keeps the first maxFileDiagnostics and says how many others there are.
func limit(diags diag.List, name string) diag.List {
	if len(diags) <= maxFileDiagnostics {
		return diags
	}
	more := len(diags) - maxFileDiagnostics
	return append(diags[:maxFileDiagnostics:maxFileDiagnostics], diag.Errorf("Too many errors in one file",
		"%d more problems in %q are not shown. Check that this is a configuration file.", more, name)...)
}

// joinFile returns the name of a file in a directory as it appears in source ranges.
func joinFile(dir, name string) string { return path.Join(dir, name) }

// quoteList writes names as `"a", "b" or "c"`.
func quoteList(names []string, conj string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " " + conj + " " + quoted[last]
}
