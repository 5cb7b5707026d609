package config

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

var (
	movedSchema            = schema("from! to!")
	removedSchema          = schema("from!", "lifecycle", "provisioner type", "connection")
	removedLifecycleSchema = schema("destroy")
	importSchema           = schema("to! id identity for_each provider")
	checkSchema            = schema("", "data type name", "ephemeral type name", "assert")
)

// refactoringDecoder decodes moved, removed and import blocks.
type refactoringDecoder struct {
	*reader
	m        *Module
	imported map[string]hcl.Range // import blocks, by the address of the instance
}

// moved decodes a moved block. That its addresses exist, and form no cycle, is checked by package moves,
// which sees all blocks of the tree.
func (d *refactoringDecoder) moved(block *hcl.Block) {
	content := d.content(block.Body, movedSchema)
	m := &Moved{Range: block.DefRange}
	from, okFrom := d.movedAddress(content.Attributes["from"])
	to, okTo := d.movedAddress(content.Attributes["to"])
	if !okFrom || !okTo {
		return
	}
	if (from.target.Resource == nil) != (to.target.Resource == nil) {
		d.errorAt(block.DefRange, `Invalid "moved" addresses`, "A resource can move only to a resource address, and a module only to a module address.")
		return
	}
	m.From, m.To = from.traversal, to.traversal
	d.m.Moved = append(d.m.Moved, m)
}

// address is a static address in both forms: as written, for checks and messages, and parsed.
type address struct {
	traversal hcl.Traversal
	target    addr.Target
}

// address decodes an argument with a static address relative to the module.
func (d *refactoringDecoder) address(attr *hcl.Attribute) (address, bool) {
	if attr == nil {
		return address{}, false
	}
	t := d.traversal(attr.Expr)
	if t == nil {
		return address{}, false
	}
	target, err := addr.TargetFromTraversal(t)
	if err != nil {
		d.errorAt(attr.Expr.Range(), "Invalid address", "The argument %q needs the address of a resource or module: %s.", attr.Name, err)
		return address{}, false
	}
	return address{t, target}, true
}

// movedAddress decodes one end of a move. Only modes of which a state has something can move (E32).
func (d *refactoringDecoder) movedAddress(attr *hcl.Attribute) (address, bool) {
	a, ok := d.address(attr)
	if ok && a.target.Resource != nil && a.target.Resource.Mode.Fleeting() {
		d.semanticAt(attr.Expr.Range(), `Invalid "moved" address`,
			"The resource referenced by the %q attribute is not allowed to be moved: %ss have no state to move.", attr.Name, modeNames[a.target.Resource.Mode])
		return a, false
	}
	return a, ok
}

// removed decodes a removed block. Without "destroy", the object is only forgotten, and a warning says so:
// many would expect a removed object to be destroyed.
func (d *refactoringDecoder) removed(block *hcl.Block) {
	before := len(d.diags)
	content := d.content(block.Body, removedSchema)
	incomplete := d.diags[before:].HasErrors()
	r := &Removed{Range: block.DefRange}
	a, ok := d.address(content.Attributes["from"])
	if ok {
		ok = d.removedAddress(a, content.Attributes["from"].Expr.Range())
	}
	given := false
	if lc := d.single(content, "lifecycle", "lifecycle block"); lc != nil {
		arguments := d.content(lc.Body, removedLifecycleSchema)
		r.Destroy, given = d.flag(arguments, "destroy", false), arguments.Attributes["destroy"] != nil
	}
	if !given && !incomplete && ok {
		d.warnAt(block.DefRange, "Removed block without \"destroy\"",
			"This block does not say whether the object is to be destroyed, so the object is only forgotten. Add a block lifecycle { destroy = false } if that is what you want, or lifecycle { destroy = true }.")
	}
	r.Connection = d.connection(content)
	r.Provisioners = d.provisioners(content, r.Connection)
	for _, p := range r.Provisioners {
		switch {
		case ok && a.target.Resource == nil:
			d.errorAt(p.Range, "Invalid provisioner in removed block", "Provisioners can be given only where \"from\" is a resource, not a module.")
		case !p.Destroy:
			d.errorAt(p.Range, "Invalid provisioner in removed block", "Only destroy-time provisioners are allowed in \"removed\" blocks. Set \"when = destroy\" in this one.")
		}
	}
	if !r.Destroy && len(r.Provisioners) > 0 {
		d.warnAt(block.DefRange, "Removed block provisioners will not be executed",
			"This block asks for the object to be forgotten, not destroyed, so its destroy-time provisioners never run. Set \"destroy = true\" in its lifecycle block, or remove the provisioners.")
	}
	if ok {
		r.From, r.target = a.traversal, a.target
		d.m.Removed = append(d.m.Removed, r)
	}
}

// withoutKeys returns the address of all instances.
//
//	module.a["x"].aws_instance.web[0]  → module.a.aws_instance.web
func withoutKeys(t addr.Target) string {
	if t.Resource == nil {
		return t.Module.Module().String()
	}
	return addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}.String()
}

// removedAddress reports whether the address can stand in a removed block: a module or a managed resource,
// and all instances of it. A single instance is removed by changing count or for_each.
func (d *refactoringDecoder) removedAddress(a address, rng hcl.Range) bool {
	for _, m := range a.target.Module.Path() {
		if _, _, key := m.Parent(); key != addr.NoKey {
			d.errorAt(rng, "Module instance address with keys is not allowed",
				"A removed block covers all instances of a module call. Write the address without keys: %s.", withoutKeys(a.target))
			return false
		}
	}
	res := a.target.Resource
	switch {
	case res == nil:
		return true
	case res.Mode == addr.Data:
		d.errorAt(rng, "Data source address is not allowed",
			"There is nothing to destroy or forget for a data source. Delete its data block; the next run drops it from the state.")
	case res.Mode == addr.Ephemeral:
		d.errorAt(rng, "Ephemeral resource address is not allowed",
			"Nothing of an ephemeral resource is ever kept, so there is nothing to remove. Delete its ephemeral block and this one.")
	case res.Mode == addr.List:
		d.errorAt(rng, "List address is not allowed", "Nothing of a list is ever kept, so there is nothing to remove. Delete this block.")
	case res.Mode == addr.Action:
		d.errorAt(rng, "Action address is not allowed", "Nothing of an action is ever kept, so there is nothing to remove. Delete its action block and this one.")
	case a.target.Key != addr.NoKey:
		d.errorAt(rng, "Resource instance address with keys is not allowed",
			"A removed block covers all instances of a resource. Write the address without a key: %s.", withoutKeys(a.target))
	default:
		return true
	}
	return false
}

// importBlock decodes an import block. If an argument has an unknown name, it is probably a misspelled id
// or identity, so that their absence is not reported as well.
func (d *refactoringDecoder) importBlock(block *hcl.Block) {
	found := len(d.diags)
	content := d.content(block.Body, importSchema)
	misnamed := len(d.diags) > found
	im := &Import{Range: block.DefRange}
	if attr := content.Attributes["for_each"]; attr != nil {
		im.ForEach = attr.Expr
	}
	id, identity := content.Attributes["id"], content.Attributes["identity"]
	switch {
	case id == nil && identity == nil && misnamed:
	case id == nil && identity == nil:
		d.errorAt(block.DefRange, "Missing required import argument",
			"An import block needs the argument \"id\" or \"identity\", which says which existing object to import.")
	case id != nil && identity != nil:
		d.errorAt(identity.Range, "Invalid combination of \"id\" and \"identity\"", "Only one of \"id\" and \"identity\" can be given. The other is at %s.", diag.Place(id.Range))
	case id != nil:
		im.ID = id.Expr
		d.importID(id)
	default:
		im.Identity = identity.Expr
	}
	if attr := content.Attributes["provider"]; attr != nil {
		im.Provider = d.providerRef(attr.Expr)
	}
	if attr := content.Attributes["to"]; attr != nil {
		ok := false
		if im.To, im.Resource, ok = d.importTarget(attr); ok && d.importedOnce(im) {
			d.m.Imports = append(d.m.Imports, im)
		}
	}
}

// importedOnce reports a second block for the same instance, if the keys of both are constant.
func (d *refactoringDecoder) importedOnce(im *Import) bool {
	if len(im.To.Keys) > 0 {
		return true
	}
	to := diag.Reference(im.To.Steps)
	if first, ok := d.imported[to]; ok {
		d.semanticAt(im.Range, "Duplicate import configuration", "%s is imported here and at %s. It can be imported once only: remove one of the two.", to, diag.Place(first))
		return false
	}
	if d.imported == nil {
		d.imported = map[string]hcl.Range{}
	}
	d.imported[to] = im.Range
	return true
}

// importID refuses an id that is visibly empty. Other ids are checked when they are evaluated.
func (d *refactoringDecoder) importID(attr *hcl.Attribute) {
	v, diags := attr.Expr.Value(nil)
	if diags.HasErrors() || !v.IsKnown() {
		return
	}
	if v.IsNull() || v.Type() == cty.String && v.AsString() == "" {
		d.errorAt(attr.Expr.Range(), "Invalid import id argument", "The id of an import must not be null or empty.")
	}
}

// importTarget decodes a resource instance address whose keys may be expressions, relative to the module. The
// resource is nil except in the module itself. Only for a resource there can the provider be derived from the
// address alone; elsewhere it depends on the providers that the calls pass.
func (d *refactoringDecoder) importTarget(attr *hcl.Attribute) (to ImportAddress, in *addr.Resource, ok bool) {
	const summary = "Invalid import address expression"
	before := len(d.diags)
	inner := d.unquote(attr.Expr)
	if inner == nil {
		return to, nil, false
	}
	to.Range = attr.Expr.Range()
	to.Steps, to.Keys = flatten(hcl.UnwrapExpression(inner))
	target, err := addr.Target{}, errors.New("it is not a reference")
	if to.Steps != nil {
		target, err = addr.TargetFromTraversal(to.Steps)
	}
	switch {
	case err != nil || target.Resource == nil:
		d.diags = d.diags[:before] // a warning about quotes
		d.errorAt(to.Range, summary, "The argument \"to\" must be the address of a resource instance, as in \"aws_instance.web[0]\" or \"module.a.aws_instance.web\".")
		return to, nil, false
	case target.Resource.Mode != addr.Managed:
		d.semanticAt(to.Range, summary, "Only managed resources can be imported, but %s is not one.", target.Resource)
		return to, nil, false
	}
	if !target.Module.IsRoot() {
		return to, nil, true
	}
	return to, target.Resource, true
}

// check decodes a check block. Its nested block is also one of the module's resources, so that references
// to it work as to any other.
func (d *resourceDecoder) check(block *hcl.Block) {
	c := &Check{Name: block.Labels[0], Range: block.DefRange}
	if !d.name(block, 0, "check block name") {
		return
	}
	found := len(d.diags)
	content := d.content(block.Body, checkSchema)
	misnamed := len(d.diags) > found
	for _, b := range content.Blocks {
		if b.Type == "assert" {
			continue
		}
		if c.Scoped != nil {
			d.errorAt(b.DefRange, "Multiple data resource blocks", "This check block already has a nested block at %s. Only one data or ephemeral block is allowed.", diag.Place(c.Scoped.Range))
			continue
		}
		if c.Scoped = d.resourceBody(b); c.Scoped != nil {
			c.Scoped.Check = c
			d.checkNested(c.Scoped, b.Type)
			d.addResource(c.Scoped)
		}
	}
	if len(content.Blocks.OfType("assert")) == 0 && !misnamed {
		d.errorAt(block.DefRange, "Check without assertions", "A check block needs at least one \"assert\" block.")
	}
	c.Asserts = d.conditions(content, "assert")
	d.m.Checks[c.Name] = c
}

// checkNested refuses arguments that a block nested in a check can't have: it is a single instance with the
// life cycle of the check.
func (d *resourceDecoder) checkNested(r *Resource, typ string) {
	for name, expr := range map[string]hcl.Expression{"count": r.Repeat.Count, "for_each": r.Repeat.ForEach} {
		if expr != nil {
			d.errorAt(expr.Range(), fmt.Sprintf("Invalid %q attribute", name), "The %q meta-argument is not supported within nested %s blocks.", name, typ)
		}
	}
	if !r.Lifecycle.Range.Empty() {
		d.errorAt(r.Lifecycle.Range, "Invalid lifecycle block",
			"A %s block nested in a check cannot have a lifecycle block. Remove it.", typ)
	}
}
