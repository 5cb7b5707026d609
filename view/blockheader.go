package view

import (
	"sort"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// blockHeader returns the type and labels of the top-level block around a byte offset of the file, "" if
// there is none. The blocks of a file in native syntax are in the order of the text, so that its cost is
// the logarithm of their number.
func blockHeader(file *hcl.File, offset int) string {
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return hcled.ContextString(file, offset)
	}
	n := sort.Search(len(body.Blocks), func(i int) bool { return body.Blocks[i].Range().End.Byte > offset })
	if n == len(body.Blocks) || !body.Blocks[n].Range().ContainsOffset(offset) {
		return ""
	}
	var sb strings.Builder
	sb.WriteString(body.Blocks[n].Type)
	for _, label := range body.Blocks[n].Labels {
		sb.WriteString(" " + strconv.Quote(label))
	}
	return sb.String()
}
