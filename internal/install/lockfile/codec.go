package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/constraint"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/install/internal/plainhcl"
)

const header = `# This file is maintained automatically by "mayfly init".
# Manual edits may be lost in future updates.
`

// Read reads the lock file at path. A missing file is an empty lock. The lock is never nil; with errors, it
// has the entries that could be decoded.
func Read(path string) (*Lock, diag.List) {
	src, err := safefile.Read(path, plainhcl.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return New(), nil
	case err != nil:
		return New(), diag.Errorf("Failed to read dependency lock file", "The dependency lock file %s could not be read: %s.", path, diag.Reason(err))
	}
	return Parse(src, path)
}

// Write replaces the lock file at path by l.
func Write(path string, l *Lock) error {
	if err := safefile.Replace(path, l.Bytes()); err != nil {
		return fmt.Errorf("the dependency lock file %s could not be written: %s", path, diag.Reason(err))
	}
	return nil
}

// Bytes returns the content of the file. It is the same for equal locks.
func (l *Lock) Bytes() []byte {
	var sb strings.Builder
	sb.WriteString(header)
	for e := range l.All() {
		fmt.Fprintf(&sb, "\nprovider %s {\n", quote(e.Provider.String()))
		if e.Constraints == "" {
			fmt.Fprintf(&sb, "  version = %s\n", quote(e.Version.String()))
		} else {
			fmt.Fprintf(&sb, "  version     = %s\n  constraints = %s\n", quote(e.Version.String()), quote(e.Constraints))
		}
		if len(e.Hashes) > 0 {
			sb.WriteString("  hashes = [\n")
			for _, h := range e.Hashes {
				fmt.Fprintf(&sb, "    %s,\n", quote(string(h)))
			}
			sb.WriteString("  ]\n")
		}
		sb.WriteString("}\n")
	}
	return []byte(sb.String())
}

// quote writes s as a string literal: hashes of unknown schemes may contain any text.
func quote(s string) string { return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes()) }

var (
	fileSchema  = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "provider", LabelNames: []string{"source_addr"}}}}
	entrySchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "version", Required: true}, {Name: "constraints"}, {Name: "hashes"}}}
)

// Parse decodes the content of a lock file. filename is for diagnostics. The lock is never nil; with errors,
// it has the entries that could be decoded.
func Parse(src []byte, filename string) (*Lock, diag.List) {
	l, diags := parse(src, filename)
	return l, diags.WithSource(filename, src)
}

// parse decodes a lock file. It returns readable entries beside the errors, so that a command can go on to
// report others.
func parse(src []byte, filename string) (*Lock, diag.List) {
	l := New()
	if rng, found := plainhcl.Conflict(src, filename); found {
		return l, diag.At(rng, "Merge conflict in dependency lock file",
			"The lock file has conflict markers of an unfinished merge. Choose one of the two versions and remove the markers, or restore the file from version control, and run \"mayfly init\".")
	}
	body, diags := plainhcl.Parse(src, filename)
	if diags.HasErrors() {
		return l, diags
	}
	content, hd := body.Content(fileSchema)
	diags = append(diags, plainhcl.Blind(hd)...)
	seen := map[addr.Provider]hcl.Range{}
	for _, block := range content.Blocks {
		p, ds := parseSource(block)
		diags = append(diags, ds...)
		if ds.HasErrors() {
			continue
		}
		if first, dup := seen[p]; dup {
			diags = append(diags, diag.At(block.DefRange, "Duplicate provider lock", "The version of provider %s was already selected at %s. Remove one of the blocks.", p, diag.Place(first))...)
			continue
		}
		seen[p] = block.DefRange
		e, ds := parseEntry(p, block.Body)
		diags = append(diags, ds...)
		if !ds.HasErrors() {
			l.Set(e)
		}
	}
	return l, diags
}

func parseSource(block *hcl.Block) (addr.Provider, diag.List) {
	label, rng := block.Labels[0], block.LabelRanges[0]
	p, err := addr.ParseProvider(label)
	if err != nil {
		return p, diag.At(rng, "Invalid provider source address", "%q is not the source address of a provider. It must have the form \"hostname/namespace/type\".", label)
	}
	if p.IsBuiltIn() || p.IsLegacy() {
		return p, diag.At(rng, "Invalid provider source address", "The provider %s can't be selected by a lock file, because it is never installed. Remove this block.", label)
	}
	if label != p.String() {
		return p, diag.At(rng, "Non-normalized provider source address", "The source address %q must be written in full and in lower case: %q.", label, p.String())
	}
	return p, nil
}

func parseEntry(p addr.Provider, body hcl.Body) (Entry, diag.List) {
	e := Entry{Provider: p}
	content, hd := body.Content(entrySchema)
	diags := plainhcl.Blind(hd)
	for _, attr := range []*hcl.Attribute{content.Attributes["version"], content.Attributes["constraints"]} {
		if attr == nil {
			continue
		}
		text, ds := stringValue(attr)
		diags = append(diags, ds...)
		if ds.HasErrors() {
			continue
		}
		if attr.Name == "version" {
			diags = append(diags, e.parseVersion(text, attr)...)
		} else {
			diags = append(diags, e.parseConstraints(text, attr)...)
		}
	}
	if attr := content.Attributes["hashes"]; attr != nil {
		diags = append(diags, e.parseHashes(attr)...)
	}
	return e, diags
}

func stringValue(attr *hcl.Attribute) (string, diag.List) {
	v, hd := attr.Expr.Value(nil)
	if hd.HasErrors() {
		return "", plainhcl.Blind(hd)
	}
	if v.IsNull() || v.Type() != cty.String {
		return "", diag.At(attr.Expr.Range(), "Invalid value", "The argument %q must be a string.", attr.Name)
	}
	return v.AsString(), nil
}

func (e *Entry) parseVersion(text string, attr *hcl.Attribute) diag.List {
	v, err := versions.ParseVersion(text)
	if err != nil {
		return diag.At(attr.Expr.Range(), "Invalid provider version number", "The selected version of provider %s is invalid: %s.", e.Provider, err)
	}
	if v.String() != text {
		return diag.At(attr.Expr.Range(), "Invalid provider version number", "The selected version of provider %s must be written in the form %q.", e.Provider, v.String())
	}
	e.Version = v
	return nil
}

func (e *Entry) parseConstraints(text string, attr *hcl.Attribute) diag.List {
	spec, err := constraints.ParseRubyStyleMulti(text)
	if err != nil {
		return diag.At(attr.Expr.Range(), "Invalid provider version constraints", "The version constraints recorded for provider %s are invalid: %s.", e.Provider, err)
	}
	e.Constraints = constraint.Text(spec)
	return nil
}

func (e *Entry) parseHashes(attr *hcl.Attribute) diag.List {
	exprs, hd := hcl.ExprList(attr.Expr)
	if hd.HasErrors() {
		return diag.At(attr.Expr.Range(), "Invalid provider hash set", "The argument \"hashes\" must be a list of strings.")
	}
	for _, expr := range exprs {
		v, hd := expr.Value(nil)
		if hd.HasErrors() || v.IsNull() || v.Type() != cty.String {
			return diag.At(expr.Range(), "Invalid provider hash", "A hash must be a string that starts with its scheme, as in \"h1:...\" or \"zh:...\".")
		}
		scheme, rest, ok := strings.Cut(v.AsString(), ":")
		if !ok || scheme == "" || rest == "" {
			return diag.At(expr.Range(), "Invalid provider hash", "A hash must start with its scheme, as in \"h1:...\" or \"zh:...\". Run \"mayfly init\" after removing this one.")
		}
		e.Hashes = append(e.Hashes, Hash(v.AsString()))
	}
	return nil
}
