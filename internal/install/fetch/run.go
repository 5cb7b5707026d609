package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-getter/v2"

	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// run is one attempt to download a package. It is not safe for concurrent use.
type run struct {
	*Client
	progress web.Progress
	done     int64 // bytes received
	hops     int   // servers that referred to another address
}

// get downloads a package into dir. named is false for an address that the user wrote, and true for one that
// a server has named, which may mean nothing on this machine.
func (r *run) get(ctx context.Context, scheme string, u *url.URL, dir string, named bool) error {
	format, u := r.format(u)
	switch {
	case scheme == "oci":
		return r.artifact(ctx, u, dir, r.progress)
	case scheme == "git":
		return clone(ctx, u, dir, !named)
	case format != "":
		return r.archive(ctx, scheme, u, format, dir)
	case scheme == "file":
		return link(filePath(u), dir)
	case scheme == "s3" || scheme == "gcs":
		return r.directory(ctx, scheme, u, dir)
	}
	return r.page(ctx, u, dir)
}

// format returns the format of the archive at an address, "" if it is none, and the address without the
// parameter for it.
func (c *Client) format(u *url.URL) (string, *url.URL) {
	formats := c.decompressors()
	if q := u.Query(); q.Get("archive") != "" {
		format := q.Get("archive")
		if formats[format] == nil {
			format = "" // such as archive=false
		}
		return format, without(u, "archive")
	}
	best := ""
	for format := range formats {
		if strings.HasSuffix(u.Path, "."+format) && len(format) > len(best) {
			best = format
		}
	}
	return best, u
}

// without returns an address without a parameter.
func without(u *url.URL, name string) *url.URL {
	q := u.Query()
	if !q.Has(name) {
		return u // as it was written: a signature may cover it
	}
	q.Del(name)
	out := *u
	out.RawQuery = q.Encode()
	return &out
}

// archive downloads an archive, checks its checksum if the address has one, and unpacks it.
func (r *run) archive(ctx context.Context, scheme string, u *url.URL, format, dir string) error {
	temp, err := os.MkdirTemp("", "mayfly-module-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	sum, err := r.checksum(ctx, scheme, u)
	if err != nil {
		return err
	}
	file := filepath.Join(temp, "archive")
	if err := r.file(ctx, scheme, without(u, "checksum"), file); err != nil {
		return err
	}
	if sum != nil {
		if err := sum.Checksum(file); err != nil {
			return err
		}
	}
	return r.unpack(format, file, dir)
}

// file downloads a single file.
func (r *run) file(ctx context.Context, scheme string, u *url.URL, file string) error {
	body, size, err := r.open(ctx, scheme, u)
	if err != nil {
		return err
	}
	defer body.Close()
	return r.save(body, size, file)
}

// open returns the content of a file, which the caller closes, and its size, negative if unknown.
func (r *run) open(ctx context.Context, scheme string, u *url.URL) (io.ReadCloser, int64, error) {
	switch scheme {
	case "file":
		f, err := os.Open(filePath(u))
		return f, -1, err
	case "s3", "gcs":
		b, o, err := r.object(ctx, scheme, u)
		if err != nil {
			return nil, 0, err
		}
		return b.Open(ctx, o.name, o.version)
	}
	resp, err := r.request(ctx, u)
	if err != nil {
		return nil, 0, err
	}
	return resp.Body, resp.ContentLength, nil
}

// request gets an address of a web server.
func (r *run) request(ctx context.Context, u *url.URL) (*http.Response, error) {
	u, err := withLogin(u)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("it is not a valid address") // the message would show the whole address
	}
	return r.http.Do(req)
}

// save writes a download to a file. size is negative if unknown.
func (r *run) save(body io.Reader, size int64, file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, &counted{from: body, run: r, total: size})
	return errors.Join(err, f.Close())
}

// counted is the body of a response. It counts towards the limit of its run.
type counted struct {
	from  io.Reader
	run   *run
	total int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	r := c.run
	if r.done += int64(n); r.done > r.limits.Download {
		return 0, fmt.Errorf("it is larger than the limit of %d bytes", r.limits.Download)
	}
	if r.progress != nil && n > 0 {
		r.progress(r.done, c.total)
	}
	return n, err
}

// checksum returns the checksum that an address requires of its archive, nil if it requires none.
func (r *run) checksum(ctx context.Context, scheme string, u *url.URL) (*getter.FileChecksum, error) {
	if !u.Query().Has("checksum") {
		return nil, nil
	}
	client := &getter.Client{Getters: []getter.Getter{sums{run: r, local: scheme == "file"}}}
	sum, err := client.GetChecksum(ctx, &getter.Request{Src: u.String()})
	if err != nil {
		return nil, fmt.Errorf("its checksum is not valid: %w", err)
	}
	return sum, nil
}

// sums downloads the lists of checksums that the parameter checksum=file:ADDRESS names.
type sums struct {
	run   *run
	local bool // also lists on this machine, for an archive there
}

// Detect implements getter.Getter.
func (s sums) Detect(req *getter.Request) (bool, error) {
	if req.Forced == "" {
		scheme, _, err := split(req.Src)
		req.Forced = scheme
		if err != nil {
			return false, err
		}
	}
	return slices.Contains(remote[1:], req.Forced) || s.local && req.Forced == "file", nil
}

// Mode implements getter.Getter.
func (sums) Mode(context.Context, *url.URL) (getter.Mode, error) { return getter.ModeFile, nil }

// Get implements getter.Getter.
func (sums) Get(context.Context, *getter.Request) error {
	return errors.New("a list of checksums is a file")
}

// GetFile implements getter.Getter.
func (s sums) GetFile(ctx context.Context, req *getter.Request) error {
	if err := os.Remove(req.Dst); err != nil && !os.IsNotExist(err) {
		return err
	}
	return s.run.file(ctx, req.Forced, req.URL(), req.Dst)
}
