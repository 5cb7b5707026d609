package ssh

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pkg/sftp"
)

// contentName is the name of a file in a directory for content given without a name.
const contentName = "tf-file-content"

// Upload copies a local file or directory to the host. A file goes into an existing destination directory
// under its own name. The content of a directory goes to a directory with the same name in the destination,
// or into the destination itself if source ends with a slash or the destination does not exist. A missing
// destination is created, but not its parents. Symbolic links are followed. New files get the permissions
// 0644, new directories 0755, reduced by the host's umask; existing ones keep theirs. When ctx ends, the
// upload stops, unfinished.
func (c *Client) Upload(ctx context.Context, source, destination string) error {
	info, err := os.Stat(source)
	if err != nil {
		return &Error{public: "the source could not be read", err: err}
	}
	u, err := c.uploader(ctx, destination)
	if err != nil {
		return err
	}
	defer u.files.close()
	if !info.IsDir() {
		return u.file(source, u.inside(destination, filepath.Base(source)))
	}
	whole := !strings.HasSuffix(source, "/") && !strings.HasSuffix(source, string(filepath.Separator))
	to := u.path(destination)
	if whole && u.isDir(to) {
		to = path.Join(to, filepath.Base(source))
	}
	return u.dir(source, to, nil)
}

// UploadContent writes a text to a file on the host, named tf-file-content if the destination is a
// directory. Otherwise it behaves like Upload.
func (c *Client) UploadContent(ctx context.Context, content, destination string) error {
	u, err := c.uploader(ctx, destination)
	if err != nil {
		return err
	}
	defer u.files.close()
	return u.write(strings.NewReader(content), u.inside(destination, contentName))
}

// files is a session with the host's file server.
type files struct {
	*sftp.Client
	close func()
}

// files opens a session with the file server, which the caller closes. It ends with ctx.
func (c *Client) files(ctx context.Context) (*files, error) {
	if err := ctx.Err(); err != nil { // a small upload could end before the session does
		return nil, &Error{public: "the run was interrupted", err: err}
	}
	s, err := c.ssh.NewSession()
	if err != nil {
		return nil, &Error{public: "the host did not open a session", err: err}
	}
	release := c.watch(ctx, func() { _ = s.Close() })
	fail := func(err error) (*files, error) {
		release()
		_ = s.Close()
		return nil, &Error{public: "the host offers no file transfer by SFTP, the only one that is used", detail: "(in sshd_config: Subsystem sftp internal-sftp)", err: err}
	}
	out, err1 := s.StdoutPipe()
	in, err2 := s.StdinPipe()
	if err := errors.Join(err1, err2); err != nil {
		return fail(err)
	}
	if err := s.RequestSubsystem("sftp"); err != nil {
		return fail(err)
	}
	client, err := sftp.NewClientPipe(out, in, sftp.UseConcurrentWrites(true))
	if err != nil {
		return fail(err)
	}
	return &files{client, func() {
		_ = client.Close()
		release()
		_ = s.Close()
	}}, nil
}

// failed describes a failed operation on a file of the host.
func (f *files) failed(ctx context.Context, what, name string, err error) error {
	switch {
	case ctx.Err() != nil:
		return &Error{public: "interrupted: " + what, detail: "(" + name + ")", err: ctx.Err()}
	case errors.Is(err, fs.ErrNotExist):
		if dir := path.Dir(name); !f.isDir(dir) {
			return &Error{public: what + ": the directory for it does not exist", detail: "(" + dir + "). A remote-exec provisioner before this one can create it"}
		}
	}
	return &Error{public: what, detail: "(" + name + ")", err: err}
}

// isDir reports whether a name on the host names a directory.
func (f *files) isDir(name string) bool {
	info, err := f.Stat(name)
	return err == nil && info.IsDir()
}

// uploader copies files in one session with the file server.
type uploader struct {
	*files
	ctx  context.Context
	path func(string) string
}

// uploader opens a session for copying to a destination, which the caller closes.
func (c *Client) uploader(ctx context.Context, destination string) (*uploader, error) {
	if destination == "" {
		return nil, &Error{public: "the destination is empty"}
	}
	f, err := c.files(ctx)
	if err != nil {
		return nil, err
	}
	return &uploader{f, ctx, c.remotePath}, nil
}

// inside returns the target path: the destination, or the given name within it if it is a directory.
func (u *uploader) inside(destination, name string) string {
	to := u.path(destination)
	if strings.HasSuffix(to, "/") || u.isDir(to) {
		return path.Join(to, name)
	}
	return to
}

// file copies one file.
func (u *uploader) file(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return &Error{public: "the source could not be read", err: err}
	}
	defer func() { _ = in.Close() }()
	return u.write(in, to)
}

// write creates or replaces the content of a file on the host.
func (u *uploader) write(r io.Reader, to string) error {
	const what, mode = "the file could not be written on the host", 0o644
	_, missing := u.Lstat(to)
	f, err := u.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return u.failed(u.ctx, what, to, err)
	}
	if errors.Is(missing, fs.ErrNotExist) {
		u.restrict(to, mode)
	}
	_, err = f.ReadFrom(r)
	if err = errors.Join(err, f.Close()); err != nil {
		return u.failed(u.ctx, what, to, err)
	}
	return nil
}

// restrict removes permissions that mode lacks from a new file or directory. A file server without
// permissions ignores it.
func (u *uploader) restrict(name string, mode fs.FileMode) {
	if info, err := u.Stat(name); err == nil && info.Mode().Perm()&^mode != 0 {
		_ = u.Chmod(name, info.Mode().Perm()&mode)
	}
}

// dir copies the content of a directory. above are the directories that contain it.
func (u *uploader) dir(from, to string, above []fs.FileInfo) error {
	const what, mode = "the directory could not be created on the host", 0o755
	self, err := os.Stat(from)
	if err != nil {
		return &Error{public: "the source could not be read", err: err}
	}
	for _, a := range above {
		if os.SameFile(a, self) {
			return &Error{public: "the source has a symbolic link to a directory that contains it, so copying would never end", detail: "(" + from + ")"}
		}
	}
	if !u.isDir(to) {
		if err := u.Mkdir(strings.TrimSuffix(to, "/")); err != nil {
			return u.failed(u.ctx, what, to, err)
		}
		u.restrict(to, mode)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return &Error{public: "the source could not be read", err: err}
	}
	above = append(above[:len(above):len(above)], self)
	for _, e := range entries {
		if err := u.entry(filepath.Join(from, e.Name()), path.Join(to, e.Name()), above); err != nil {
			return err
		}
	}
	return nil
}

// entry copies a file or directory, and refuses anything else.
func (u *uploader) entry(from, to string, above []fs.FileInfo) error {
	info, err := os.Stat(from)
	switch {
	case err != nil:
		return &Error{public: "the source could not be read", err: err}
	case info.IsDir():
		return u.dir(from, to, above)
	case !info.Mode().IsRegular():
		return &Error{public: "the source contains something that is neither a file nor a directory", detail: "(" + from + ")"}
	}
	return u.file(from, to)
}
