package lease

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Groups may lead back to each other although no member does: a provider is configured with a secret of the
// same provider's other configuration. What really holds a lease on another is closed before it then, too.
func TestE52_ShutdownWhereGroupsUseEachOther(t *testing.T) {
	group := map[string]string{"configured": "provider", "secret": "secrets"}
	for name, uses := range map[string]map[string][]string{
		"members are known": {"configured": {"secret"}, "provider": {"secrets"}, "secrets": {"provider"}},
		"only groups are":   {"configured": {"secrets"}, "secret": {"provider"}, "provider": {"secrets"}, "secrets": {"provider"}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 { // maps are iterated in random order
				p := NewPool[string, string](Options[string]{
					Group:      func(k string) (string, bool) { g, ok := group[k]; return g, ok },
					Uses:       func(k string) []string { return uses[k] },
					CloseLimit: time.Minute,
				})
				closed := make(chan string, 2)
				open := func(k string, after func()) *Lease[string, string] {
					l, err := p.Acquire(k, await(t.Context()), func() (Thing[string], error) {
						return Thing[string]{After: after, Close: func(context.Context) {
							time.Sleep(time.Millisecond) // for the other one to come first if nothing keeps it from that
							closed <- k
						}}, nil
					})
					if err != nil {
						t.Fatal(err)
					}
					return l
				}
				p.Claim("provider")
				secret := open("secret", nil)
				open("configured", secret.Release).Release()
				p.Waive("provider")
				p.Shutdown()
				close(closed)
				var got []string
				for k := range closed {
					got = append(got, k)
				}
				if diff := cmp.Diff([]string{"configured", "secret"}, got); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}
