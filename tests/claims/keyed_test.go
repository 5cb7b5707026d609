//go:build unix

package claims

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

// TestKeyedCosts plans an instance that refers to one of another block, on a state and on one in which both
// blocks have twice as many instances: it reads as much of both.
func TestKeyedCosts(t *testing.T) {
	var bytes [2]int64
	for i, n := range []int{40, 80} {
		s := newSite(t, fmt.Sprintf(`
resource "sim_thing" "a" {
  count = %[1]d
  name  = "a-${count.index}"
}
resource "sim_thing" "user" {
  count = %[1]d
  name  = "user-${count.index}"
  json  = sim_thing.a[count.index].serial
}
`, n), nil)
		dir := s.machine()
		s.must(dir, "apply", "-auto-approve")
		proxy := s.behindProxy()
		before := proxy.Counts()
		if out := s.must(dir, "plan", "-target=sim_thing.user[3]"); strings.Count(out, "Refreshing state...") != 2 {
			t.Errorf("got a plan of other objects than two:\n%s", out)
		}
		bytes[i] = proxy.Counts().Bytes[tcpproxy.ToClient] - before.Bytes[tcpproxy.ToClient]
	}
	t.Logf("bytes %v", bytes)
	if a, b := bytes[0], bytes[1]; a < 100 || b-a > a/50 {
		t.Errorf("got %d and %d bytes, want about the same", a, b)
	}
}
