package fetch

import (
	"fmt"
	"net/url"

	"github.com/hashicorp/go-getter"
)

// gitGetter clones repositories over the network. git's helpers for other transports, such as fd::17, could
// read from open files of this process.
type gitGetter struct {
	getter.GitGetter
	local bool // also repositories on this machine; false if a server named the address
}

// Get implements getter.Getter.
func (g *gitGetter) Get(dir string, u *url.URL) error {
	switch u.Scheme {
	case "https", "http", "ssh", "git":
	case "file", "":
		if !g.local {
			return errGitTransport("a server may not name a repository on this machine")
		}
	default:
		return errGitTransport(fmt.Sprintf("git repositories are fetched over https, http, ssh and git, not %q", u.Scheme))
	}
	return g.GitGetter.Get(dir, u)
}

// errGitTransport says why a repository's address is refused. It shows no other part of the address.
type errGitTransport string

func (e errGitTransport) Error() string { return string(e) }
