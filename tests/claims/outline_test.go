//go:build unix

package claims

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

// TestOutlineCosts counts the bytes that commands read of a state, and of one that has twice as many objects.
// What a list says of each object is all that it reads of it, and what is about providers reads as much of
// both.
func TestOutlineCosts(t *testing.T) {
	const n, long = 50, 3000 // objects, and bytes in each
	commands := [][]string{{"providers"}, {"providers", "schema", "-json"}, {"init", "-plugin-dir=" + mirror}, {"state", "list"}, {"state", "list", "-long"}}
	most := []int64{0, 0, 0, 100, 400} // bytes for each more object
	var bytes [2][]int64
	for i, n := range []int{n, 2 * n} {
		s := newSite(t, fmt.Sprintf("resource \"sim_thing\" \"x\" {\n  count = %d\n  name  = \"x-${count.index}\"\n  tags  = { v = \"%s\" }\n}\n", n, strings.Repeat("x", long)), nil)
		dir := s.machine()
		s.must(dir, "apply", "-auto-approve")
		proxy := s.behindProxy()
		for _, args := range commands {
			before := proxy.Counts()
			s.must(dir, args...)
			bytes[i] = append(bytes[i], proxy.Counts().Bytes[tcpproxy.ToClient]-before.Bytes[tcpproxy.ToClient])
		}
	}
	t.Logf("bytes %v", bytes)
	for i, args := range commands {
		a, b := bytes[0][i], bytes[1][i]
		if more := b - a; a < 100 || more > n*most[i]+a/50 {
			t.Errorf("%v: got %d and %d bytes, want at most %d more for each object", args, a, b, most[i])
		}
	}
}
