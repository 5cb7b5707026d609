//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state/store"
)

// migrations make the tables: each makes its version of the one before. A version that was released is not
// changed any more.
var migrations = []string{`
CREATE TABLE mayfly.workspaces (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text NOT NULL UNIQUE,
	serial bigint NOT NULL DEFAULT 0,
	document bytea NOT NULL DEFAULT ''
);
CREATE TABLE mayfly.runs (
	id uuid PRIMARY KEY,
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	ticket bigint GENERATED ALWAYS AS IDENTITY,
	state text NOT NULL CHECK (state IN ('waiting', 'claimed', 'ended', 'left', 'lapsed', 'forced')),
	info text NOT NULL,
	batch bigint NOT NULL DEFAULT 0,
	commits bigint NOT NULL DEFAULT 0,
	folded_by uuid,
	lease_until timestamptz NOT NULL,
	began timestamptz NOT NULL DEFAULT clock_timestamp(),
	ended timestamptz
);
CREATE INDEX runs_unfolded ON mayfly.runs (workspace) WHERE folded_by IS NULL;
CREATE TABLE mayfly.claims (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	key text NOT NULL,
	run uuid NOT NULL REFERENCES mayfly.runs ON DELETE CASCADE,
	mode "char" NOT NULL,
	PRIMARY KEY (workspace, key, run)
);
CREATE INDEX claims_of_run ON mayfly.claims (run);
CREATE TABLE mayfly.operations (
	run uuid NOT NULL REFERENCES mayfly.runs ON DELETE CASCADE,
	id bigint NOT NULL,
	workspace bigint NOT NULL,
	key text NOT NULL,
	object bytea NOT NULL,
	action text NOT NULL,
	began timestamptz NOT NULL DEFAULT clock_timestamp(),
	ended timestamptz,
	PRIMARY KEY (run, id)
);
CREATE INDEX operations_open ON mayfly.operations (workspace, key) WHERE ended IS NULL;
CREATE TABLE mayfly.openings (
	run uuid NOT NULL REFERENCES mayfly.runs ON DELETE CASCADE,
	id bigint NOT NULL,
	instance text NOT NULL,
	provider text NOT NULL,
	since timestamptz NOT NULL,
	PRIMARY KEY (run, id)
);
CREATE TABLE mayfly.objects (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	address text NOT NULL,
	deposed text NOT NULL,
	version uuid NOT NULL DEFAULT gen_random_uuid(),
	run uuid,
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	resource text NOT NULL,
	block text NOT NULL,
	dependencies text[] NOT NULL,
	sealed boolean NOT NULL,
	body bytea NOT NULL,
	PRIMARY KEY (workspace, address, deposed)
);
CREATE INDEX objects_of_resource ON mayfly.objects (workspace, resource);
CREATE INDEX objects_of_block ON mayfly.objects (workspace, block);
CREATE INDEX objects_depend ON mayfly.objects USING gin (dependencies);
CREATE TABLE mayfly.salts (
	run uuid PRIMARY KEY REFERENCES mayfly.runs ON DELETE CASCADE,
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	body bytea NOT NULL
);
CREATE INDEX salts_of_workspace ON mayfly.salts (workspace);
CREATE TABLE mayfly.results (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	key text NOT NULL,
	run uuid,
	sealed boolean NOT NULL,
	body bytea NOT NULL,
	PRIMARY KEY (workspace, key)
);
CREATE TABLE mayfly.evaluations (
	workspace bigint PRIMARY KEY REFERENCES mayfly.workspaces ON DELETE CASCADE,
	turn bigint NOT NULL
);
CREATE TABLE mayfly.members (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	resource text NOT NULL,
	sealed boolean NOT NULL,
	body bytea NOT NULL,
	PRIMARY KEY (workspace, resource)
);
CREATE TABLE mayfly.late (
	run uuid NOT NULL REFERENCES mayfly.runs ON DELETE CASCADE,
	batch bigint NOT NULL,
	workspace bigint NOT NULL,
	address text NOT NULL,
	deposed text NOT NULL,
	sealed boolean NOT NULL,
	body bytea,
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY (run, batch, address, deposed)
);
CREATE INDEX late_of_workspace ON mayfly.late (workspace, address);`, `
ALTER TABLE mayfly.workspaces ADD COLUMN forgotten timestamptz;
UPDATE mayfly.workspaces SET forgotten = clock_timestamp();
ALTER TABLE mayfly.runs ADD COLUMN changes bigint NOT NULL DEFAULT 0, ALTER COLUMN info TYPE jsonb USING info::jsonb;
CREATE INDEX runs_in_order ON mayfly.runs (workspace, ticket);
CREATE INDEX operations_ended ON mayfly.operations (workspace, ended);
CREATE TABLE mayfly.past (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	address text NOT NULL,
	deposed text NOT NULL,
	version uuid NOT NULL,
	run uuid,
	at timestamptz NOT NULL,
	sealed boolean NOT NULL,
	body bytea NOT NULL,
	next_run uuid NOT NULL,
	until timestamptz NOT NULL,
	PRIMARY KEY (workspace, address, deposed, version)
);
CREATE INDEX past_until ON mayfly.past (workspace, until);`, views, activeViews, marks, spans, records, providers, refreshed, pastResultsTable, databaseUsers}

// migrate creates the tables, or brings older ones up to date. Users without the right to do so can work with
// tables that are up to date.
func (s *Store) migrate(ctx context.Context, pool *sql.DB) error {
	version, err := s.version(ctx, pool)
	if err != nil || version == len(s.migrations) {
		return err
	}
	if version > len(s.migrations) {
		return s.newer(version)
	}
	var server int
	if err := pool.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&server); err != nil {
		return err
	}
	if err := checkServer(server); err != nil {
		return err
	}
	err = s.upgrade(ctx, pool)
	pe, is := errors.AsType[*pq.Error](err)
	switch {
	case is && pe.Code == "42501" && version == 0:
		return fmt.Errorf("the schema %q has no tables yet, and this user may not create them. Let the owner of the schema run: mayfly workspace list", s.opt.Schema)
	case is && pe.Code == "42501":
		return fmt.Errorf("the tables in the schema %q have the version %d, this version of Mayfly needs %d, and this user may not change them. Let the owner of the schema run: mayfly workspace list", s.opt.Schema, version, len(s.migrations))
	}
	return err
}

// oldestServer is the oldest version of a server with all that the statements use, as servers give theirs.
const oldestServer = 130_000

// checkServer checks the version of a server: 130004 is 13.4.
func checkServer(version int) error {
	const major = 10_000
	if version < oldestServer {
		return fmt.Errorf("the server is PostgreSQL %d, and the backend \"postgres\" needs PostgreSQL %d or later", version/major, oldestServer/major)
	}
	return nil
}

// version returns the version of the tables; 0 for none.
func (s *Store) version(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (version int, err error) {
	var there bool
	if err := db.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, s.in("mayfly.meta")).Scan(&there); err != nil || !there {
		return 0, err
	}
	err = db.QueryRowContext(ctx, s.in(`SELECT version FROM mayfly.meta`)).Scan(&version)
	return version, err
}

// upgrade carries out the missing migrations, in one transaction.
func (s *Store) upgrade(ctx context.Context, pool *sql.DB) error {
	return within(ctx, pool, `BEGIN; SELECT set_config('lock_timeout', '10s', true)`, func(t *sql.Conn) (err error) {
		exec := func(statement string) {
			if err == nil {
				_, err = t.ExecContext(ctx, s.in(statement))
			}
		}
		exec(`SELECT pg_advisory_xact_lock(hashtext('mayfly tables'))`)
		for _, schema := range []string{s.opt.Schema, s.opt.Schema + viewsSuffix} {
			var there bool
			name := pq.QuoteIdentifier(schema)
			if err == nil {
				err = t.QueryRowContext(ctx, `SELECT to_regnamespace($1) IS NOT NULL`, name).Scan(&there)
			}
			if !there && err == nil {
				_, err = t.ExecContext(ctx, `CREATE SCHEMA `+name) // the name may have a part that exec replaces
			}
		}
		version := 0
		if err == nil {
			version, err = s.version(ctx, t)
		}
		if version == 0 {
			exec(`CREATE TABLE mayfly.meta (version integer NOT NULL)`)
			exec(`INSERT INTO mayfly.meta VALUES (0)`)
		}
		missing := s.migrations[min(version, len(s.migrations)):]
		if version > 0 && len(missing) > 0 && err == nil {
			err = s.undisturbed(ctx, t)
		}
		for _, m := range missing {
			exec(m)
		}
		exec(fmt.Sprintf(`UPDATE mayfly.meta SET version = %d`, max(version, len(s.migrations))))
		return err
	})
}

// undisturbed keeps runs from claiming until the transaction ends, and fails if one has claims: older
// programs would go on with tables that they do not know.
func (s *Store) undisturbed(ctx context.Context, t session) error {
	var held bool
	if _, err := t.ExecContext(ctx, s.in(`LOCK TABLE mayfly.meta IN ACCESS EXCLUSIVE MODE`)); err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, s.in(`SELECT id FROM mayfly.workspaces ORDER BY id FOR UPDATE`)); err != nil {
		return err
	}
	if err := t.QueryRowContext(ctx, s.in(`SELECT EXISTS (SELECT 1 FROM mayfly.runs WHERE state = 'claimed' AND lease_until > clock_timestamp())`)).Scan(&held); err != nil {
		return err
	}
	if held {
		return fmt.Errorf("the tables in the schema %q are of an older version of Mayfly, and cannot be brought up to date while runs use them. Wait until they have ended", s.opt.Schema)
	}
	return nil
}

// newer returns the error for tables of a version that this program does not know.
func (s *Store) newer(version int) error {
	return fmt.Errorf("the tables in the schema %q have the version %d, and this version of Mayfly knows only %d. Use a newer one", s.opt.Schema, version, len(s.migrations))
}

// reading are the options of a transaction that sees all rows as they are at one moment.
var reading = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}

// session carries out statements, all of them in one session of the server.
type session interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// tx is a transaction with its store and context.
type tx struct {
	*Store
	ctx     context.Context
	session session
}

// exec executes a statement, and returns how many rows it has changed.
func (t *tx) exec(statement string, args ...any) (int64, error) {
	r, err := t.session.ExecContext(t.ctx, t.in(statement), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one reads the row that a statement finds into to, and reports whether there is one.
func (t *tx) one(statement string, args []any, to ...any) (bool, error) {
	err := t.session.QueryRowContext(t.ctx, t.in(statement), args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// rows calls f for each row that a statement finds.
func (t *tx) rows(f func(scan func(...any) error) error, statement string, args ...any) error {
	rows, err := t.session.QueryContext(t.ctx, t.in(statement), args...)
	if err != nil {
		return err
	}
	return scanned(t.ctx, rows, f)
}

// stream is rows for many rows. The statement is prepared, so that they come in binary form, in half of the
// bytes.
func (t *tx) stream(f func(scan func(...any) error) error, statement string, args ...any) error {
	prepared, err := t.session.PrepareContext(t.ctx, t.in(statement))
	if err != nil {
		return err
	}
	defer func() { _ = prepared.Close() }() // if that fails, the connection is lost, which the commit reports
	rows, err := prepared.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	return scanned(t.ctx, rows, f)
}

// scanned calls f for each row, and closes rows.
func scanned(ctx context.Context, rows *sql.Rows, f func(scan func(...any) error) error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		store.CountRow(ctx)
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// gate locks the row of a workspace until the transaction ends, so that claims are taken one after the other.
// It returns its number; 0 if there is none. It fails if the tables were migrated since the connections were
// made, and if the server would refuse the batches, which begin no transaction that asks for writing.
func (t *tx) gate(name string) (workspace int64, err error) {
	var version int
	var only bool
	there, err := t.one(`SELECT w.id, (SELECT version FROM mayfly.meta), current_setting('default_transaction_read_only')::boolean FROM mayfly.workspaces w WHERE w.name = $1 FOR NO KEY UPDATE OF w`, []any{name}, &workspace, &version, &only)
	switch {
	case err == nil && there && version > len(t.migrations):
		err = t.newer(version)
	case err == nil && only:
		err = errReadOnly
	}
	return workspace, err
}

// errReadOnly says that the server refuses to write outside of transactions that ask for it.
var errReadOnly = errors.New("the setting default_transaction_read_only of the database or of this user is on, so nothing is changed. To change the state, let an administrator set it to off")

// lost reports whether the connection was lost.
func lost(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
