package fetch

import (
	"fmt"
	"net/url"

	"github.com/hashicorp/go-getter"
)

// gitGetter gets repositories over the network. Helpers of git for other transports, such as fd::17, would
// read from what this process has open.
type gitGetter struct {
	getter.GitGetter
	local bool // repositories on this machine too; not if a server named the address
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

// errGitTransport says why an address of a repository is refused. It shows no other part of the address.
type errGitTransport string

func (e errGitTransport) Error() string { return string(e) }
