// Package powercut models the content of a disk after a power cut. A file has the content that was
// synchronized last, and perhaps more; a directory has the names that were synchronized last, and perhaps
// newer ones. A test tells a Disk of each call that a process makes, before it takes place, and asks for the
// possible outcomes.
//
// It may import package sysfault only. It must not know the use of the files.
package powercut

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Image is the content of a directory by slash-separated path. Directories have a final slash and nil.
type Image map[string][]byte

// Key identifies images with the same content.
func (m Image) Key() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(name + "\x00" + string(m[name]) + "\x00\x00")
	}
	return b.String()
}

// Lay writes the image into a directory, which must exist and have nothing of it.
func (m Image) Lay(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(m)) { // directories come before their content
		var err error
		if path := filepath.Join(dir, filepath.FromSlash(name)); strings.HasSuffix(name, "/") {
			err = os.Mkdir(path, 0o700)
		} else {
			err = os.WriteFile(path, m[name], 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Disk is the model of a directory on stable storage. It is not safe for concurrent use.
type Disk struct {
	root  string
	skip  string
	nodes []*node
}

// node is a file or directory, whatever its name. It stays open, so that no other gets its identity.
type node struct {
	open    *os.File
	info    fs.FileInfo
	content []byte           // of a file, when it was last synchronized
	names   map[string]*node // of a directory, when it was last synchronized
}

// New returns the model of a directory, all of whose content counts as durable. It does not look into
// directories with the name skip. Links and the like are left out. Close it.
func New(root, skip string) (*Disk, error) {
	d := &Disk{root: root, skip: skip}
	err := d.walk(root, d.sync)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close closes the files of the model.
func (d *Disk) Close() error {
	var errs []error
	for _, n := range d.nodes {
		errs = append(errs, n.open.Close())
	}
	return errors.Join(errs...)
}

// Before notes a system call that is about to take place. If it synchronizes a file or directory, that is
// synced, and path the name by which it was opened. Its content is durable from then on.
func (d *Disk) Before(path string, synced fs.FileInfo) error {
	if err := d.walk(d.root, func(string, *node) error { return nil }); err != nil || synced == nil {
		return err
	}
	for _, n := range d.nodes {
		if os.SameFile(n.info, synced) {
			return d.sync(path, n)
		}
	}
	return nil // it is elsewhere
}

// sync makes the present content of a file, or the names in a directory, durable.
func (d *Disk) sync(path string, n *node) (err error) {
	if n.info.IsDir() {
		n.names, err = d.namesIn(path)
		return err
	}
	n.content, err = n.now()
	return err
}

// now returns the content that a file has in memory.
func (n *node) now() ([]byte, error) {
	info, err := n.open.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(n.open, 0, info.Size()))
}

// node returns the file at a path, nil if there is none or it is of no interest.
func (d *Disk) node(path string) (*node, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.IsDir() && !info.Mode().IsRegular() || info.Name() == d.skip) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, n := range d.nodes {
		if os.SameFile(n.info, info) {
			return n, nil
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	n := &node{open: f, info: info}
	d.nodes = append(d.nodes, n)
	return n, nil
}

// namesIn returns the names that a directory has in memory. A directory that is gone has nothing.
func (d *Disk) namesIn(dir string) (map[string]*node, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[string]*node{}
	for _, e := range entries {
		n, err := d.node(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if n != nil {
			out[e.Name()] = n
		}
	}
	return out, nil
}

// walk calls visit for a path and all below it.
func (d *Disk) walk(path string, visit func(string, *node) error) error {
	n, err := d.node(path)
	if err != nil || n == nil {
		return err
	}
	if err := visit(path, n); err != nil || !n.info.IsDir() {
		return err
	}
	names, err := d.namesIn(path)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		err = errors.Join(err, d.walk(filepath.Join(path, name), visit))
	}
	return err
}

// maxPending is the largest number of unsynchronized names for which every combination is tried.
const maxPending = 5

// Left returns the possible outcomes if the power is cut now, each image once. Of the names that were not
// synchronized, any may be there or not; each file has the content that was synchronized, the present one, or
// half of the bytes added to it.
func (d *Disk) Left() ([]Image, error) {
	var pending []string // paths of names that are not durable, or removed but not durably
	if err := d.walk(d.root, func(path string, n *node) error {
		if !n.info.IsDir() {
			return nil
		}
		now, err := d.namesIn(path)
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if n.names[name] != now[name] {
				pending = append(pending, filepath.Join(path, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(n.names)) {
			if now[name] == nil {
				pending = append(pending, filepath.Join(path, name))
			}
		}
		return err
	}); err != nil {
		return nil, err
	}
	root, err := d.node(d.root)
	if err != nil || root == nil {
		return nil, errors.Join(err, errors.New("the directory is gone"))
	}
	var out []Image
	seen := map[string]bool{}
	for _, written := range choices(pending) {
		for _, content := range []func(*node) ([]byte, error){(*node).synchronized, (*node).now, (*node).torn} {
			m := Image{}
			if err := d.collect(m, d.root, root, written, content); err != nil {
				return nil, err
			}
			if key := m.Key(); !seen[key] {
				seen[key] = true
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// choices returns the sets of names that may have been written: all if there are few, and otherwise none,
// all, and each alone present or absent.
func choices(names []string) []map[string]bool {
	var out []map[string]bool
	if len(names) <= maxPending {
		for bits := range 1 << len(names) {
			set := map[string]bool{}
			for i, name := range names {
				set[name] = bits>>i&1 == 1
			}
			out = append(out, set)
		}
		return out
	}
	for one := -1; one < len(names); one++ {
		with, without := map[string]bool{}, map[string]bool{}
		for i, name := range names {
			with[name], without[name] = i == one, i != one
		}
		out = append(out, with, without)
	}
	return out
}

// collect adds to an image the rest of a directory at a path, if its new names that are in written have
// reached the disk, and its files have the content that a function returns.
func (d *Disk) collect(m Image, dir string, of *node, written map[string]bool, content func(*node) ([]byte, error)) error {
	now, err := d.namesIn(dir)
	if err != nil {
		return err
	}
	left := maps.Clone(of.names)
	if left == nil {
		left = map[string]*node{} // never synchronized
	}
	for name, ok := range written {
		if !ok || filepath.Dir(name) != dir {
			continue
		}
		delete(left, filepath.Base(name))
		if at := now[filepath.Base(name)]; at != nil {
			left[filepath.Base(name)] = at
		}
	}
	for name, n := range left {
		path := filepath.Join(dir, name)
		rel, err := filepath.Rel(d.root, path)
		if err != nil {
			return err
		}
		key := filepath.ToSlash(rel)
		if n.info.IsDir() {
			m[key+"/"] = nil
			err = d.collect(m, path, n, written, content)
		} else {
			m[key], err = content(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *node) synchronized() ([]byte, error) { return n.content, nil }

// torn returns the synchronized content with the beginning of the bytes after it.
func (n *node) torn() ([]byte, error) {
	now, err := n.now()
	if more, ok := bytes.CutPrefix(now, n.content); ok {
		return now[:len(n.content)+len(more)/2], err
	}
	return slices.Concat(now[:len(now)/2], n.content[min(len(now)/2, len(n.content)):]), err
}
