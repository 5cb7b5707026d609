//go:build !mayfly_no_pg

// Package pg keeps states in PostgreSQL, in the tables and under the locks of the backend "pg" of other
// engines: a row for each workspace, and an advisory lock with the number of the row. Two more tables record
// who has a lock, and the journals of runs.
//
// It may import backend, state/store, remote and the client of PostgreSQL. It must not know other
// configuration, plans, providers, or the content of states.
package pg

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/internal/stores/pg/connect"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// Defaults of Options.
const (
	defaultSchema = "terraform_remote_state"
	defaultTable  = "states"
	defaultIndex  = "states_by_name"
)

// Options configure a Service.
type Options struct {
	// ConnString is a URL or a list of settings, as libpq reads them. Settings that it lacks are taken from
	// the variables PGHOST, PGUSER and so on, and from the user's password file. As in other engines, the
	// connection is encrypted unless sslmode says otherwise.
	ConnString string
	Schema     string // defaultSchema if ""
	Table      string // defaultTable if ""
	Index      string // defaultIndex if ""

	// Objects that are not created if they do not exist. Without tables of its own, the journal is kept on
	// this machine, and a lock does not describe its holder's work.
	SkipSchema, SkipTable, SkipIndex bool
}

// Service is a remote.Service in one schema of a database.
type Service struct {
	opt       Options
	config    pq.Config
	connector *pq.Connector

	mu   sync.Mutex
	pool *sql.DB // nil before the first request
}

var _ remote.Service = (*Service)(nil)

// New returns a service. It contacts nothing. An error is about ConnString, and shows no password.
func New(opt Options) (*Service, error) {
	opt.Schema, opt.Table, opt.Index = cmp.Or(opt.Schema, defaultSchema), cmp.Or(opt.Table, defaultTable), cmp.Or(opt.Index, defaultIndex)
	config, connector, err := connect.Parse(opt.ConnString)
	if err != nil {
		return nil, err
	}
	return &Service{opt: opt, config: config, connector: connector}, nil
}

// Close ends the connections, except for locks that are still held.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		_ = s.pool.Close() // the server ends the sessions too when the connections are gone
	}
}

// Path names the table in messages: the server, the database, the schema and the table.
func (s *Service) Path() string {
	c := s.config
	return fmt.Sprintf("pg://%s/%s/%s.%s", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database, s.opt.Schema, s.opt.Table)
}

// table returns the quoted name of the table whose name has a suffix; "" for the table of states.
func (s *Service) table(suffix string) string {
	return pq.QuoteIdentifier(s.opt.Schema) + "." + pq.QuoteIdentifier(s.opt.Table+suffix)
}

// The suffixes of the names of the other tables.
const (
	locksTable    = "_mayfly_locks"
	journalsTable = "_mayfly_journals"
)

// db returns the connections, after creating the missing schema and tables.
func (s *Service) db(ctx context.Context) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		return s.pool, nil
	}
	pool := sql.OpenDB(s.connector)
	if err := s.create(ctx, pool); err != nil {
		_ = pool.Close() // the error is the one to report
		return nil, classify(err)
	}
	s.pool = pool
	return pool, nil
}

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

// texts returns the only column of the rows that a statement finds.
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

// create creates the schema and tables of other engines, and our own tables.
func (s *Service) create(ctx context.Context, pool *sql.DB) error {
	schema := pq.QuoteIdentifier(s.opt.Schema)
	var there bool
	if err := pool.QueryRowContext(ctx, `SELECT to_regnamespace($1) IS NOT NULL`, schema).Scan(&there); err != nil {
		return err
	}
	var statements []string
	if !there && !s.opt.SkipSchema {
		statements = append(statements, `CREATE SCHEMA IF NOT EXISTS `+schema)
	}
	if !s.opt.SkipTable {
		statements = append(statements,
			`CREATE SEQUENCE IF NOT EXISTS public.global_states_id_seq AS bigint`,
			`CREATE TABLE IF NOT EXISTS `+s.table("")+` (id bigint NOT NULL DEFAULT nextval('public.global_states_id_seq') PRIMARY KEY, name text UNIQUE, data text)`,
			`CREATE TABLE IF NOT EXISTS `+s.table(locksTable)+` (name text PRIMARY KEY, pid integer NOT NULL, info text NOT NULL)`,
			`CREATE TABLE IF NOT EXISTS `+s.table(journalsTable)+` (name text, part text, data bytea NOT NULL, PRIMARY KEY (name, part))`)
	}
	if !s.opt.SkipIndex {
		statements = append(statements, `CREATE UNIQUE INDEX IF NOT EXISTS `+pq.QuoteIdentifier(s.opt.Index)+` ON `+s.table("")+` (name)`)
	}
	for _, statement := range statements {
		if _, err := pool.ExecContext(ctx, statement); err != nil && !createdMeanwhile(err) {
			return err
		}
	}
	return nil
}

// createdMeanwhile reports whether err is about something that another session has created at the same time,
// which IF NOT EXISTS does not cover.
func createdMeanwhile(err error) bool {
	var pe *pq.Error
	if !errors.As(err, &pe) {
		return false
	}
	switch pe.Code {
	case "23505", "42P06", "42P07", "42710":
		return true
	}
	return false
}

// Workspaces implements remote.Service.
func (s *Service) Workspaces(ctx context.Context) ([]string, error) {
	return s.texts(ctx, `SELECT name FROM `+s.table("")+` WHERE name IS NOT NULL`)
}

// Place implements remote.Service.
func (s *Service) Place(workspace string) (remote.Place, error) {
	p := remote.Place{Path: s.Path() + "/" + workspace, State: &row{s, workspace}, Lock: &lock{Service: s, name: workspace}}
	if !s.opt.SkipTable {
		p.Parts = &parts{s, workspace}
	}
	return p, nil
}

// classify marks an error that may pass. It returns nil for nil.
func classify(err error) error {
	if err == nil {
		return nil
	}
	err = connect.Named(err)
	if pe, ok := errors.AsType[*pq.Error](err); ok {
		if connect.Passes(string(pe.Code)) {
			return &remote.Passing{Err: err}
		}
		return explain(pe, err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return connect.Explain(err)
	}
	// Whatever the server did not say is about the connection.
	return &remote.Passing{Err: err, Hint: connect.HintUnreached}
}

// explain adds advice to an error of the server.
func explain(pe *pq.Error, err error) error {
	switch pe.Code {
	case "42501":
		return fmt.Errorf("%w. Grant the right to the user, or, if everything exists already, set skip_schema_creation, skip_table_creation and skip_index_creation", err)
	case "3F000", "42P01":
		return fmt.Errorf("%w. Create it, or let Mayfly do so by removing skip_schema_creation and skip_table_creation", err)
	}
	return connect.Explain(err)
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
