//go:build !mayfly_no_pg

package pg

import (
	"context"
	"database/sql"
	"errors"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// exec executes a statement.
func (s *Service) exec(ctx context.Context, statement string, args ...any) error {
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement, args...)
	return classify(err)
}

// one reads the row that a statement finds into to. It fails with sql.ErrNoRows if there is none.
func (s *Service) one(ctx context.Context, statement string, args []any, to ...any) error {
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	return classify(db.QueryRowContext(ctx, statement, args...).Scan(to...))
}

// texts returns the only column of what a statement finds.
func (s *Service) texts(ctx context.Context, statement string, args ...any) (all []string, err error) {
	db, err := s.db(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, classify(err)
	}
	defer func() { err = errors.Join(err, classify(rows.Close())) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, classify(err)
		}
		all = append(all, text)
	}
	return all, classify(rows.Err())
}

// row is the state of one workspace. Its version is the transaction that wrote the row last, which the server
// keeps for every row.
type row struct {
	*Service
	name string
}

// Get implements remote.Blob.
func (r *row) Get(ctx context.Context) (data []byte, v remote.Version, err error) {
	err = r.one(ctx, `SELECT convert_to(coalesce(data, ''), 'UTF8'), xmin::text FROM `+r.table("")+` WHERE name = $1`, []any{r.name}, &data, &v)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "", nil
	}
	return data, v, err
}

// Put implements remote.Blob.
func (r *row) Put(ctx context.Context, data []byte, was remote.Version) (v remote.Version, err error) {
	if was == "" {
		err = r.one(ctx, `INSERT INTO `+r.table("")+` (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING xmin::text`, []any{r.name, string(data)}, &v)
	} else {
		err = r.one(ctx, `UPDATE `+r.table("")+` SET data = $2 WHERE name = $1 AND xmin::text = $3 RETURNING xmin::text`, []any{r.name, string(data), was}, &v)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", remote.ErrChanged
	}
	return v, err
}

// Delete implements remote.Blob.
func (r *row) Delete(ctx context.Context) error {
	return r.exec(ctx, `DELETE FROM `+r.table("")+` WHERE name = $1`, r.name)
}

// parts is the journal of one workspace: a row for each part.
type parts struct {
	*Service
	name string
}

// List implements remote.Parts.
func (p *parts) List(ctx context.Context) ([]string, error) {
	return p.texts(ctx, `SELECT part FROM `+p.table(journalsTable)+` WHERE name = $1`, p.name)
}

// Get implements remote.Parts.
func (p *parts) Get(ctx context.Context, part string) (data []byte, err error) {
	err = p.one(ctx, `SELECT data FROM `+p.table(journalsTable)+` WHERE name = $1 AND part = $2`, []any{p.name, part}, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return data, err
}

// Put implements remote.Parts.
func (p *parts) Put(ctx context.Context, part string, data []byte) error {
	return p.exec(ctx, `INSERT INTO `+p.table(journalsTable)+` (name, part, data) VALUES ($1, $2, $3) ON CONFLICT (name, part) DO UPDATE SET data = $3`, p.name, part, data)
}

// Remove implements remote.Parts.
func (p *parts) Remove(ctx context.Context, names []string) error {
	return p.exec(ctx, `DELETE FROM `+p.table(journalsTable)+` WHERE name = $1 AND part = ANY($2)`, p.name, pq.Array(names))
}
