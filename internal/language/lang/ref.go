// Package lang compiles expressions: it finds the objects that an expression refers to, at the precision of
// the reference, before anything is evaluated.
//
// It may import addr, diag, schema and HCL's packages. It must not know modules, values of objects, state or
// plans.
package lang

import (
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang/typearg"
)

// Kind is the kind of object that a Ref names.
type Kind uint8

// The kinds of references.
const (
	Unclear   Kind = iota // a resource without its type or name; the Ref is invalid
	Variable              // var.NAME
	Local                 // local.NAME
	Resource              // TYPE.NAME, data.TYPE.NAME, ephemeral.TYPE.NAME, list.TYPE.NAME, action.TYPE.NAME
	Module                // module.NAME
	Each                  // each.key, each.value
	Count                 // count.index
	Self                  // self
	Path                  // path.module, path.root, path.cwd
	Terraform             // terraform.workspace, terraform.applying, and the same under tofu
	Output                // output.NAME, in test files only
	Earlier               // run.NAME, in test files only
)

// Ref is one reference: an object, the instance of it if the reference tells, and the rest.
//
//	aws_instance.web[0].tags.name   Kind Resource, Resource aws_instance.web, Index 0, Rest .tags.name
//	module.a["x"].url               Kind Module, Name a, Index "x", Output url
type Ref struct {
	Kind     Kind
	Name     string        // of the variable, local or module; the attribute of each, count, path and terraform
	Root     string        // the first word as written
	Resource addr.Resource // Resource only
	Index    *Index        // nil if the reference is to the object as a whole
	Output   string        // Module only; "" for all outputs, or the ones that Each selects
	Each     *Elements     // Module only: the part read of each instance; nil for all
	Rest     hcl.Traversal // the steps after the object and index (and the output's name)
	Range    hcl.Range
	Guarded  bool // the expression may get by without the object: it is in a call of try or can, or in a conditional
	Invalid  bool // an error about the reference was reported: it evaluates to an unknown value, without another error
	// Iterators are the names of the current elements of the dynamic blocks around the reference, from
	// outside to inside.
	Iterators []string
}

// Outputs returns the names of the outputs that a reference to a module reads, nil for all of them.
func (r *Ref) Outputs() []string {
	switch {
	case r.Output != "":
		return []string{r.Output}
	case r.Each != nil:
		return r.Each.Names
	}
	return nil
}

// Reads reports whether a reference to a module reads the output.
func (r *Ref) Reads(output string) bool {
	names := r.Outputs()
	return names == nil || slices.Contains(names, output)
}

// Index is the instance key of a reference. An index of a for expression's variable is none: see
// indexWalker.found.
type Index struct {
	Key  addr.Key // set if Expr is nil
	Expr *Expr    // a key that must be evaluated
}

// Expr is an expression with its references.
type Expr struct {
	hcl.Expression
	// Source is the expression as it was compiled. The other one may be evaluated in another way to the same
	// value.
	Source hcl.Expression
	Refs   []Ref
	// Argument is the argument or block type of the body that the expression is in; "" if it was compiled by
	// itself.
	Argument string
	// Functions lists the names of provider-defined functions called, as written.
	Functions []string
	// ClearsEphemeral says that a function is called that makes something known of an ephemeral value.
	ClearsEphemeral bool
	// Fingerprints says that fingerprint is called, which needs the value whatever becomes of the result.
	Fingerprints bool
	// Renders says that a function is called that renders templates.
	Renders bool
	// Calls says that functions are called.
	Calls bool
}

// Calling returns the first of the compiled expressions that calls a function, nil if none does.
func Calling(exprs []*Expr) *Expr {
	for _, x := range exprs {
		if x.Calls {
			return x
		}
	}
	return nil
}

// Expressions yields the expressions that the compiled ones evaluate.
func Expressions(exprs []*Expr) iter.Seq[hcl.Expression] {
	return func(yield func(hcl.Expression) bool) {
		for _, x := range exprs {
			if !yield(x.Expression) {
				return
			}
		}
	}
}

// Compile finds the references of an expression. Names in scope are local to the expression's surroundings
// (the iterators of dynamic blocks) and not references. A nil expression gives nil.
func Compile(e hcl.Expression, scope ...string) (*Expr, diag.List) {
	if e == nil {
		return nil, nil
	}
	c := compiler{scope: scope}
	c.index(e)
	x := &Expr{Expression: e, Source: e, Functions: c.functions, ClearsEphemeral: c.clearsEphemeral, Fingerprints: c.fingerprints, Renders: c.renders, Calls: c.calls}
	for _, t := range typearg.Variables(e) {
		if c.inScope(t.RootName()) {
			continue
		}
		c.add(x, t)
	}
	return x, c.diags
}

// ProviderFunctions returns the names of the provider-defined functions that an expression calls, as written.
func ProviderFunctions(e hcl.Expression) []string {
	c := compiler{}
	c.index(e)
	return c.functions
}

// compiler collects the references of one expression. A walk over the syntax first notes the context of each
// traversal; then each traversal that HCL lists becomes a reference, with the notes for its position.
type compiler struct {
	scope     []string
	functions []string
	diags     diag.List
	indexed   map[hcl.Pos]indexing  // by the start of the traversal that is indexed
	narrowed  map[hcl.Pos]*Elements // by the start of the traversal of a collection
	guarded   map[hcl.Pos]struct{}  // by the start of the traversal
	guards    bool                  // an expression of JSON syntax has guards: all of it counts as guarded

	clearsEphemeral, fingerprints, renders, calls bool
}

// indexing is an index expression over a plain traversal: collection[key].rest
type indexing struct {
	end  hcl.Pos
	key  hcl.Expression
	rest hcl.Traversal
}

// inScope reports whether a name belongs to an iterator around the expression.
func (c *compiler) inScope(name string) bool {
	return slices.Contains(c.scope, name)
}

// index walks native syntax for the details that Variables does not tell: index expressions and function
// calls.
func (c *compiler) index(e hcl.Expression) {
	node, ok := e.(hclsyntax.Node)
	if !ok {
		c.foreignCalls(e)
		return
	}
	w := &indexWalker{c: c, rests: map[*hclsyntax.IndexExpr]hcl.Traversal{}}
	hclsyntax.Walk(node, w)
}

// foreignCalls finds the function calls in an expression of JSON syntax, whose strings are templates.
func (c *compiler) foreignCalls(e hcl.Expression) {
	if items, diags := hcl.ExprList(e); !diags.HasErrors() {
		for _, item := range items {
			c.foreignCalls(item)
		}
		return
	}
	if pairs, diags := hcl.ExprMap(e); !diags.HasErrors() {
		for _, pair := range pairs {
			c.foreignCalls(pair.Key)
			c.foreignCalls(pair.Value)
		}
		return
	}
	if template, ok := foreignTemplate(e); ok {
		calls := compiler{scope: c.scope}
		calls.index(template)
		for _, d := range calls.diags {
			d.Subject = e.Range().Ptr()
			c.diags = append(c.diags, d)
		}
		c.functions = append(c.functions, calls.functions...)
		c.clearsEphemeral, c.fingerprints = c.clearsEphemeral || calls.clearsEphemeral, c.fingerprints || calls.fingerprints
		c.renders, c.calls = c.renders || calls.renders, c.calls || calls.calls
		c.guards = c.guards || len(calls.guarded) > 0
	}
}

// foreignTemplate returns the template that a text in JSON syntax is. It returns false for anything else.
func foreignTemplate(e hcl.Expression) (hclsyntax.Expression, bool) {
	text, diags := e.Value(nil) // without a context, JSON strings are given as they are written
	if diags.HasErrors() || text.IsMarked() || text.Type() != cty.String || !text.IsKnown() || text.IsNull() {
		return nil, false
	}
	template, diags := hclsyntax.ParseTemplate([]byte(text.AsString()), "", hcl.InitialPos)
	return template, !diags.HasErrors()
}

// indexWalker notes the surroundings of traversals: indexes, loops, guards and calls.
type indexWalker struct {
	c      *compiler
	names  []string // variables of enclosing for expressions
	guards int      // enclosing calls and conditionals that make do without missing objects
	rests  map[*hclsyntax.IndexExpr]hcl.Traversal
}

// Enter implements hclsyntax.Walker.
func (w *indexWalker) Enter(n hclsyntax.Node) hcl.Diagnostics {
	if guards(n) {
		w.guards++
	}
	switch n := n.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if w.guards > 0 {
			w.c.guard(n)
		}
	case *hclsyntax.FunctionCallExpr:
		if strings.HasPrefix(n.Name, "provider::") {
			w.c.functions = append(w.c.functions, n.Name)
		}
		w.c.calls = true
		switch strings.TrimPrefix(n.Name, "core::") {
		case "ephemeralasnull":
			w.c.clearsEphemeral = true
		case "fingerprint":
			w.c.clearsEphemeral, w.c.fingerprints = true, true
			w.checkFingerprint(n)
		case "templatefile", "templatestring":
			w.c.renders = true
		}
	case *hclsyntax.ForExpr:
		w.names = append(w.names, n.KeyVar, n.ValVar)
		w.c.narrowFor(n)
	case *hclsyntax.SplatExpr:
		w.c.narrowSplat(n)
	case *hclsyntax.RelativeTraversalExpr:
		if idx, ok := n.Source.(*hclsyntax.IndexExpr); ok {
			w.rests[idx] = n.Traversal
		}
	case *hclsyntax.IndexExpr:
		w.found(n)
	}
	return nil
}

// Exit implements hclsyntax.Walker.
func (w *indexWalker) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if guards(n) {
		w.guards--
	}
	if _, ok := n.(*hclsyntax.ForExpr); ok {
		w.names = w.names[:len(w.names)-2]
	}
	return nil
}

// found notes an index expression on a reference. An index that uses a variable of the expression itself,
// such as a for expression's, has no value outside of it, so such a reference keeps no index and means all
// instances.
func (w *indexWalker) found(n *hclsyntax.IndexExpr) {
	coll, ok := n.Collection.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return
	}
	for _, t := range typearg.Variables(n.Key) {
		root := t.RootName()
		for _, name := range w.names {
			if name == root {
				return
			}
		}
		if w.c.inScope(root) {
			return
		}
	}
	if w.c.indexed == nil {
		w.c.indexed = map[hcl.Pos]indexing{}
	}
	w.c.indexed[coll.SrcRange.Start] = indexing{end: coll.SrcRange.End, key: n.Key, rest: w.rests[n]}
}

// add parses a traversal and adds it to the references of x. HCL reports the traversal before an index
// expression on its own, so the index that the walk has noted at the same position is put back here.
func (c *compiler) add(x *Expr, t hcl.Traversal) {
	ref, diags := ParseRef(t)
	for i := range diags {
		if word, ok := diags[i].Extra.(Word); ok {
			word.Interpolated = interpolated(x.Source, t.SourceRange())
			diags[i].Extra = word
		}
	}
	c.diags = append(c.diags, diags...)
	_, guarded := c.guarded[t.SourceRange().Start]
	ref.Guarded, ref.Iterators = guarded || c.guards, c.scope
	if ref.Invalid = diags.HasErrors(); ref.Invalid {
		x.Refs = append(x.Refs, ref)
		return
	}
	if at, ok := c.indexed[t.SourceRange().Start]; ok && at.end == t.SourceRange().End && ref.Index == nil && len(ref.Rest) == 0 && ref.Output == "" &&
		(ref.Kind == Resource || ref.Kind == Module) {
		key, diags := Compile(at.key)
		if !diags.HasErrors() { // errors are reported where Variables lists the key's own references
			ref.Index = &Index{Expr: key}
			ref.Rest = at.rest
			if ref.Kind == Module {
				ref.Output, ref.Rest = takeName(ref.Rest)
			}
		}
	}
	if ref.Kind == Module && ref.Index == nil && ref.Output == "" && len(ref.Rest) == 0 {
		ref.Each = c.narrowed[t.SourceRange().Start]
	}
	x.Refs = append(x.Refs, ref)
}

// ParseRef interprets an absolute traversal as a reference. With errors, the reference has the kind that its
// first word says, except for resources.
func ParseRef(t hcl.Traversal) (Ref, diag.List) {
	root := t.RootName()
	ref := Ref{Root: root, Range: t.SourceRange()}
	switch root {
	case "var":
		return ref.named(Variable, t, "variable")
	case "local":
		return ref.named(Local, t, "local value")
	case "each":
		return ref.oneOf(Each, t, "key", "value")
	case "count":
		return ref.oneOf(Count, t, "index")
	case "path":
		return ref.oneOf(Path, t, "module", "root", "cwd")
	case "terraform", "tofu":
		return ref.oneOf(Terraform, t, "workspace", "applying")
	case "self":
		ref.Kind, ref.Rest = Self, t[1:]
		return ref, nil
	case "module":
		return ref.module(t)
	default:
		return ref.resource(t)
	}
}

// named interprets the rest of a reference as a name and further steps. The error uses what as the kind of
// object.
func (r Ref) named(kind Kind, t hcl.Traversal, what string) (Ref, diag.List) {
	if r.takeNameOf(kind, t) {
		return r, nil
	}
	return r, diag.At(r.Range, "Invalid reference", "The %q object cannot be accessed directly. It must be followed by a dot and the name of a %s, as in %s.NAME.", r.Root, what, r.Root)
}

// takeNameOf sets the kind and takes the name that follows the root. It returns false if there is none.
func (r *Ref) takeNameOf(kind Kind, t hcl.Traversal) bool {
	r.Kind = kind // also if the rest is wrong
	r.Name, r.Rest = takeName(t[1:])
	return r.Name != ""
}

// oneOf takes the name of a reference whose root allows only the given names.
func (r Ref) oneOf(kind Kind, t hcl.Traversal, names ...string) (Ref, diag.List) {
	found := r.takeNameOf(kind, t)
	if found && slices.Contains(names, r.Name) {
		return r, nil
	}
	var references []string
	for _, n := range names {
		references = append(references, r.Root+"."+n)
	}
	use := "Use " + diag.Series("or", references) + "."
	if !found {
		return r, diag.At(r.Range, "Invalid reference", "The %q object cannot be accessed directly. %s", r.Root, use)
	}
	if near := diag.Nearest(r.Name, names); near != "" {
		use = "Did you mean " + r.Root + "." + near + "?"
	}
	return r, diag.At(r.Range, `Invalid "`+r.Root+`" attribute`, "The %q object does not have an attribute named %q. %s", r.Root, r.Name, use)
}

// module interprets module.NAME[KEY].OUTPUT, where the key and the output may be missing.
func (r Ref) module(t hcl.Traversal) (Ref, diag.List) {
	r, diags := r.named(Module, t, "module call")
	if diags.HasErrors() {
		return r, diags
	}
	if diags := r.takeIndex(); diags.HasErrors() {
		return r, diags
	}
	r.Output, r.Rest = takeName(r.Rest)
	return r, nil
}

// resource interprets a reference to a resource of any mode, in the short form or the one that begins with
// "resource".
func (r Ref) resource(t hcl.Traversal) (Ref, diag.List) {
	named, rest, err := addr.SplitResource(t)
	if err != nil {
		return r, r.incomplete(named.Mode)
	}
	r.Kind, r.Resource, r.Rest = Resource, named, rest
	return r, r.takeIndex()
}

// incomplete returns the error about a reference that ends before it has the type and name of a resource.
func (r Ref) incomplete(mode addr.Mode) diag.List {
	switch {
	case mode == addr.Data:
		return diag.At(r.Range, "Invalid reference", "A reference to a data source must have its type and its name, as in data.TYPE.NAME.")
	case mode == addr.Ephemeral:
		return diag.At(r.Range, "Invalid reference", "A reference to an ephemeral resource must have its type and its name, as in ephemeral.TYPE.NAME.")
	case mode == addr.List:
		return diag.At(r.Range, "Invalid reference", "A reference to a list must have its type and its name, as in list.TYPE.NAME.")
	case mode == addr.Action:
		return diag.At(r.Range, "Invalid reference", "A reference to an action must have its type and its name, as in action.TYPE.NAME.")
	case r.Root == "resource":
		return diag.At(r.Range, "Invalid reference", "A reference to a resource must have its type and its name, as in resource.TYPE.NAME.")
	}
	diags := diag.At(r.Range, "Invalid reference", "%q alone refers to nothing.", r.Root)
	diags[0].Extra = Word{Text: r.Root}
	return diags
}

// takeIndex moves a constant instance key from the front of Rest to Index, if there is one.
func (r *Ref) takeIndex() diag.List {
	if len(r.Rest) == 0 {
		return nil
	}
	idx, ok := r.Rest[0].(hcl.TraverseIndex)
	if !ok {
		return nil
	}
	if !idx.Key.IsKnown() {
		return nil
	}
	key, err := addr.KeyFromValue(idx.Key)
	if err != nil {
		return diag.At(idx.SrcRange, "Invalid index", "This is not a valid instance key: %s.", err)
	}
	r.Index, r.Rest = &Index{Key: key}, r.Rest[1:]
	return nil
}

// takeName splits a name off a traversal. ["name"] is a name too. It returns "" if there is none.
func takeName(t hcl.Traversal) (string, hcl.Traversal) {
	if len(t) == 0 {
		return "", t
	}
	if n := addr.StepName(t[0]); n != "" {
		return n, t[1:]
	}
	return "", t
}

// String returns the object part of the reference as it would be written.
func (r Ref) String() string {
	switch r.Kind {
	case Resource:
		return r.Resource.String()
	case Self:
		return "self"
	default:
		return r.Root + "." + r.Name
	}
}
