//go:build !mayfly_no_kubernetes

package kubernetes

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

const (
	dataKey = "tfstate" // of the state in its Secret
	// maxSecret is the most that a Secret has room for, in bytes.
	maxSecret = 1 << 20
)

// secret is the state of one workspace, compressed. Its version is its checksum, and not the Secret's
// version, which also changes with labels that are none of our business.
type secret struct {
	client *client
	name   string
	labels map[string]string
	lease  *lease
}

// Get implements remote.Blob.
func (s *secret) Get(ctx context.Context) ([]byte, remote.Version, error) {
	_, data, v, err := s.read(ctx)
	return data, v, err
}

// read returns the Secret, nil if there is none, with the state and its version. Another engine has begun to
// create a Secret without a state.
func (s *secret) read(ctx context.Context) (*object, []byte, remote.Version, error) {
	o, err := s.client.get(ctx, secrets, s.name)
	if o == nil || err != nil || len(o.Data[dataKey]) == 0 {
		return o, nil, "", err
	}
	data, err := remote.Unpack(o.Data[dataKey])
	if err != nil {
		return o, nil, "", fmt.Errorf("the value %q of the Secret is not valid: %w%s", dataKey, err, inParts(o))
	}
	return o, data, remote.Version(fmt.Sprintf("%x", sha256.Sum256(data))), nil
}

// inParts explains a Secret that has only the beginning of a state.
func inParts(o *object) string {
	if len(o.Data[dataKey]) < maxSecret {
		return ""
	}
	return fmt.Sprintf(". Terraform may have split the state over the Secrets %s, %s-part-1 and so on, which other programs do not read", o.Name, o.Name)
}

// Put implements remote.Blob. The Secret is replaced on the condition that it is the one that has the version
// was.
func (s *secret) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	packed := remote.Pack(data)
	if len(packed) > maxSecret {
		return "", fmt.Errorf("the state has %d bytes after compression, and a Secret has room for %d. Split the configuration, or move the state to another backend", len(packed), maxSecret)
	}
	for {
		o, _, v, err := s.read(ctx)
		switch {
		case err != nil:
			return "", err
		case v != was:
			return "", remote.ErrChanged
		case o == nil:
			err = s.client.create(ctx, secrets, s.fill(&object{metadata: metadata{Name: s.name}}, packed))
		default:
			err = s.client.update(ctx, secrets, s.fill(o, packed))
		}
		if err == nil {
			return remote.Version(fmt.Sprintf("%x", sha256.Sum256(data))), nil
		}
		if !errors.Is(err, remote.ErrChanged) {
			return "", err
		} // it may be that only labels have changed
	}
}

func (s *secret) fill(o *object, packed []byte) *object {
	set(&o.Labels, s.labels)
	set(&o.Annotations, map[string]string{"encoding": "gzip"})
	if o.Data == nil {
		o.Data = map[string][]byte{}
	}
	o.Data[dataKey] = packed
	return o
}

// set sets elements of a map, which may be nil.
func set(m *map[string]string, elements map[string]string) {
	if *m == nil {
		*m = map[string]string{}
	}
	maps.Copy(*m, elements)
}

// Delete implements remote.Blob. It removes the Lease too if no run holds it.
func (s *secret) Delete(ctx context.Context) error {
	if err := s.client.remove(ctx, secrets, s.name, ""); err != nil {
		return err
	}
	l, err := s.client.get(ctx, leases, s.lease.name)
	if l == nil || err != nil || holder(l) != "" {
		return err
	}
	if err := s.client.remove(ctx, leases, l.Name, l.ResourceVersion); !errors.Is(err, remote.ErrChanged) {
		return err
	}
	return nil // another run has just taken it
}

// parts is the journal of a state: Secrets whose names begin with prefix.
type parts struct {
	client *client
	prefix string
	labels map[string]string
}

const partKey = "journal" // of a part in its Secret

// List implements remote.Parts.
func (p *parts) List(ctx context.Context) (names []string, err error) {
	all, err := p.client.list(ctx, map[string]string{labelJournal: isTrue, labelSuffix: p.labels[labelSuffix], labelWorkspace: p.labels[labelWorkspace]})
	for _, o := range all {
		if name, ok := strings.CutPrefix(o.Name, p.prefix); ok {
			names = append(names, name)
		}
	}
	return names, err
}

// Get implements remote.Parts.
func (p *parts) Get(ctx context.Context, name string) ([]byte, error) {
	o, err := p.client.get(ctx, secrets, p.prefix+name)
	if o == nil || err != nil {
		return nil, err
	}
	return o.Data[partKey], nil
}

// Put implements remote.Parts. Most calls extend a part that exists.
func (p *parts) Put(ctx context.Context, name string, data []byte) error {
	o := &object{metadata: metadata{Name: p.prefix + name, Labels: p.labels}, Data: map[string][]byte{partKey: data}}
	err := p.client.update(ctx, secrets, o)
	if errors.Is(err, remote.ErrChanged) {
		err = p.client.create(ctx, secrets, o)
	}
	if errors.Is(err, remote.ErrChanged) { // an earlier attempt, whose answer was lost, has arrived meanwhile
		err = p.client.update(ctx, secrets, o)
	}
	return err
}

// removals is how many parts are removed at once.
const removals = 8

// Remove implements remote.Parts.
func (p *parts) Remove(ctx context.Context, names []string) error {
	var all errgroup.Group
	all.SetLimit(removals)
	for _, name := range names {
		all.Go(func() error {
			return bug.Catch(func() error { return p.client.remove(ctx, secrets, p.prefix+name, "") })
		})
	}
	return all.Wait()
}
