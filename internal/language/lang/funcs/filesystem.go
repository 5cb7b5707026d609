package funcs

import (
	"cmp"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// files is the file system as expressions see it: relative paths start at base. Marks of a path carry over to
// the content read there.
type files struct {
	base        string
	interrupted <-chan struct{} // nil for never
}

// functions returns the functions that read files and work on paths. Their relative paths start from the
// working directory of the run.
func (f files) functions() map[string]function.Function {
	return map[string]function.Function{
		"abspath":          textFunc("path", f.absolute),
		"basename":         textFunc("path", func(p string) (string, error) { return filepath.Base(p), nil }),
		"dirname":          textFunc("path", func(p string) (string, error) { return filepath.Dir(p), nil }),
		"file":             pathFunc(f.text),
		"filebase64":       pathFunc(f.base64),
		"filebase64sha256": pathFunc(f.digest(sha256.New, base64.StdEncoding.EncodeToString)),
		"filebase64sha512": pathFunc(f.digest(sha512.New, base64.StdEncoding.EncodeToString)),
		"fileexists":       f.existsFunc(),
		"filemd5":          pathFunc(f.digest(md5.New, hex.EncodeToString)),
		"fileset":          f.setFunc(),
		"filesha1":         pathFunc(f.digest(sha1.New, hex.EncodeToString)),
		"filesha256":       pathFunc(f.digest(sha256.New, hex.EncodeToString)),
		"filesha512":       pathFunc(f.digest(sha512.New, hex.EncodeToString)),
		"pathexpand":       textFunc("path", expandHome),
	}
}

// pathFunc returns a function of a path, whose errors are about that path.
func pathFunc(f func(string) (string, error)) function.Function {
	return textFunc("path", func(p string) (string, error) {
		s, err := f(p)
		if err != nil {
			return "", function.NewArgError(0, err)
		}
		return s, nil
	})
}

// expandHome replaces a leading ~ by the home directory of the user who runs the process.
func expandHome(p string) (string, error) {
	if !strings.HasPrefix(p, "~") {
		return p, nil
	}
	if len(p) > 1 && p[1] != '/' && !os.IsPathSeparator(p[1]) {
		return "", errors.New("cannot expand user-specific home dir")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot expand ~: %w", err)
	}
	return filepath.Join(home, p[1:]), nil
}

// resolve returns the place of a path in the real file system.
func (f files) resolve(p string) (string, error) {
	p, err := expandHome(p)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(f.base, p)
	}
	return filepath.Clean(p), nil
}

// absolute does not expand ~: in this function it is an ordinary character.
func (f files) absolute(p string) (string, error) {
	if !filepath.IsAbs(p) {
		p = filepath.Join(f.base, p)
	}
	abs, err := filepath.Abs(p)
	return filepath.ToSlash(abs), err
}

// open opens a file for reading; its errors name the path as the author wrote it.
func (f files) open(p string) (*os.File, error) {
	full, err := f.resolve(p)
	if err != nil {
		return nil, err
	}
	file, err := safefile.Open(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no file exists at %q; this function works only with files that are distributed as part of the "+
			"configuration source code, so if this file will be created by a resource in this configuration you must instead obtain "+
			"this result from an attribute of that resource", p)
	case err != nil:
		return nil, readError(p, err)
	}
	return file, nil
}

func readError(p string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("failed to read file: read %s: %w", cmp.Or(p, "."), err)
}

// read returns the content of a file, which must not be larger than a text can be.
func (f files) read(p string) ([]byte, error) {
	file, err := f.open(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := readText(file)
	if errors.Is(err, bounds.ErrText) {
		return nil, err
	}
	if err != nil {
		return nil, readError(p, err)
	}
	return content, nil
}

// text returns the content of a file that is UTF-8. The error names the functions for other content.
func (f files) text(p string) (string, error) {
	raw, err := f.read(p)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("contents of %q are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded contents or "+
			"the other file functions (e.g. filemd5, filesha256) to obtain file hashing results instead", p)
	}
	return string(raw), nil
}

func (f files) base64(p string) (string, error) {
	raw, err := f.read(p)
	return base64.StdEncoding.EncodeToString(raw), err
}

// digest returns a function that hashes a file without keeping it in memory.
func (f files) digest(algorithm func() hash.Hash, encode func([]byte) string) func(string) (string, error) {
	return func(p string) (string, error) {
		file, err := f.open(p)
		if err != nil {
			return "", err
		}
		defer file.Close()
		h := algorithm()
		if _, err := io.Copy(h, interruptible{file, f.interrupted}); err != nil {
			return "", readError(p, err)
		}
		return encode(h.Sum(nil)), nil
	}
}

// interruptible is a file that ends with an error once interrupted is closed.
type interruptible struct {
	io.Reader
	interrupted <-chan struct{}
}

// Read implements io.Reader.
func (r interruptible) Read(b []byte) (int, error) {
	select {
	case <-r.interrupted:
		return 0, bounds.ErrInterrupted
	default:
		return r.Reader.Read(b)
	}
}

// existsFunc returns fileexists. Something at the path that is not a regular file is an error and not
// false: the configuration would otherwise make a file where there is a directory.
func (f files) existsFunc() function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{stringParam("path")},
		Type:         function.StaticReturnType(cty.Bool),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			p := args[0].AsString()
			full, err := f.resolve(p)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			info, err := os.Stat(full)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return cty.False, nil
			case err != nil:
				return cty.NilVal, function.NewArgError(0, readError(p, err))
			case info.IsDir():
				return cty.NilVal, function.NewArgErrorf(0, "%q is a directory, not a file", p)
			case !info.Mode().IsRegular():
				return cty.NilVal, function.NewArgErrorf(0, "%q is not a regular file", p)
			}
			return cty.True, nil
		},
	})
}
