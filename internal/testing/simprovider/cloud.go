package simprovider

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// cloud is a directory: one file per object, and in .sim the leases of open ephemerals and the counters.
// Processes may share it.
type cloud struct {
	dir     string
	lenient bool // see Options.Lenient
	mu      sync.Mutex
}

func newCloud(dir string) (*cloud, error) {
	if err := os.MkdirAll(filepath.Join(dir, ".sim"), 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of the simulated cloud: %w", err)
	}
	return &cloud{dir: dir}, nil
}

func (c *cloud) get(id string) (*simcloud.Object, error) {
	o, err := simcloud.ReadObject(c.dir, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, simcloud.ErrGone
	}
	return o, err
}

func (c *cloud) put(o *simcloud.Object) error { return simcloud.WriteObject(c.dir, o) }

func (c *cloud) remove(id string) error {
	err := os.Remove(simcloud.ObjectPath(c.dir, id))
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
func (c *cloud) byName(typ, name string) (*simcloud.Object, error) {
	var best *simcloud.Object
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
		return nil, simcloud.ErrGone
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
