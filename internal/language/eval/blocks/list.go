package blocks

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// listAttribute is the only attribute of a list that expressions can refer to.
const listAttribute = "data"

// list compiles the arguments of lists.
func (c *compiler) list(b *Resource, r *config.List, u site) {
	if r != nil {
		b.Include, b.Limit = c.expr(b.Module, r.Include, u), c.expr(b.Module, r.Limit, u)
	}
}

// IsList reports whether the block is a list of a query.
func (b *Resource) IsList() bool { return b.Config.Addr.Mode == addr.List }

// ReadLists returns the lists whose results some expression of the configuration refers to.
func (c *Config) ReadLists() map[*Resource]bool {
	read := map[*Resource]bool{}
	for n := range c.eachNode {
		for e := range n.edges {
			if to, ok := e.to.(*Resource); ok && to.IsList() {
				read[to] = true
			}
		}
	}
	return read
}
