package diag

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// Named returns a view of a body made by HCL's parsers. Its errors about unexpected arguments and blocks
// suggest the names that may have been meant, including names removed from the body earlier by
// PartialContent. If a required argument is missing because its name is misspelled, only the misspelling is
// an error. Nested bodies get the same view.
func Named(body hcl.Body) hcl.Body { return namedBody{Body: body} }

// Native returns the native syntax body behind a view from Named, or nil if the body has another syntax.
func Native(body hcl.Body) *hclsyntax.Body {
	if b, ok := body.(namedBody); ok {
		body = b.Body
	}
	native, _ := body.(*hclsyntax.Body)
	return native
}

// namedBody is the view returned by Named. It remembers the names that PartialContent has extracted,
// because they are valid too.
type namedBody struct {
	hcl.Body
	taken hcl.BodySchema
}

// Content implements hcl.Body.
func (b namedBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, diags := b.Body.Content(s)
	if diags.HasErrors() {
		diags = b.explained(s)
	}
	return wrapNested(content), diags
}

// PartialContent implements hcl.Body.
func (b namedBody) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	content, rest, diags := b.Body.PartialContent(s)
	if rest != nil {
		rest = namedBody{rest, hcl.BodySchema{
			Attributes: slices.Concat(b.taken.Attributes, s.Attributes), Blocks: slices.Concat(b.taken.Blocks, s.Blocks),
		}}
	}
	return wrapNested(content), rest, diags
}

// wrapNested applies the view to the bodies of blocks. It changes the content and returns it.
func wrapNested(content *hcl.BodyContent) *hcl.BodyContent {
	if content == nil {
		return nil
	}
	for i, block := range content.Blocks {
		seen := *block
		seen.Body = Named(block.Body)
		content.Blocks[i] = &seen
	}
	return content
}

// explained returns the body's errors, with suggestions.
func (b namedBody) explained(s *hcl.BodySchema) hcl.Diagnostics {
	content, diags := b.Body.Content(Optional(s))
	meant := map[string]bool{} // names that misspelled ones are meant to be
	unknown := b.unknown(s)
	for i, d := range diags {
		if d.Subject == nil {
			continue
		}
		if name, ok := unknown[*d.Subject]; ok {
			explained := *d
			explained.Detail = name.error() + b.hint(name, s, meant)
			diags[i] = &explained
		}
	}
	var missing hcl.Diagnostics
	for _, a := range s.Attributes {
		if a.Required && (content == nil || content.Attributes[a.Name] == nil) && !meant[a.Name] {
			missing = append(missing, MissingArgument(a.Name, b.MissingItemRange()))
		}
	}
	return append(missing, diags...)
}

// Optional returns the schema with no argument required.
func Optional(s *hcl.BodySchema) *hcl.BodySchema {
	out := &hcl.BodySchema{Blocks: s.Blocks, Attributes: slices.Clone(s.Attributes)}
	for i := range out.Attributes {
		out.Attributes[i].Required = false
	}
	return out
}

// MissingArgument returns the error that a required argument is missing.
func MissingArgument(name string, at hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Missing required argument",
		Detail: fmt.Sprintf("The argument %q is required, but no definition was found.", name), Subject: &at,
	}
}

// unknownName is the name of an argument or block that the schema does not have.
type unknownName struct {
	name  string
	block bool
	json  bool // in JSON syntax, it may be either
}

func (n unknownName) error() string {
	switch {
	case n.json:
		return fmt.Sprintf("No argument or block type is named %q.", n.name)
	case n.block:
		return fmt.Sprintf("Blocks of type %q are not expected here.", n.name)
	}
	return fmt.Sprintf("An argument named %q is not expected here.", n.name)
}

// unknown returns the names that neither the schema nor earlier calls of PartialContent know, by their
// place.
func (b namedBody) unknown(s *hcl.BodySchema) map[hcl.Range]unknownName {
	out := map[hcl.Range]unknownName{}
	body, native := b.Body.(*hclsyntax.Body)
	if !native {
		attrs, _ := b.JustAttributes()
		for _, a := range attrs {
			out[a.NameRange] = unknownName{name: a.Name, json: hcljson.IsJSONExpression(a.Expr)}
		}
	} else {
		for _, a := range body.Attributes {
			out[a.NameRange] = unknownName{name: a.Name}
		}
		for _, block := range body.Blocks {
			out[block.TypeRange] = unknownName{name: block.Type, block: true}
		}
	}
	for rng, n := range out {
		arguments, blocks := slices.Concat(argumentNames(s), argumentNames(&b.taken)), slices.Concat(blockTypes(s), blockTypes(&b.taken))
		if (!n.block || n.json) && slices.Contains(arguments, n.name) || (n.block || n.json) && slices.Contains(blocks, n.name) {
			delete(out, rng)
		}
	}
	return out
}

// inLifecycle lists the arguments and blocks of lifecycle blocks, of all kinds of blocks.
var inLifecycle = []string{
	"create_before_destroy", "prevent_destroy", "ignore_changes", "replace_triggered_by", "destroy", "precondition", "postcondition",
}

// hint returns a sentence, preceded by a space, that suggests a name, and adds that name to meant.
func (b namedBody) hint(n unknownName, s *hcl.BodySchema, meant map[string]bool) string {
	arguments, blocks := slices.Concat(argumentNames(s), argumentNames(&b.taken)), slices.Concat(blockTypes(s), blockTypes(&b.taken))
	switch {
	case slices.Contains(inLifecycle, n.name) && slices.Contains(blocks, "lifecycle"):
		return fmt.Sprintf(" Write %q in the lifecycle block.", n.name)
	case n.json:
		arguments = append(arguments, blocks...)
	case slices.Contains(arguments, "iterator") && slices.Contains(blocks, "content") && Nearest(n.name, slices.Concat(arguments, blocks)) == "":
		return fmt.Sprintf(" Write %q in the content block of the dynamic block.", n.name)
	case n.block && slices.Contains(arguments, n.name):
		meant[n.name] = true
		return fmt.Sprintf(" It is an argument: write it with an equals sign, as in %s = VALUE.", n.name)
	case !n.block && slices.Contains(blocks, n.name):
		return fmt.Sprintf(" It is a block: write it without an equals sign, as in %s { ... }.", n.name)
	case n.block:
		arguments, blocks = blocks, arguments
	}
	near := Nearest(n.name, arguments)
	if secret := n.name + "_wo"; near == "" && slices.Contains(arguments, secret) { // the write-only form of the name
		near = secret
	}
	if near != "" {
		meant[near] = true
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	near = Nearest(n.name, blocks)
	switch {
	case near == "":
		return misplaced(n, slices.Contains(arguments, "resource") || slices.Contains(blocks, "resource"))
	case n.block:
		meant[near] = true
		return fmt.Sprintf(" Did you mean the argument %q?", near)
	}
	return fmt.Sprintf(" Did you mean the block %q?", near)
}

// topLevel lists block types that no block contains, and inTerraform some that only the terraform block
// contains.
var (
	topLevel    = []string{"resource", "data", "ephemeral", "module", "variable", "output", "locals", "provider", "terraform", "moved", "removed", "import", "check"}
	inTerraform = []string{"backend", "cloud", "encryption", "required_providers", "required_version"}
)

// misplaced returns a sentence, preceded by a space, on where a name belongs, "" if that is not known. top
// says that it was found at the top level of a file.
func misplaced(n unknownName, top bool) string {
	switch {
	case n.json:
	case top && slices.Contains(inTerraform, n.name):
		return fmt.Sprintf(" Write %q in a terraform block.", n.name)
	case top && !n.block:
		return " Outside of blocks there are only blocks. To name a value, use a locals block; to set a variable, use terraform.tfvars."
	case !top && n.block && slices.Contains(topLevel, n.name):
		return " A block of this type is in no other block: move it out, or look above it for a brace that is not closed."
	}
	return ""
}

func argumentNames(s *hcl.BodySchema) []string {
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	return names
}

func blockTypes(s *hcl.BodySchema) []string {
	var names []string
	for _, b := range s.Blocks {
		if b.Type != "_" { // the escape block is similar to every short name
			names = append(names, b.Type)
		}
	}
	return names
}
