package workdir

import (
	"bytes"
	"maps"

	"github.com/mayfly-iac/mayfly/internal/install/fetch"
)

// Sources returns the files of the configuration by name, for showing parts of them in diagnostics. Passwords
// and keys in the addresses of modules are covered.
func (d *Dir) Sources() map[string][]byte {
	if d.tree == nil {
		return nil
	}
	out, cloned := d.tree.Sources, false
	for _, m := range d.tree.Modules {
		for _, c := range m.Calls {
			file := c.SrcRange.Filename
			for _, secret := range fetch.SecretsOf(c.Source) {
				if !bytes.Contains(out[file], []byte(secret)) {
					continue
				}
				if !cloned {
					out, cloned = maps.Clone(out), true
				}
				out[file] = bytes.ReplaceAll(out[file], []byte(secret), bytes.Repeat([]byte("*"), len(secret)))
			}
		}
	}
	return out
}
