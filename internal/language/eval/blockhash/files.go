package blockhash

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// files are the functions that read files, with how many of their arguments say which.
var files = map[string]int{
	"file": 1, "filebase64": 1, "filebase64sha256": 1, "filebase64sha512": 1, "fileexists": 1, "filemd5": 1, "filesha1": 1, "filesha256": 1,
	"filesha512": 1, "fileset": 2, "templatefile": 1,
}

// fileResult is the result of a function. Errors are all alike: there is nothing to be used.
type fileResult struct {
	found   bool
	value   cty.Value
	digest  [sha256.Size]byte
	worldly bool // it is a template that looks at the world
}

// read writes the result of a function that reads files, if constants and paths of the configuration say
// which files these are. Otherwise the node looks at the world.
func (f *filler) read(call *hclsyntax.FunctionCallExpr, name string, sensitive bool) {
	n := files[name]
	if len(call.Args) < n {
		f.world = true
		return
	}
	args := make([]cty.Value, n)
	for i := range args {
		var ok bool
		if args[i], ok = f.constant(call.Args[i]); !ok {
			f.world = true
			return
		}
	}
	result := f.result(name, args)
	f.world = f.world || result.worldly
	if result.found && sensitive {
		f.slow(result.value)
	} else {
		f.bytes(result.digest[:])
	}
}

// constant evaluates an argument. It has only constants and paths if that is possible with nothing else in
// scope.
func (f *filler) constant(e hclsyntax.Expression) (cty.Value, bool) {
	paths := map[string]cty.Value{}
	for _, name := range []string{"module", "root", "cwd"} {
		paths[name] = cty.StringVal(f.path(name))
	}
	v, diags := e.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"path": cty.ObjectVal(paths)}})
	return v, !diags.HasErrors() && v.Type() == cty.String
}

// result calls a function that reads files, once with the same arguments. Of a template it reads the text.
func (b *builder) result(name string, args []cty.Value) fileResult {
	var k writer
	k.text(name)
	for _, a := range args {
		k.text(a.AsString())
	}
	if known, ok := b.files[string(k)]; ok {
		return known
	}
	function := name
	if name == "templatefile" {
		function = "file"
	}
	var out fileResult
	v, err := b.in.Functions[function].Call(args)
	var w writer
	if err == nil {
		err = w.value(v)
	}
	if err == nil {
		out = fileResult{found: true, value: v, digest: sha256.Sum256(w)}
		out.worldly = name == "templatefile" && isWorldly(v.AsString())
	}
	b.files[string(k)] = out
	return out
}

// isWorldly reports whether a template calls a function that looks at the world or reads a file. One with a
// mistake in it calls nothing.
func isWorldly(template string) bool {
	parsed, diags := hclsyntax.ParseTemplate([]byte(template), "", hcl.InitialPos)
	if diags.HasErrors() {
		return false
	}
	var names []string
	_ = hclsyntax.VisitAll(parsed, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			names = append(names, functionName(call))
		}
		return nil
	})
	return slices.ContainsFunc(names, func(name string) bool {
		return worldly[name] || files[name] > 0 || strings.Contains(name, "::") || name == "abspath"
	})
}
