package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hashicorp/go-getter"

	"github.com/mayfly-iac/mayfly/install/ocimirror"
	"github.com/mayfly-iac/mayfly/install/web"
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

// maxHops is how often a web server may refer to another address.
const maxHops = 10

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
		err = c.once(ctx, scheme, pkg, u, dir, progress)
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
	return c.explain(ctx, pkg, scheme, err)
}

func (c *Client) once(ctx context.Context, scheme, pkg string, u *url.URL, dir string, progress web.Progress) error {
	switch {
	case scheme == "oci":
		return c.artifact(ctx, u, dir, progress)
	case scheme == "file" && !c.isArchive(u):
		return link(filePath(u), dir)
	}
	gate := &gate{limit: c.limits.Download, progress: progress}
	client := &getter.Client{
		Ctx: ctx, Src: pkg, Dst: dir, Mode: getter.ClientModeDir, DisableSymlinks: true,
		// Packages that a response refers to are downloaded with exactly the same options.
		Options: []getter.ClientOption{
			getter.WithContext(ctx), getter.WithGetters(c.getters(scheme)), getter.WithDetectors(detectors[:len(detectors)-1]),
			getter.WithDecompressors(c.decompressors()), getter.WithProgress(gate),
		},
	}
	err := client.Get()
	if gate.exceeded {
		return fmt.Errorf("it is larger than the limit of %d bytes", c.limits.Download)
	}
	return err
}

func (c *Client) decompressors() map[string]getter.Decompressor {
	return getter.LimitedDecompressors(c.limits.Files, c.limits.Unpacked)
}

// getters returns the ways to download a package whose address has the scheme, and anything it refers to.
// Only an address that names a file may refer to one.
func (c *Client) getters(scheme string) map[string]getter.Getter {
	if scheme == "file" {
		return map[string]getter.Getter{"file": &getter.FileGetter{Copy: true}}
	}
	// Without encryption, a password from the user's netrc would be visible on the network.
	plain := &getter.HttpGetter{Client: c.http, DoNotCheckHeadFirst: true, XTerraformGetLimit: maxHops, MaxBytes: c.limits.Download}
	secure := &getter.HttpGetter{Client: c.http, DoNotCheckHeadFirst: true, XTerraformGetLimit: maxHops, MaxBytes: c.limits.Download, Netrc: true}
	return map[string]getter.Getter{
		"git": &gitGetter{local: scheme == "git"}, "http": plain, "https": secure, "s3": new(getter.S3Getter), "gcs": &getter.GCSGetter{FileSizeLimit: c.limits.Download},
	}
}

func (c *Client) isArchive(u *url.URL) bool {
	if u.Query().Get("archive") != "" {
		return true
	}
	for suffix := range c.decompressors() {
		if strings.HasSuffix(u.Path, "."+suffix) {
			return true
		}
	}
	return false
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
	return c.decompressors()["zip"].Decompress(dir, archive.Name(), true, 0)
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

// gate limits a download and reports its progress. It is a getter.ProgressTracker.
type gate struct {
	limit    int64
	progress web.Progress
	done     int64
	exceeded bool
}

// TrackProgress implements getter.ProgressTracker.
func (g *gate) TrackProgress(_ string, _, total int64, stream io.ReadCloser) io.ReadCloser {
	return &gated{ReadCloser: stream, gate: g, total: total}
}

// gated is a response body that passes through a gate.
type gated struct {
	io.ReadCloser
	gate  *gate
	total int64
}

// Read implements io.Reader.
func (r *gated) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	g := r.gate
	if g.done += int64(n); g.done > g.limit {
		g.exceeded = true
		return 0, errors.New("too large")
	}
	if g.progress != nil && n > 0 {
		g.progress(g.done, r.total)
	}
	return n, err
}
