package document

import (
	"sort"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// blockHeader returns the type and labels of the top-level block that contains a byte offset of the file, ""
// if none does. Blocks of the native syntax are sorted by position, so a binary search finds it: the
// library's own search looks at every block, which would be too slow for many diagnostics in a long file.
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
