package generate

import (
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
)

// Names finds names for resources that no other has. Its methods must not be called concurrently.
type Names struct {
	Taken func(addr.Resource) bool
	count map[string]int // by type and beginning of the name
}

// Next returns the next name with a number after the beginning that no resource of the type has.
func (n *Names) Next(typeName, beginning string) string {
	if n.count == nil {
		n.count = map[string]int{}
	}
	for {
		at := typeName + "." + beginning
		name := fmt.Sprintf("%s_%d", beginning, n.count[at])
		n.count[at]++
		if !n.Taken(addr.Resource{Type: typeName, Name: name}) {
			return name
		}
	}
}

// Identifier returns a name followed by a key, in the characters that names may have.
func Identifier(name string, key addr.Key) string {
	if key == addr.NoKey {
		return name
	}
	return name + "_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, strings.Trim(key.String(), `[]"`))
}
