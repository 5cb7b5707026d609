package fetch

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/go-getter/v2"

	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// check refuses a package with links that lead out of it: they would mean something else on every machine.
// It also removes write permission for others, which archives may grant.
func check(dir string) error {
	if info, err := os.Lstat(dir); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return err // a directory on this machine, which is not changed
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink == 0:
			return restrict(root, name, d)
		}
		if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			target, _ := root.Readlink(name)
			return fmt.Errorf("the link %s in it points outside of the package, to %q", name, target)
		}
		return nil
	})
}

// restrict removes special modes, and write permission for others, from a file or directory.
func restrict(root *os.Root, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 || mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		return root.Chmod(name, mode.Perm()&^0o022)
	}
	return nil
}

// explain rewords the error of a download for the user, without secrets in the address.
func (c *Client) explain(ctx context.Context, pkg string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var status *web.StatusError
	var sum *getter.ChecksumError
	var git *gitError
	switch {
	case errors.As(err, &status):
		return status
	case errors.As(err, &sum):
		return fmt.Errorf("its checksum is %s, but the address requires %s: it was damaged or changed on the way", hex.EncodeToString(sum.Actual), hex.EncodeToString(sum.Expected))
	case errors.As(err, &git):
		return explainGit(pkg, git)
	}
	text := web.Reason(err).Error()
	for _, known := range []struct{ has, say string }{
		{"entry contains '..'", "the archive has an entry whose name points outside of the package: %s"},
		{"too many files", "it is larger than the limit: %s"},
		{"larger than limit", "it is larger than the limit: %s"},
	} {
		if strings.Contains(text, known.has) {
			if text = known.say; strings.Contains(known.say, "%s") {
				text = fmt.Sprintf(known.say, web.Reason(err))
			}
			break
		}
	}
	return errors.New(SecretsOf(pkg).Hide(text))
}

// explainGit turns the output of git into an error with advice. It knows texts of git and of the servers of
// common hosts, and quotes others without secrets.
func explainGit(pkg string, err *gitError) error {
	text, ref := SecretsOf(pkg).Hide(err.output), err.ref
	lower := strings.ToLower(text)
	said := gitSaid(text)
	switch {
	case ref != "" && strings.Contains(lower, "remote branch"):
		return errNoRef(ref)
	case containsAny(lower, "could not read username", "could not read password", "authentication failed", "permission denied", "terminal prompts disabled", "returned error: 403", "returned error: 401"):
		return fmt.Errorf("the server denied access, or requires a login that git does not have. Check that you can read the repository with: git ls-remote ADDRESS. git reported: %s", said)
	case containsAny(lower, "host key verification failed"):
		return fmt.Errorf("the key of the server is not known to ssh. Connect to the server once with ssh to check and accept its key. git reported: %s", said)
	case containsAny(lower, "not found", "does not appear to be a git repository", "does not exist", "no such file"):
		return fmt.Errorf("there is no such repository, or it is not visible without a login. git reported: %s", said)
	case containsAny(lower, "could not resolve host", "name or service not known"):
		return fmt.Errorf("the host name cannot be resolved. git reported: %s", said)
	}
	return fmt.Errorf("git reported: %s", said)
}

// gitSaid returns the part of git's output about the failure.
func gitSaid(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.Contains(line, "Cloning into") {
			continue
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return strings.TrimSpace(text)
	}
	return strings.Join(lines, " ")
}

func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
