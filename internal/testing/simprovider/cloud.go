package simprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Object is one object in the simulated cloud, as in its JSON file. A test may change Attrs in the file to
// simulate drift.
type Object struct {
	ID     string                     `json:"id"`
	Type   string                     `json:"type"`
	Name   string                     `json:"name"`
	Serial int64                      `json:"serial"`
	Attrs  map[string]json.RawMessage `json:"attrs"`
	// SecretHash is simlog.Hash of the write-only secret that the last create or update received; "" for
	// none.
	SecretHash string `json:"secret_hash"`
}

// errGone means that the cloud has no such object or lease.
var errGone = errors.New("there is no such object")

// cloud is a directory: one file per object, and in .sim the leases of open ephemerals and the counters.
// Processes may share it.
type cloud struct {
	dir     string
	lenient bool // see Options.Lenient
	mu      sync.Mutex
}

// ObjectPath returns the path of an object's file in the directory of a simulated cloud.
func ObjectPath(dir, id string) string {
	return filepath.Join(dir, url.PathEscape(id)+".json")
}

// ReadObject reads one object of the cloud in the directory. The error of a missing object is
// fs.ErrNotExist.
func ReadObject(dir, id string) (*Object, error) {
	text, err := os.ReadFile(ObjectPath(dir, id))
	if err != nil {
		return nil, err
	}
	var o Object
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("object %q of the simulated cloud: %w", id, err)
	}
	return &o, nil
}

// WriteObject stores the object completely or not at all.
func WriteObject(dir string, o *Object) error {
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return fmt.Errorf("object %q of the simulated cloud: %w", o.ID, err)
	}
	return replaceFile(ObjectPath(dir, o.ID), append(text, '\n'))
}

// replaceFile writes the file so that a reader sees the old or the new content. It is not synchronized: the
// cloud need not survive a crash of the machine.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Objects lists the objects of the cloud in the directory, ordered by id.
func Objects(dir string) ([]*Object, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []*Object
	for _, p := range paths {
		id, err := url.PathUnescape(strings.TrimSuffix(filepath.Base(p), ".json"))
		if err != nil {
			return nil, err
		}
		o, err := ReadObject(dir, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted between the listing and the reading
		}
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func newCloud(dir string) (*cloud, error) {
	if err := os.MkdirAll(filepath.Join(dir, ".sim"), 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of the simulated cloud: %w", err)
	}
	return &cloud{dir: dir}, nil
}

func (c *cloud) get(id string) (*Object, error) {
	o, err := ReadObject(c.dir, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone
	}
	return o, err
}

func (c *cloud) put(o *Object) error { return WriteObject(c.dir, o) }

func (c *cloud) remove(id string) error {
	err := os.Remove(ObjectPath(c.dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// newID returns the id of a new object: its name and the number of objects with that name so far, as in
// "web-1".
func (c *cloud) newID(name string) (string, error) {
	n, err := c.count("ids-" + name)
	return fmt.Sprintf("%s-%d", name, n), err
}

// byName finds the newest object with the type and name.
func (c *cloud) byName(typ, name string) (*Object, error) {
	var best *Object
	bestNumber := -1
	paths, err := filepath.Glob(filepath.Join(c.dir, escapeGlob(url.PathEscape(name))+"-*.json"))
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		id, err := url.PathUnescape(strings.TrimSuffix(filepath.Base(p), ".json"))
		if err != nil {
			continue
		}
		number, err := strconv.Atoi(strings.TrimPrefix(id, name+"-"))
		if err != nil || number <= bestNumber {
			continue
		}
		o, err := c.get(id)
		if err != nil || o.Type != typ || o.Name != name {
			continue
		}
		best, bestNumber = o, number
	}
	if best == nil {
		return nil, errGone
	}
	return best, nil
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(s)
}

// count increments a counter shared by all processes and returns it. The counter is the length of a file
// that is only appended to. Two processes that count at the same moment may see the same number.
func (c *cloud) count(name string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(c.dir, ".sim", "count-"+url.PathEscape(name)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.Write([]byte{'.'}); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
