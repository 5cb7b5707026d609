//go:build !mayfly_no_pg

package pg

import (
	"context"
	"database/sql"
	"errors"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// row is the state of one workspace. Its version is the transaction that wrote the row last, which the server
// keeps for every row.
type row struct {
	*Service
	name string
}

// Get implements remote.Blob.
func (r *row) Get(ctx context.Context) (data []byte, v remote.Version, err error) {
	db, err := r.db(ctx)
	if err != nil {
		return nil, "", err
	}
	err = db.QueryRowContext(ctx, `SELECT convert_to(coalesce(data, ''), 'UTF8'), xmin::text FROM `+r.table("")+` WHERE name = $1`, r.name).Scan(&data, &v)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "", nil
	}
	return data, v, classify(err)
}

// Put implements remote.Blob.
func (r *row) Put(ctx context.Context, data []byte, was remote.Version) (v remote.Version, err error) {
	db, err := r.db(ctx)
	if err != nil {
		return "", err
	}
	if was == "" {
		err = db.QueryRowContext(ctx, `INSERT INTO `+r.table("")+` (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING xmin::text`, r.name, string(data)).Scan(&v)
	} else {
		err = db.QueryRowContext(ctx, `UPDATE `+r.table("")+` SET data = $2 WHERE name = $1 AND xmin::text = $3 RETURNING xmin::text`, r.name, string(data), was).Scan(&v)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", remote.ErrChanged
	}
	return v, classify(err)
}

// Delete implements remote.Blob.
func (r *row) Delete(ctx context.Context) error {
	db, err := r.db(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `DELETE FROM `+r.table("")+` WHERE name = $1`, r.name)
	return classify(err)
}

// parts is the journal of one workspace: a row for each part.
type parts struct {
	*Service
	name string
}

// List implements remote.Parts.
func (p *parts) List(ctx context.Context) ([]string, error) {
	db, err := p.db(ctx)
	if err != nil {
		return nil, err
	}
	names, err := texts(ctx, db, `SELECT part FROM `+p.table(journalsTable)+` WHERE name = $1`, p.name)
	return names, classify(err)
}

// Get implements remote.Parts.
func (p *parts) Get(ctx context.Context, part string) (data []byte, err error) {
	db, err := p.db(ctx)
	if err != nil {
		return nil, err
	}
	err = db.QueryRowContext(ctx, `SELECT data FROM `+p.table(journalsTable)+` WHERE name = $1 AND part = $2`, p.name, part).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return data, classify(err)
}

// Put implements remote.Parts.
func (p *parts) Put(ctx context.Context, part string, data []byte) error {
	db, err := p.db(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `INSERT INTO `+p.table(journalsTable)+` (name, part, data) VALUES ($1, $2, $3) ON CONFLICT (name, part) DO UPDATE SET data = $3`, p.name, part, data)
	return classify(err)
}

// Remove implements remote.Parts.
func (p *parts) Remove(ctx context.Context, names []string) error {
	db, err := p.db(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `DELETE FROM `+p.table(journalsTable)+` WHERE name = $1 AND part = ANY($2)`, p.name, pq.Array(names))
	return classify(err)
}
