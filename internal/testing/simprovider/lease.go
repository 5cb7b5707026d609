package simprovider

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// leasePrefix begins every lease secret, to recognize texts that must be live leases when they are used.
const leasePrefix = "CANARY-lease-"

func (c *cloud) getLease(id string) (*simcloud.Lease, error) {
	return simcloud.ReadLease(simcloud.LeasePath(c.dir, id))
}

// known returns the open lease that the private data of a renewal or close refers to, or the engine's
// fault.
func (c *cloud) known(p *ephemeralPrivate) (*simcloud.Lease, error) {
	l, err := c.getLease(p.Lease)
	switch {
	case errors.Is(err, simcloud.ErrGone):
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
	l.Extend()
	return simcloud.WriteLease(c.dir, l)
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
	if err := os.Rename(simcloud.LeasePath(c.dir, l.ID), simcloud.LeasePath(c.dir, l.ID)+simcloud.Closing); err != nil {
		return err
	}
	if pid := c.liveUser(l.ID); pid != 0 && !c.lenient {
		return faultf("%s.%s is closed before the process %d has ended, which was configured with its value", l.Type, l.Name, pid)
	}
	open, err := simcloud.Leases(c.dir)
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

func (c *cloud) dropLease(id string) error {
	return os.Remove(simcloud.LeasePath(c.dir, id) + simcloud.Closing)
}

// checkLive refuses a secret that is a closed or expired lease, and accepts any other text. The error does
// not show the secret.
func (c *cloud) checkLive(secret string) error {
	if c.lenient || !strings.HasPrefix(secret, leasePrefix) {
		return nil
	}
	l, err := c.getLease(simlog.Hash(secret))
	switch {
	case errors.Is(err, simcloud.ErrGone):
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
