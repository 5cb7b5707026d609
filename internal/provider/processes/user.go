package processes

import (
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// configured is a provider with a configuration without ephemeral values, so that one process can serve
// planning and applying, and objects that are created as well as destroyed.
type configured struct {
	config cty.Value
	users  int       // protected by the set's mutex
	once   sync.Once // configures p
	p      provider.Provider
}

// undecided reports whether the process has put off an answer. The set's mutex is held.
func (k *configured) undecided() bool {
	p, ok := k.p.(*proxy)
	return ok && p.putOff.Load()
}

// User shares configured processes with the other users of a set: those before it, and those at the same
// time. A provider may decide when it is configured that it puts off everything, and does so as long as it
// runs. So a process that has put off an answer gets no new users, and ends when its last one leaves.
type User struct {
	set  *Set
	held map[addr.ProviderConfig][]*configured // protected by the set's mutex
}

// Join returns a new user.
func (s *Set) Join() *User {
	return &User{set: s, held: map[addr.ProviderConfig][]*configured{}}
}

// Reuse returns the provider that configure makes for a configuration, which is wholly known and has no
// marks. configure is called once for each distinct configuration; the caller that it runs for gets its
// diagnostics. A nil provider is a failure, and the next call for that configuration tries again. The set
// keeps the configuration for comparison, so it must contain nothing ephemeral. Until it leaves, a user gets
// the same provider for the same configuration. It may be called concurrently.
func (u *User) Reuse(a addr.ProviderConfig, config cty.Value, configure func() (provider.Provider, diag.List)) (provider.Provider, diag.List) {
	k := u.hold(a, config)
	var diags diag.List
	k.once.Do(func() {
		p, more := configure()
		u.set.mu.Lock()
		defer u.set.mu.Unlock()
		k.p, diags = p, more
	})
	if k.p == nil {
		u.drop(a, k)
	}
	return k.p, diags
}

// hold has the user hold the process for a configuration, which may still have to be configured.
func (u *User) hold(a addr.ProviderConfig, config cty.Value) *configured {
	s := u.set
	s.mu.Lock()
	defer s.mu.Unlock()
	alike := func(k *configured) bool { return k.config.RawEquals(config) }
	if i := slices.IndexFunc(u.held[a], alike); i >= 0 {
		return u.held[a][i]
	}
	i := slices.IndexFunc(s.configured[a], func(k *configured) bool { return alike(k) && !k.undecided() })
	if i < 0 {
		i = len(s.configured[a])
		s.configured[a] = append(s.configured[a], &configured{config: config})
	}
	k := s.configured[a][i]
	k.users++
	u.held[a] = append(u.held[a], k)
	return k
}

// drop forgets a process that could not be configured.
func (u *User) drop(a addr.ProviderConfig, k *configured) {
	s := u.set
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := func(other *configured) bool { return other == k }
	s.configured[a] = slices.DeleteFunc(s.configured[a], failed)
	u.held[a] = slices.DeleteFunc(u.held[a], failed)
}

// Leave ends the processes that have put off an answer and have no other user. The first process of a
// provider goes on, for requests that need no configuration. The user must not use a process any more. It is
// safe to call more than once.
func (u *User) Leave() {
	s := u.set
	var unused []provider.Provider
	s.mu.Lock()
	for a, list := range u.held {
		for _, k := range list {
			k.users--
		}
		b := s.bases[a.Provider]
		s.configured[a] = slices.DeleteFunc(s.configured[a], func(k *configured) bool {
			if k.users > 0 || !k.undecided() {
				return false
			}
			if b == nil || b.p != k.p {
				unused = append(unused, k.p)
			}
			return true
		})
	}
	clear(u.held)
	s.mu.Unlock()
	for _, p := range unused {
		s.End(p)
	}
}
