package simprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// lease is the record of an open ephemeral resource. Its id is the hash of the lease secret, so that the
// record does not contain the secret. A successful close removes the record.
type lease struct {
	ID       string        `json:"lease"`
	Type     string        `json:"type"`
	Name     string        `json:"name"`
	Parent   string        `json:"parent"`   // the lease whose secret was used to open this one
	Renewals int           `json:"renewals"` // successful ones
	Expires  time.Time     `json:"expires"`  // zero: never
	Valid    time.Duration `json:"valid"`    // how far a renewal moves Expires

	Closing bool `json:"-"` // a close was attempted; the name of the record says so
}

// leasePrefix begins every lease secret, to recognize texts that must be live leases when they are used.
const leasePrefix = "CANARY-lease-"

// closing ends the name of the record of a lease from the attempt to close it on. To rename a file takes much
// less than to replace it.
const closing = ".closing"

func (c *cloud) leasePath(id string) string { return filepath.Join(c.dir, ".sim", "lease-"+id) }

func (c *cloud) putLease(l *lease) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return replaceFile(c.leasePath(l.ID), text)
}

func (c *cloud) getLease(id string) (*lease, error) { return readLease(c.leasePath(id)) }

// readLease reads a record by its name before the attempt to close.
func readLease(path string) (*lease, error) {
	var l lease
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		l.Closing = true
		text, err = os.ReadFile(path + closing)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	return &l, json.Unmarshal(text, &l)
}

func (l *lease) extend() {
	if l.Valid > 0 {
		l.Expires = time.Now().Add(l.Valid)
	}
}

// known returns the open lease that the private data of a renewal or close refers to, or the engine's
// fault.
func (c *cloud) known(p *ephemeralPrivate) (*lease, error) {
	l, err := c.getLease(p.Lease)
	switch {
	case errors.Is(err, errGone):
		return nil, faultf("%s is not open: it was never opened or is already closed", p.Name)
	case err != nil:
		return nil, err
	case l.Closing:
		return nil, faultf("%s.%s was already asked to close", l.Type, l.Name)
	case l.Renewals != p.Renewals:
		return nil, faultf("%s.%s: the private data is not the latest one: it is of renewal %d, and there were %d", l.Type, l.Name, p.Renewals, l.Renewals)
	}
	return l, nil
}

// renewLease records a successful renewal.
func (c *cloud) renewLease(p *ephemeralPrivate) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.known(p)
	if err != nil {
		return err
	}
	l.Renewals++
	l.extend()
	return c.putLease(l)
}

// beginClose records the attempt to close. Resources that were opened with this one's secret must have been
// closed before.
func (c *cloud) beginClose(p *ephemeralPrivate) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.known(p)
	if err != nil {
		return err
	}
	if err := os.Rename(c.leasePath(l.ID), c.leasePath(l.ID)+closing); err != nil {
		return err
	}
	if pid := c.liveUser(l.ID); pid != 0 && !c.lenient {
		return faultf("%s.%s is closed before the process %d has ended, which was configured with its value", l.Type, l.Name, pid)
	}
	open, err := leases(c.dir)
	if err != nil {
		return err
	}
	for _, child := range open {
		if child.Parent == l.ID && !child.Closing && !c.lenient {
			return faultf("%s.%s is closed before %s.%s, which was opened with its value", l.Type, l.Name, child.Type, child.Name)
		}
	}
	return nil
}

func (c *cloud) dropLease(id string) error { return os.Remove(c.leasePath(id) + closing) }

// checkLive refuses a secret that is a closed or expired lease, and accepts any other text. The error does
// not show the secret.
func (c *cloud) checkLive(secret string) error {
	if c.lenient || !strings.HasPrefix(secret, leasePrefix) {
		return nil
	}
	l, err := c.getLease(simlog.Hash(secret))
	switch {
	case errors.Is(err, errGone):
		return errors.New("the secret belongs to an ephemeral resource that is not open: it was closed before its value was used")
	case err != nil:
		return err
	case l.Closing:
		return fmt.Errorf("the secret of %s.%s is used while or after it is closed", l.Type, l.Name)
	case !l.Expires.IsZero() && time.Now().After(l.Expires):
		return fmt.Errorf("the secret of %s.%s has expired: it was used after its time without a renewal", l.Type, l.Name)
	}
	return nil
}

func leases(dir string) ([]*lease, error) {
	paths, err := filepath.Glob(filepath.Join(dir, ".sim", "lease-*"))
	if err != nil {
		return nil, err
	}
	var out []*lease
	for _, p := range paths {
		l, err := readLease(strings.TrimSuffix(p, closing))
		if errors.Is(err, errGone) {
			continue // closed between the listing and the reading
		}
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// OpenLeases names the open ephemeral resources in the cloud in the directory, as "type.name", once per
// opening.
func OpenLeases(dir string) ([]string, error) {
	open, err := leases(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, l := range open {
		out = append(out, l.Type+"."+l.Name)
	}
	return out, nil
}
