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
	"github.com/mayfly-iac/mayfly/safefile"
)

// FS is where configuration files are read from. Names are slash separated and relative to the working
// directory, or absolute. Implementations must be safe for use by one goroutine at a time;
// testing/fstest.MapFS satisfies it.
type FS interface {
	ReadFile(name string) ([]byte, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// OSFS reads from the operating system's file system.
type OSFS struct {
	// Pipes lets ReadFile wait for what writes to a pipe, as for a file that a person has named. Otherwise a
	// pipe is an error.
	Pipes bool
}

// ReadFile reads the whole file, which must not be larger than a configuration or values file may be.
func (f OSFS) ReadFile(name string) ([]byte, error) {
	read := safefile.Read
	if f.Pipes {
		read = safefile.ReadStream
	}
	return read(filepath.FromSlash(name), maxFileSize)
}

// ReadDir lists a directory, sorted by name.
func (OSFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(filepath.FromSlash(name)) }

// maxFileSize bounds one configuration or values file, in bytes. Syntax trees take about fifty times the size
// of their source.
const maxFileSize = 16 << 20

// maxFileDiagnostics bounds the errors of each kind, of syntax and of structure, reported for one file: a
// file that isn't configuration at all has one per line.
const maxFileDiagnostics = 100

// suffixes of configuration files; where two share a base name and syntax, the first shadows the second.
var nativeSuffixes, jsonSuffixes = []string{".tofu", ".tf"}, []string{".tofu.json", ".tf.json"}

// splitName returns the base name and the suffix of a configuration file's name; ok is false for other files.
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

// selectFiles picks the configuration files out of a directory listing: primary files and override files,
// each sorted by name. What is no regular file is among them: to pass over a pipe or device would be to take
// what it is there for as removed from the configuration.
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

// readChecked reads a file and refuses what no parser should see. The returned bytes have no byte order mark.
func readChecked(fsys FS, name string) ([]byte, diag.List) {
	src, err := fsys.ReadFile(name)
	if errors.Is(err, safefile.ErrTooLarge) || len(src) > maxFileSize {
		return nil, diag.At(startOf(name), "File too large",
			"The file %q has more than %d bytes, which is the most that is accepted. Split it into several files, or load bulk data with a function such as jsondecode(file(...)).",
			name, maxFileSize)
	}
	if err != nil {
		return nil, diag.Errorf("Failed to read file", "The file %q could not be read: %s.", name, diag.Reason(err))
	}
	return checkEncoding(src, name)
}

func startOf(filename string) hcl.Range {
	return hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}
}

// parse parses the source of a file by the syntax that its name tells. The body is never nil.
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

// syntax converts what the parser reports about a file.
func syntax(hd hcl.Diagnostics, src []byte, name string) diag.List {
	if !hd.HasErrors() {
		return diag.FromHCL(hd)
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	return diag.Syntax(hd, tokens)
}

// expressionSyntax converts what the parser reports about an expression that starts at a position of a file.
func expressionSyntax(hd hcl.Diagnostics, src []byte, name string, start hcl.Pos) diag.List {
	if !hd.HasErrors() {
		return diag.FromHCL(hd)
	}
	tokens, _ := hclsyntax.LexExpression(src, name, start)
	return diag.Syntax(hd, tokens)
}

// jsonProblem reports the first problem of a JSON file. What the parser finds after it are consequences, and
// where it sees the first may be behind it.
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
