package config

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	registry "github.com/opentofu/registry-address/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// List has the arguments that only list blocks have. The content of config is the body of the resource.
type List struct {
	Include, Limit hcl.Expression // nil if they are not set
}

var (
	// querySchema lists the block types of a query file. All but lists are decoded as in other files.
	querySchema = schema("", "list type name", "provider name", "variable name", "locals")
	listSchema  = schema("count for_each provider include_resource limit", "config")
	// anySchema has the blocks of both kinds of files, so that one in the wrong kind is recognized.
	anySchema = &hcl.BodySchema{Blocks: append(slices.Clone(fileSchema.Blocks), querySchema.Blocks[0])}
)

// querySuffixes are the suffixes of query files.
var querySuffixes = []string{".tfquery.hcl", ".tfquery.json"}

// QuerySuffix is the suffix of query files in native syntax.
const QuerySuffix = ".tfquery.hcl"

// queryFiles returns the names of the query files in a directory.
func queryFiles(entries []fs.DirEntry) (names []string) {
	for _, e := range entries {
		isQuery := slices.ContainsFunc(querySuffixes, func(s string) bool { return strings.HasSuffix(e.Name(), s) && e.Name() != s })
		if isQuery && !e.IsDir() && !ignoredName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// misplaced reports a block in a file of the wrong kind.
func (d *decoder) misplaced(b *hcl.Block, inQuery bool) bool {
	switch {
	case b.Type == "list" && !inQuery:
		d.errorAt(b.DefRange, "List block outside of a query file",
			"Lists are for the command query, and no part of a configuration. Move the block to a file whose name ends in %s.", QuerySuffix)
		return true
	case inQuery && !slices.ContainsFunc(querySchema.Blocks, func(h hcl.BlockHeaderSchema) bool { return h.Type == b.Type }):
		d.errorAt(b.DefRange, fmt.Sprintf("Block of type %q in a query file", b.Type),
			"A query file has list, provider, variable and locals blocks. Move this block to a file whose name ends in .tf, or remove it.")
		return true
	}
	return false
}

// argumentsOf returns the names of the arguments of a block.
func argumentsOf(s *hcl.BodySchema) (names []string) {
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	return names
}

// list decodes a list block. Its arguments for the provider are in a block of their own.
func (d *resourceDecoder) list(block *hcl.Block) {
	r := &Resource{
		Addr: addr.Resource{Mode: addr.List, Type: block.Labels[0], Name: block.Labels[1]}, Module: d.m, Body: hcl.EmptyBody(), List: &List{},
		Range: block.DefRange, TypeRange: block.LabelRanges[0],
	}
	okType, okName := d.name(block, 0, "list type"), d.name(block, 1, "list name")
	if !okType || !okName {
		return
	}
	content, rest, diags := block.Body.PartialContent(listSchema)
	d.hcl(diags)
	for _, attr := range inOrder(d.attributes(rest)) {
		if meant := diag.Nearest(attr.Name, argumentsOf(listSchema)); meant != "" {
			d.errorAt(attr.NameRange, "Unsupported argument", "A list block has no argument %q. Did you mean %q?", attr.Name, meant)
			continue
		}
		d.errorAt(attr.NameRange, "Unsupported argument", "A list block has no argument %q. Arguments of the provider are in its config block:\n\n  config {\n    %s = ...\n  }", attr.Name, attr.Name)
	}
	if b := d.single(content, "config", "config block"); b != nil {
		r.Body = b.Body
	}
	if attr := content.Attributes["provider"]; attr != nil {
		r.Provider = d.providerRef(attr.Expr)
	} else if _, err := registry.ParseProviderPart(r.ImpliedProvider()); err != nil {
		d.errorAt(r.TypeRange, "Invalid list type", "The type %q starts with %q, which can't be the name of a provider: %s. Set the \"provider\" argument if the type is right.",
			r.Addr.Type, r.ImpliedProvider(), err)
	}
	if attr := content.Attributes["include_resource"]; attr != nil {
		r.List.Include = attr.Expr
	}
	if attr := content.Attributes["limit"]; attr != nil {
		r.List.Limit = attr.Expr
	}
	d.repetition(&r.Repeat, content)
	d.conflicts(r.Repeat)
	d.addResource(r)
}

// Lists returns the list blocks of the root module, in source order.
func (t *Tree) Lists() (lists []*Resource) {
	if t.Root == nil {
		return nil
	}
	for _, r := range t.Root.Order {
		if r.List != nil {
			lists = append(lists, r)
		}
	}
	return lists
}

// checkQueries reports that a tree that was loaded with query files has none, or no list in them.
func (t *Tree) checkQueries() diag.List {
	switch {
	case len(t.Root.Queries) == 0:
		return diag.Errorf("No query files", "This directory has no file whose name ends in %s. Write one with list blocks:\n\n  list \"TYPE\" \"NAME\" {\n    config {}\n  }", QuerySuffix)
	case len(t.Lists()) == 0:
		return diag.Errorf("No lists", "The query files have no list block (%s), so there is nothing to list.", strings.Join(t.Root.Queries, ", "))
	}
	return nil
}
