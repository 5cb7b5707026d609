// Package metadata describes the language and the program's documents to editors and other programs.
//
// It may import the tables of blocks, functions and backends, and the JSON schemas of documents. It must not
// know configurations, states or providers.
package metadata

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/language/config/reference"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// language is the description of all blocks. A block refers to the content of a nested one by its path, since
// some contain themselves.
type language struct {
	FormatVersion string                               `json:"format_version"`
	Files         map[reference.Where]map[string]block `json:"files"`
	Contents      map[string]content                   `json:"contents"`
}

// block is a type of block within another one, or at the top of a file.
type block struct {
	Labels             []string `json:"labels,omitempty"`
	Description        string   `json:"description,omitempty"`
	Content            string   `json:"content,omitempty"`
	Repeatable         bool     `json:"repeatable,omitempty"`
	Reserved           bool     `json:"reserved,omitempty"`
	Deprecated         bool     `json:"deprecated,omitempty"`
	DeprecationMessage string   `json:"deprecation_message,omitempty"`
}

// content is the content of a block.
type content struct {
	Description string              `json:"description,omitempty"`
	Arguments   map[string]argument `json:"arguments,omitempty"`
	Blocks      map[string]block    `json:"blocks,omitempty"`
	Rest        string              `json:"rest,omitempty"`
	Types       map[string]content  `json:"types,omitempty"`
}

type argument struct {
	Type               string   `json:"type"`
	Description        string   `json:"description,omitempty"`
	Required           bool     `json:"required,omitempty"`
	Constant           bool     `json:"constant,omitempty"`
	MetaArgument       bool     `json:"meta_argument,omitempty"`
	Values             []string `json:"values,omitempty"`
	Environment        []string `json:"environment,omitempty"`
	Sensitive          bool     `json:"sensitive,omitempty"`
	Reserved           bool     `json:"reserved,omitempty"`
	Deprecated         bool     `json:"deprecated,omitempty"`
	DeprecationMessage string   `json:"deprecation_message,omitempty"`
}

// Blocks returns the JSON document that describes the blocks of the language, on one line. kinds are the
// backends.
func Blocks(kinds map[string]*backend.Kind) ([]byte, error) {
	doc := language{FormatVersion: "1.0", Files: map[reference.Where]map[string]block{}, Contents: map[string]content{}}
	for _, where := range []reference.Where{reference.Configuration, reference.Tests, reference.Mocks, reference.Queries} {
		doc.Files[where] = nested(reference.Roots(where))
	}
	for _, b := range reference.Blocks() {
		doc.Contents[b.Path] = contentOf(b, hasMeta(b))
	}
	for name, k := range kinds {
		if name == backend.Cloud {
			cloud := doc.backend("terraform.cloud", k, k.Block, true)
			cloud.Description = doc.Contents["terraform.cloud"].Description
			doc.Contents["terraform.cloud"] = cloud
			continue
		}
		doc.Contents["terraform.backend"].Types[name] = doc.backend("terraform.backend "+name, k, k.Block, true)
	}
	return json.Marshal(doc)
}

// hasMeta reports whether the arguments of a block are beside others that are not the language's own.
func hasMeta(b reference.Block) bool {
	switch b.Rest {
	case reference.Provider, reference.Resource, reference.Data, reference.Ephemeral, reference.Variables:
		return true
	default:
		return b.Path == "resource.provisioner"
	}
}

func contentOf(b reference.Block, meta bool) content {
	out := content{Description: plain(b.About), Blocks: nested(b.Blocks), Rest: string(b.Rest)}
	for _, a := range b.Arguments {
		if out.Arguments == nil {
			out.Arguments = map[string]argument{}
		}
		out.Arguments[a.Name] = argument{
			Type: a.Type, Description: plain(a.About), Required: a.Required, Constant: a.Constant, MetaArgument: meta, Values: a.Values,
			Sensitive: a.Sensitive, Reserved: a.Reserved, Deprecated: a.Deprecated,
		}
	}
	if b.Rest == reference.ByType {
		out.Types = map[string]content{}
	}
	for _, typ := range b.Types {
		out.Types[typ.Path] = contentOf(typ, false)
	}
	return out
}

func nested(list []reference.Nested) map[string]block {
	out := map[string]block{}
	for _, n := range list {
		out[n.Name] = block{Labels: n.Labels, Description: plain(n.About), Content: n.Content, Repeatable: n.Many, Reserved: n.Reserved}
	}
	return out
}

// backend returns the content of a backend, or of a block in one, and adds the contents of the blocks in it.
// Environment variables stand in for arguments of the backend itself, which is at the top.
func (d *language) backend(path string, k *backend.Kind, b *schema.Block, top bool) content {
	out := content{Arguments: map[string]argument{}, Blocks: map[string]block{}}
	for name, a := range b.Attributes {
		one := argument{
			Type: typeexpr.TypeString(a.ValueType()), Description: a.Description, Required: a.Required, Constant: true, Sensitive: a.Sensitive,
			Deprecated: a.Deprecated, DeprecationMessage: a.DeprecationMessage,
		}
		if top {
			one.Environment = k.Env(name)
		}
		out.Arguments[name] = one
	}
	for name, n := range b.Blocks {
		inner := path + "." + name
		out.Blocks[name] = block{
			Description: n.Description, Content: inner, Repeatable: n.MaxItems != 1 && n.Nesting != schema.Single, Deprecated: n.Deprecated, DeprecationMessage: n.DeprecationMessage,
		}
		d.Contents[inner] = d.backend(inner, k, &n.Block, false)
	}
	return out
}

// link is a link in Markdown. Its target means nothing outside of the page.
var link = pattern.New(`\[([^\]]*)\]\([^)]*\)`)

// plain returns a description without its links.
func plain(text string) string { return link().ReplaceAllString(text, "$1") }
