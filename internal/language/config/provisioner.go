package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

var (
	provisionerSchema = schema("when on_failure", "connection", "lifecycle")
	emptySchema       = schema("")
)

// connection decodes the connection block of a resource or provisioner, and returns nil if there is none.
func (d *reader) connection(content *hcl.BodyContent) *Connection {
	block := d.single(content, "connection", "connection block")
	if block == nil {
		return nil
	}
	_, rest := d.partial(block.Body, emptySchema)
	return &Connection{Body: rest, Range: block.DefRange}
}

// provisioners decodes the provisioner blocks in content. outer is the resource's connection, the default
// for them. The connection of the resource is checked with each destroy-time provisioner that has none of
// its own, since its expressions are then evaluated in the same restricted scope.
func (d *reader) provisioners(content *hcl.BodyContent, outer *Connection) []*Provisioner {
	var out []*Provisioner
	for _, block := range content.Blocks.OfType("provisioner") {
		p := d.provisioner(block)
		out = append(out, p)
		if p.Destroy {
			d.destroyReferences(p.Body)
			if p.Connection != nil {
				d.destroyReferences(p.Connection.Body)
			} else if outer != nil {
				d.destroyReferences(outer.Body)
			}
		}
	}
	return out
}

// provisioner decodes one provisioner block. Its own arguments remain in Body until the provisioner's
// schema is at hand.
func (d *reader) provisioner(block *hcl.Block) *Provisioner {
	p := &Provisioner{Type: block.Labels[0], Range: block.DefRange}
	switch p.Type {
	case "chef", "habitat", "puppet", "salt-masterless":
		d.errorAt(block.LabelRanges[0], "Provisioner not supported",
			"The %q provisioner is no longer part of the language. Use \"local-exec\" or \"remote-exec\" to run the tool.", p.Type)
	}
	content, rest := d.partial(block.Body, provisionerSchema)
	p.Body = rest
	if attr := content.Attributes["when"]; attr != nil {
		word, _ := d.keyword(attr, "create", "destroy")
		p.Destroy = word == "destroy"
	}
	if attr := content.Attributes["on_failure"]; attr != nil {
		word, _ := d.keyword(attr, "continue", "fail")
		p.Continue = word == "continue"
	}
	p.Connection = d.connection(content)
	for _, b := range content.Blocks.OfType("lifecycle") {
		d.errorAt(b.TypeRange, "Reserved block type name in provisioner block", "The block type name \"lifecycle\" is reserved for use in a future version.")
	}
	return p
}

// DestroyReferences lists the references allowed in a destroy-time provisioner, for errors about others.
const DestroyReferences = "When this provisioner runs, other objects may already be gone. It and its connection can use only \"self\", \"count.index\", \"each.key\", \"path\" and \"terraform\", and what is ephemeral and doesn't depend on the destroyed resource: ephemeral resources, ephemeral variables, and outputs and local values made from them. Keep anything else that it needs in an argument of the resource, and read it through \"self\"."

// destroyReferences checks the references of a destroy-time provisioner: when it runs, other objects may no
// longer exist, but ephemeral resources are opened for it. Whether named values are ephemeral is not known
// here.
func (d *reader) destroyReferences(body hcl.Body) {
	// Blocks in the body are reported when it is decoded with the provisioner's schema.
	attrs, _ := body.JustAttributes()
	for _, attr := range inOrder(attrs) {
		for _, t := range attr.Expr.Variables() {
			ref, _ := lang.ParseRef(t)
			lost := ref.Kind == lang.Resource && ref.Resource.Mode != addr.Ephemeral || ref.Kind == lang.Each && ref.Name == "value"
			if !lost { // mistakes in the reference are reported when it is compiled
				continue
			}
			d.errorAt(ref.Range, "Invalid reference from destroy provisioner", DestroyReferences)
		}
	}
}
