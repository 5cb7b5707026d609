package objects

import (
	"context"
	"crypto/md5" //nolint:gosec // the checksum that other engines keep
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Table keeps rows of text by an ID, beside a bucket that may return an older content than was written last.
// It is safe for concurrent use, and does not retry.
type Table interface {
	// Get returns the columns of a row; nil if there is none.
	Get(ctx context.Context, id string) (map[string]string, error)
	// Put writes a row. If fresh is set and there is one already, it fails with cloud.ErrExists.
	Put(ctx context.Context, id string, columns map[string]string, fresh bool) error
	// Delete removes a row. One that does not exist is ignored.
	Delete(ctx context.Context, id string) error
}

// WithTable returns a place whose lock is the row of a table with that ID. Another row has the checksum of
// the state, as other engines keep it.
func WithTable(p remote.Place, t Table, a *Answers, id string) remote.Place {
	p.State = &digested{p.State, row{t, a, id + "-md5"}}
	p.Lock = NewLock(&row{t, a, id})
	return p
}

// row is a Record in a table.
type row struct {
	table   Table
	answers *Answers
	id      string
}

func (r *row) get(ctx context.Context, column string) (string, error) {
	got, err := r.table.Get(ctx, r.id)
	return got[column], r.answers.Classify(err)
}

// Create implements Record.
func (r *row) Create(ctx context.Context, text []byte) (bool, error) {
	err := r.table.Put(ctx, r.id, map[string]string{"Info": string(text)}, true)
	if errors.Is(err, cloud.ErrExists) {
		return false, nil
	}
	return err == nil, r.answers.Classify(err)
}

// Read implements Record.
func (r *row) Read(ctx context.Context) ([]byte, error) {
	text, err := r.get(ctx, "Info")
	if err != nil || text == "" {
		return nil, err
	}
	return []byte(text), nil
}

// Remove implements Record.
func (r *row) Remove(ctx context.Context) error {
	return r.answers.Classify(r.table.Delete(ctx, r.id))
}

// digested is a state whose checksum is a row in a table.
type digested struct {
	remote.Blob
	row row
}

// Get implements remote.Blob. A checksum that does not match may belong to a write that the bucket does not
// show yet.
func (d *digested) Get(ctx context.Context) (data []byte, v remote.Version, err error) {
	data, v, err = d.Blob.Get(ctx)
	if err != nil || v == "" {
		return data, v, err
	}
	want, err := d.row.get(ctx, "Digest")
	if err != nil {
		return nil, "", err
	}
	if want != "" && want != digest(data) {
		return nil, "", &remote.Passing{Err: fmt.Errorf("the state does not match the checksum that the item %q of the table has: it was changed by something that does not know the table, or the last write is not visible yet", d.row.id)}
	}
	return data, v, nil
}

func digest(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// Put implements remote.Blob.
func (d *digested) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	v, err := d.Blob.Put(ctx, data, was)
	if err != nil {
		return "", err
	}
	return v, d.recordDigest(ctx, data)
}

// Delete implements remote.Blob.
func (d *digested) Delete(ctx context.Context) error {
	if err := d.Blob.Delete(ctx); err != nil {
		return err
	}
	return d.row.Remove(ctx)
}

// digestAttempts is how often storing a checksum is tried: the state beside it is stored already, and
// cannot be read without it.
const digestAttempts = 5

// recordDigest stores the checksum of the state.
func (d *digested) recordDigest(ctx context.Context, data []byte) (err error) {
	for n := range digestAttempts {
		if err = d.row.table.Put(ctx, d.row.id, map[string]string{"Digest": digest(data)}, false); err == nil {
			return nil
		}
		time.Sleep(time.Second << n)
	}
	err = d.row.answers.Classify(err)
	return fmt.Errorf("the state is stored, but its checksum could not be. Set the attribute \"Digest\" of the item %q to %q: %w", d.row.id, digest(data), err)
}
