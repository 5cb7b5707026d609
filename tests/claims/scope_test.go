//go:build unix

package claims

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

// TestScopeCosts makes plans of changes on a state, and on one that is twice as large: both read as many
// rows, and as many bytes.
func TestScopeCosts(t *testing.T) {
	line := regexp.MustCompile(`Scope: (\d+) evaluated, of (\d+) objects in the state; (\d+) rows read\.`)
	var evaluated, rows [2][2]string
	var bytes [2][2]int64
	for i, n := range []int{40, 80} {
		s := newSite(t, fmt.Sprintf(`
variable "size" {}
resource "sim_thing" "base" {
  name = "base"
  size = var.size
}
resource "sim_thing" "user" {
  count = 5
  name  = "user-${count.index}"
  json  = sim_thing.base.serial
}
resource "sim_thing" "other" {
  count = %d
  name  = "other-${count.index}"
}
`, n), nil)
		dir := s.machine()
		s.must(dir, "apply", "-auto-approve", "-scope=changed", set("size", 1))
		s.must(dir, "apply", "-auto-approve", "-scope=changed", set("size", 1))
		proxy := s.behindProxy()
		for change := range 2 {
			before := proxy.Counts()
			found := line.FindStringSubmatch(s.must(dir, "plan", "-scope=changed", set("size", 1+change)))
			if found == nil || found[2] != strconv.Itoa(n+6) {
				t.Fatalf("got the scope %q, want the one of %d objects", found, n+6)
			}
			evaluated[i][change], rows[i][change] = found[1], found[3]
			bytes[i][change] = proxy.Counts().Bytes[tcpproxy.ToClient] - before.Bytes[tcpproxy.ToClient]
		}
	}
	if want := [2]string{"0", "6"}; evaluated[0] != want || evaluated[1] != want || rows[0] != rows[1] {
		t.Errorf("got %v evaluated, and %v rows, want %v each and the same rows", evaluated, rows, want)
	}
	t.Logf("rows %v, bytes %v", rows, bytes)
	for change := range 2 {
		if a, b := bytes[0][change], bytes[1][change]; a < 100 || b-a > a/50 {
			t.Errorf("change %d: got %d and %d bytes, want about the same", change, a, b)
		}
	}
}
