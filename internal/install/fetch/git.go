package fetch

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/childenv"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// clone clones a repository with the program git and checks out the branch, tag or commit that the address
// names. local permits repositories on this machine. git's helpers for other transports, such as fd::17,
// could read from open files of this process.
func clone(ctx context.Context, u *url.URL, dir string, local bool) error {
	switch u.Scheme {
	case "https", "http", "ssh", "git":
	case "file", "":
		if !local {
			return errors.New("a server may not name a repository on this machine")
		}
	default:
		return fmt.Errorf("git repositories are fetched over https, http, ssh and git, not %q", u.Scheme)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return errors.New("downloading it needs the program git, which is not on the PATH. Install git")
	}
	q := u.Query()
	g := git{dir: dir, ref: q.Get("ref"), env: childenv.WithoutVariables(os.Environ())}
	if key := q.Get("sshkey"); key != "" {
		remove, err := g.useKey(key)
		if err != nil {
			return err
		}
		defer remove()
	}
	var shallow []string
	if n, err := strconv.Atoi(q.Get("depth")); err == nil && n > 0 {
		shallow = []string{"--depth", strconv.Itoa(n)}
	}
	address := *u
	for _, name := range []string{"ref", "sshkey", "depth"} {
		q.Del(name)
	}
	address.RawQuery = q.Encode()
	return g.clone(ctx, address.String(), shallow)
}

// git runs git for one repository.
type git struct {
	dir string
	ref string   // "" for the default branch
	env []string // of git's processes
}

// clone clones the repository and checks out the commit that the source names. With arguments for a
// shallow clone, only that branch or tag is fetched.
func (g *git) clone(ctx context.Context, address string, shallow []string) error {
	args := append([]string{"clone"}, shallow...)
	if g.ref != "" && shallow != nil { // only this branch or tag is fetched
		args = append(args, "--branch="+g.ref)
	}
	if _, err := g.run(ctx, "", append(args, "--", address, g.dir)...); err != nil {
		return err
	}
	if g.ref != "" {
		commit, err := g.resolve(ctx)
		if err != nil {
			return err
		}
		if _, err := g.run(ctx, g.dir, "checkout", "--detach", commit); err != nil {
			return err
		}
	}
	_, err := g.run(ctx, g.dir, append([]string{"submodule", "update", "--init", "--recursive"}, shallow...)...)
	return err
}

// resolve returns the commit that the ref means. Branches of the server are not local ones yet.
func (g *git) resolve(ctx context.Context) (string, error) {
	for _, prefix := range []string{"", "refs/remotes/origin/", "refs/tags/"} {
		commit, err := g.run(ctx, g.dir, "rev-parse", "--verify", "--quiet", "--end-of-options", prefix+g.ref+"^{commit}")
		if err == nil {
			return strings.TrimSpace(commit), nil
		}
		if ctx.Err() != nil {
			return "", err
		}
	}
	return "", errNoRef(g.ref)
}

// run runs git in a directory, "" for the current one, and returns its output.
func (g *git) run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, trace.Environ(ctx, g.env)
	var out, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		return "", &gitError{ref: g.ref, output: cmp.Or(messages.String()+out.String(), err.Error())}
	}
	return out.String(), nil
}

// useKey makes ssh use a private key, which is given in base64. The function that it returns removes the key
// from the disk.
func (g *git) useKey(key string) (remove func(), err error) {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, errors.New("its sshkey is not valid base64") // the decoder's message shows a position in the key
	}
	f, err := os.CreateTemp("", "mayfly-key-*") // with permissions for the user only
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = f.Write(raw)
	if err := errors.Join(err, f.Close()); err != nil {
		remove()
		return nil, err
	}
	const variable = "GIT_SSH_COMMAND"
	command := cmp.Or(os.Getenv(variable), "ssh")
	g.env = append(g.env, variable+"="+command+" -i "+filepath.ToSlash(f.Name()))
	return remove, nil
}

func errNoRef(ref string) error {
	return fmt.Errorf("the repository has no branch, tag or commit %q", ref)
}

// gitError is a failure of git.
type gitError struct{ ref, output string }

// Error implements error. The output may contain passwords.
func (e *gitError) Error() string { return "git failed" }
