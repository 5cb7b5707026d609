package funcs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
)

// setFunc returns fileset. The names are relative to the path and have slashes on every system, so that
// states can move between them.
func (f files) setFunc() function.Function {
	return function.New(&function.Spec{
		Params:       []function.Parameter{stringParam("path"), stringParam("pattern")},
		Type:         function.StaticReturnType(cty.Set(cty.String)),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			root, err := f.resolve(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			matches, err := f.glob(root, args[1].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(1, err)
			}
			if len(matches) == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			return cty.SetVal(matches), nil
		},
	})
}

// glob returns the regular files below root that match, as slash-separated paths relative to root. The
// literal start of the pattern is taken out first: it may lead out of root, which the file system interface
// forbids, and root may contain characters that look like a pattern.
func (f files) glob(root, pattern string) ([]cty.Value, error) {
	pattern = path.Clean(filepath.ToSlash(pattern))
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("failed to glob pattern %q: %w", pattern, doublestar.ErrBadPattern)
	}
	fixed, rest := doublestar.SplitPattern(pattern)
	dir := filepath.Join(root, filepath.FromSlash(fixed))
	search := &search{fsys: os.DirFS(dir), interrupted: f.interrupted, left: maxLooked}
	var matches []cty.Value
	err := doublestar.GlobWalk(search, oncePerDepth(rest), func(p string, _ fs.DirEntry) error {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p)))
		if err == nil && info.Mode().IsRegular() {
			matches = append(matches, cty.StringVal(path.Join(fixed, p)))
		}
		return search.look(1)
	})
	if search.over != nil { // which the walk passes over, as it does over directories that cannot be read
		err = search.over
	}
	if err != nil {
		return nil, fmt.Errorf("failed to glob pattern %q: %w", pattern, err)
	}
	return matches, nil
}

// oncePerDepth returns a pattern that matches the same with one ** in place of several in a row. Each of them
// would be tried at every depth, for every place of the others.
func oncePerDepth(pattern string) string {
	var out []string
	for segment := range strings.SplitSeq(pattern, "/") {
		if segment != "**" || len(out) == 0 || out[len(out)-1] != "**" {
			out = append(out, segment)
		}
	}
	return strings.Join(out, "/")
}

// maxLooked bounds how many files and directories fileset looks at, counting those that it comes to in
// several ways. Patterns multiply, and so do links that lead back.
const maxLooked = 1 << 23

// search is the file system for one pattern. Once there is a reason to end, nothing can be read any more.
type search struct {
	fsys        fs.FS
	interrupted <-chan struct{}
	left        int
	over        error // the reason to end
}

// look notes that n files or directories are looked at, and returns the reason to end, if there is one.
func (s *search) look(n int) error {
	if s.over != nil {
		return s.over
	}
	if s.left -= n; s.left < 0 {
		s.over = fmt.Errorf("there are more than %d files and directories to look at, counting those that several parts of the pattern or links lead to. "+
			"Begin closer to the files, or use ** only once", maxLooked)
	}
	select {
	case <-s.interrupted:
		s.over = bounds.ErrInterrupted
	default:
	}
	return s.over
}

// Open implements fs.FS.
func (s *search) Open(name string) (fs.File, error) {
	if err := s.look(1); err != nil {
		return nil, err
	}
	return s.fsys.Open(name)
}

// Stat implements fs.StatFS.
func (s *search) Stat(name string) (fs.FileInfo, error) {
	if err := s.look(1); err != nil {
		return nil, err
	}
	return fs.Stat(s.fsys, name)
}

// ReadDir implements fs.ReadDirFS.
func (s *search) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.look(1); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.fsys, name)
	if over := s.look(len(entries)); over != nil {
		return nil, over
	}
	return entries, err
}
