package format

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Cover returns src, a file of values, with asterisks in place of its texts and numbers. The result has the
// same layout, and no secret. In a file with syntax errors, nothing but the name of the first value is left.
func Cover(src []byte) []byte {
	out := bytes.Clone(src)
	tokens, hd := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	_, broken := hclsyntax.ParseConfig(src, "", hcl.InitialPos)
	whole := !hd.HasErrors() && !broken.HasErrors()
	given := false // a value may have begun
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenNumberLit, hclsyntax.TokenComment:
			config.Cover(out[t.Range.Start.Byte:t.Range.End.Byte])
		case hclsyntax.TokenEqual, hclsyntax.TokenColon, hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			given = true
		default:
			if !whole && given {
				config.Cover(out[t.Range.Start.Byte:t.Range.End.Byte])
			}
		}
	}
	return out
}
