package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// fileSchema lists the block types of a configuration file with their labels. A new block type needs an
// entry here, one in declKey if it has a name, and one in decode.
var fileSchema = schema("", "terraform", "language", "provider name", "variable name", "locals", "output name", "resource type name",
	"data type name", "ephemeral type name", "action type name", "module name", "moved", "removed", "import", "check name", "ephemeral_attributes type")

// decl is a top-level block after its overrides were laid over it. Overrides are applied to the body,
// before anything is decoded, so the decoding functions do not know that override files exist.
type decl struct {
	block *hcl.Block
	key   string
}

// declKey identifies the object that a block declares; "" for blocks without a name. For providers it
// includes the alias. A provider's alias is an argument, not a label, and therefore has to be evaluated here
// already. If it is not a constant string, the key lacks it, and decoding the block reports the mistake.
//
//	resource "aws_instance" "web"      → resource aws_instance web
//	provider "aws" { alias = "west" }  → provider aws west
func declKey(b *hcl.Block) string {
	switch b.Type {
	case "variable", "output", "module", "resource", "data", "ephemeral", "list", "action", "check":
		return b.Type + " " + strings.Join(b.Labels, " ")
	case "provider":
		content, _, _ := b.Body.PartialContent(schema("alias"))
		if attr := content.Attributes["alias"]; attr != nil {
			if v, diags := attr.Expr.Value(nil); !diags.HasErrors() && v.Type() == cty.String && v.IsWhollyKnown() && !v.IsNull() {
				return "provider " + b.Labels[0] + " " + v.AsString()
			}
		}
		return "provider " + b.Labels[0]
	default:
		return ""
	}
}

// blocks is the top level of a module's files: declarations in order with their overrides, and separately
// the blocks whose settings are merged one by one.
type blocks struct {
	decls    []*decl
	byKey    map[string]*decl
	settings []setting
	locals   []setting
}

// setting is a block whose arguments are merged one by one. Whether it comes from an override file decides
// if a repeated argument replaces the first or is an error.
type setting struct {
	block    *hcl.Block
	override bool
}

// collect sorts the blocks of all files into declarations and settings. All primary files come first, since
// an override may be about a block of any of them; overrides are applied in the order of their files'
// names.
func (d *decoder) collect(primary, override, queries []hcl.Body) *blocks {
	bs := &blocks{byKey: map[string]*decl{}}
	for _, body := range primary {
		for _, b := range d.topLevel(body, false) {
			d.collectPrimary(bs, b)
		}
	}
	for _, body := range queries {
		for _, b := range d.topLevel(body, true) {
			d.collectPrimary(bs, b)
		}
	}
	for _, body := range override {
		for _, b := range d.topLevel(body, false) {
			d.collectOverride(bs, b)
		}
	}
	return bs
}

// topLevel returns the blocks of a file, which may be a query file. A file that is not configuration at all
// has an error per line, so their number is limited.
func (d *decoder) topLevel(body hcl.Body, query bool) hcl.Blocks {
	content, diags := body.Content(anySchema)
	d.diags = append(d.diags, limit(diag.FromHCL(diags), body.MissingItemRange().Filename)...)
	return slices.DeleteFunc(content.Blocks, func(b *hcl.Block) bool { return d.misplaced(b, query) })
}

// collectPrimary adds a block of a normal file. Of two blocks that declare the same thing, the first is
// kept, so that references to it give no further errors.
func (d *decoder) collectPrimary(bs *blocks, b *hcl.Block) {
	switch b.Type {
	case "terraform", "language":
		bs.settings = append(bs.settings, setting{b, false})
		return
	case "locals":
		bs.locals = append(bs.locals, setting{b, false})
		return
	}
	dc := &decl{block: b, key: declKey(b)}
	if dc.key != "" {
		if first := bs.byKey[dc.key]; first != nil {
			d.duplicate(b, first.block)
			return
		}
		bs.byKey[dc.key] = dc
	}
	bs.decls = append(bs.decls, dc)
}

// duplicate reports a second declaration of the same thing, in words that fit the block type.
func (d *reader) duplicate(b, first *hcl.Block) {
	at := first.DefRange
	var summary, detail string
	switch b.Type {
	case "resource", "data", "ephemeral", "list", "action":
		kind := map[string]string{"resource": "resource", "data": "data source", "ephemeral": "ephemeral resource", "list": "list", "action": "action"}[b.Type]
		word := b.Type
		if b.Type == "ephemeral" {
			word = "ephemeral resource"
		}
		summary = fmt.Sprintf("Duplicate %s %q configuration", word, b.Labels[0])
		detail = fmt.Sprintf("A block for the %s %s named %q is already at %s. Rename one of them.",
			b.Labels[0], kind, b.Labels[1], diag.Place(at))
	case "provider":
		summary = "Duplicate provider configuration"
		if key := declKey(b); strings.Count(key, " ") > 1 {
			detail = fmt.Sprintf("A configuration of provider %q with this alias is already at %s. Choose another alias.",
				b.Labels[0], diag.Place(at))
		} else {
			detail = fmt.Sprintf("The default configuration of provider %q is already at %s. Merge the two blocks, or give this one an \"alias\".",
				b.Labels[0], diag.Place(at))
		}
	default:
		what := map[string]string{"variable": "variable declaration", "output": "output definition", "module": "module call", "check": "check configuration"}[b.Type]
		noun := map[string]string{"variable": "A variable", "output": "An output", "module": "A module call", "check": "A check block"}[b.Type]
		summary = "Duplicate " + what
		detail = fmt.Sprintf("%s named %q was already defined at %s. The names of %s blocks must be unique within a module.", noun, b.Labels[0], diag.Place(at), b.Type)
	}
	d.errorAt(b.DefRange, summary, "%s", detail)
}

// collectOverride lays a block of an override file over the block that it names. Blocks without a name,
// such as moved, can't be overridden. The base block itself is copied, not changed: a parsed directory is
// shared by all calls of a module.
func (d *decoder) collectOverride(bs *blocks, b *hcl.Block) {
	switch b.Type {
	case "terraform", "language":
		bs.settings = append(bs.settings, setting{b, true})
		return
	case "locals":
		bs.locals = append(bs.locals, setting{b, true})
		return
	case "moved", "removed", "import", "check", "ephemeral_attributes":
		d.errorAt(b.DefRange, fmt.Sprintf("Cannot override %q blocks", b.Type), "Blocks of type %q can appear only in normal files, not in override files.", b.Type)
		return
	}
	base := bs.byKey[declKey(b)]
	if base == nil {
		what := map[string]string{
			"variable": "base variable declaration", "output": "base output definition", "module": "module call",
			"provider": "base provider configuration", "resource": "resource", "data": "data resource", "ephemeral": "ephemeral resource",
		}[b.Type]
		what = cmp.Or(what, b.Type+" block")
		d.errorAt(b.DefRange, fmt.Sprintf("Missing %s to override", what),
			"There is no %s block named %q. An override file can only override a block that is declared in a normal configuration file.",
			b.Type, strings.Join(b.Labels, "."))
		return
	}
	content, _, _ := b.Body.PartialContent(schema("depends_on"))
	if attr := content.Attributes["depends_on"]; attr != nil && b.Type != "provider" && !isEmptyList(attr.Expr) {
		d.errorAt(attr.NameRange, "Unsupported override", "The depends_on argument may not be overridden. Set it in the normal configuration file.")
		return
	}
	if d.overridesConditions(b) {
		return
	}
	merged := *base.block
	// A lifecycle block is merged argument by argument; nested blocks of all other types are replaced as a
	// whole.
	o := overlay{base: base.block.Body, over: b.Body}
	if b.Type == "resource" || b.Type == "data" || b.Type == "ephemeral" {
		o.deep = []string{"lifecycle"}
	}
	merged.Body = o
	base.block = &merged
}

func isEmptyList(expr hcl.Expression) bool {
	items, diags := hcl.ExprList(expr)
	return !diags.HasErrors() && len(items) == 0
}

// overridesConditions reports conditions in a block of an override file: they could be neither replaced one
// by one nor silently dropped.
func (d *decoder) overridesConditions(b *hcl.Block) bool {
	found := len(d.diags)
	content, _, _ := b.Body.PartialContent(schema("", "lifecycle", "validation", "precondition", "postcondition"))
	if b.Type != "variable" && b.Type != "output" {
		blocks := content.Blocks.OfType("lifecycle")
		content.Blocks = nil
		for _, lc := range blocks {
			inner, _, _ := lc.Body.PartialContent(schema("", "precondition", "postcondition"))
			content.Blocks = append(content.Blocks, inner.Blocks...)
		}
	}
	for _, c := range content.Blocks {
		if c.Type != "lifecycle" {
			d.errorAt(c.DefRange, fmt.Sprintf("Cannot override %s blocks", c.Type), "A %s block can't be given in an override file. Write it in the normal configuration file.", c.Type)
		}
	}
	return len(d.diags) > found
}

// decode fills the module from the top-level blocks: first the settings and local values, which are merged
// from several blocks, then the declarations in the order of the files.
func (d *decoder) decode(bs *blocks) {
	resources := &resourceDecoder{d.reader, d.m}
	refactorings := &refactoringDecoder{reader: d.reader, m: d.m}
	(&settingsDecoder{reader: d.reader, m: d.m, forTerraform: d.terraform}).decode(bs.settings)
	d.locals(bs.locals)
	for _, dc := range bs.decls {
		b := dc.block
		switch b.Type {
		case "provider":
			d.provider(b)
		case "variable":
			d.variable(b)
		case "output":
			d.output(b)
		case "resource", "data", "ephemeral":
			resources.resource(b)
		case "list":
			resources.list(b)
		case "action":
			resources.action(b)
		case "module":
			d.moduleCall(b)
		case "check":
			resources.check(b)
		case "ephemeral_attributes":
			resources.ephemeralPolicy(b)
		case "moved":
			refactorings.moved(b)
		case "removed":
			refactorings.removed(b)
		case "import":
			refactorings.importBlock(b)
		}
	}
}

// locals decodes locals blocks; overrides replace single values.
func (d *decoder) locals(list []setting) {
	for _, s := range list {
		attrs, diags := s.block.Body.JustAttributes()
		d.hcl(diags)
		for _, attr := range inOrder(attrs) {
			first := d.m.Locals[attr.Name]
			switch {
			case !d.identifier(attr.Name, attr.NameRange, "local value name"):
				continue
			case s.override && first == nil:
				d.errorAt(attr.NameRange, "Missing base local value definition to override",
					"There is no local value named %q. An override file can only override a local value that is defined in a normal configuration file.", attr.Name)
				continue
			case !s.override && first != nil:
				d.errorAt(attr.NameRange, "Duplicate local value definition",
					"The local value %q is already defined at %s. Rename one of them.", attr.Name, diag.Place(first.Range))
				continue
			}
			d.m.Locals[attr.Name] = &Local{Name: attr.Name, Expr: attr.Expr, Range: attr.Range}
		}
	}
}
