package cliconfig

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/install/internal/plainhcl"
)

// objectOverrides turns every block `dev_overrides {` into an argument `dev_overrides={`. The block's arguments have quoted names, which the
// language accepts only as keys of an object. Positions stay as they are where the source has a space in front of the brace.
func objectOverrides(src []byte, filename string) []byte {
	if len(src) > plainhcl.MaxSize {
		return src // the parser refuses it with a message
	}
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	var out []byte
	done := 0
	for i := 0; i+1 < len(tokens); i++ {
		ident, brace := tokens[i], tokens[i+1]
		if ident.Type != hclsyntax.TokenIdent || string(ident.Bytes) != "dev_overrides" || brace.Type != hclsyntax.TokenOBrace {
			continue
		}
		end, start := ident.Range.End.Byte, brace.Range.Start.Byte
		out = append(out, src[done:end]...)
		out = append(out, '=')
		done = min(end+1, start)
	}
	if out == nil {
		return src
	}
	return append(out, src[done:]...)
}
