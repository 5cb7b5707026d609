// Package fetch downloads packages of modules: from git repositories, archives on web servers, buckets of S3
// and Google Cloud Storage, registries of OCI artifacts, and directories. Addresses have the form known from
// other engines' configurations. The library that defined this form parses most of them, unpacks archives and
// reads checksums.
//
// Start reading at Parse and Client.Fetch. It may import its siblings for requests and artifacts, and the
// clients of clouds. It must not know module calls, versions or registries of modules: it takes an address
// and fills a directory.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hashicorp/go-getter/v2"

	"github.com/mayfly-iac/mayfly/internal/install/ocimirror"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// Limits bound the size of a package, so that a small one cannot fill the disk. They don't apply to git,
// since users know their repositories.
type Limits struct {
	// Download is the maximum size of an archive or of a bucket's objects, in bytes.
	Download int64
	// Files and Unpacked are the maximum number and total size, in bytes, of the files in an archive.
	Files    int
	Unpacked int64
}

// usual limits are far above real packages of modules.
var usual = Limits{Download: 2 << 30, Files: 200_000, Unpacked: 4 << 30}

// Client downloads packages. It is safe for concurrent use.
type Client struct {
	web    *web.Client
	http   *http.Client
	oci    *ocimirror.Modules
	limits Limits
}

// New returns a client. oci may be nil, and zero limits mean the usual ones.
func New(client *web.Client, oci *ocimirror.Modules, limits Limits) *Client {
	limits.Download = cmp.Or(limits.Download, usual.Download)
	limits.Files = cmp.Or(limits.Files, usual.Files)
	limits.Unpacked = cmp.Or(limits.Unpacked, usual.Unpacked)
	return &Client{web: client, http: client.Downloads(), oci: oci, limits: limits}
}

// Fetch downloads a package into dir, which must not exist, but whose parent must. After an error, dir may
// contain part of the package: the caller removes it. The error reveals no secrets of the address. progress
// may be nil; it is not called for git.
func (c *Client) Fetch(ctx context.Context, pkg, dir string, progress web.Progress) error {
	scheme, u, err := split(pkg)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		err = (&run{Client: c, progress: progress}).get(ctx, scheme, u, dir, false)
		if err == nil {
			err = check(dir)
		}
		if err == nil {
			break
		}
		if err = c.web.Again(ctx, err, n); err != nil {
			break
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return c.explain(ctx, pkg, err)
}

func (c *Client) decompressors() map[string]getter.Decompressor {
	return getter.LimitedDecompressors(c.limits.Files, c.limits.Unpacked)
}

// artifact downloads a package from a registry of OCI artifacts.
func (c *Client) artifact(ctx context.Context, u *url.URL, dir string, progress web.Progress) (err error) {
	if c.oci == nil {
		return errors.New("registries of OCI artifacts are not available here")
	}
	archive, err := os.CreateTemp("", "mayfly-module-*.zip")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, archive.Close(), os.Remove(archive.Name()))
	}()
	q := u.Query()
	if err := c.oci.Download(ctx, u.Host+u.Path, q.Get("tag"), q.Get("digest"), archive, progress); err != nil {
		return err
	}
	return c.unpack("zip", archive.Name(), dir)
}

func filePath(u *url.URL) string {
	p := u.Path
	if runtime.GOOS == "windows" {
		p = strings.TrimPrefix(p, "/")
	}
	return filepath.FromSlash(p)
}

// link makes dir a link to the directory at path, so that changes there take effect at once. Where links
// aren't permitted, the directory is copied.
func link(path, dir string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", path)
	}
	if err := os.Symlink(path, dir); err == nil {
		return nil
	}
	return os.CopyFS(dir, os.DirFS(path))
}
