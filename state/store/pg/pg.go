// Package pg keeps states in PostgreSQL, in the tables and under the locks of the backend "pg" of other
// engines: a row for each workspace, and an advisory lock with the number of the row. Two more tables hold
// who has a lock, and the journals of runs.
//
// It may import state/store, state/store/remote and the client of PostgreSQL. It must not know configuration,
// plans, providers, or what a state contains.
package pg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mayfly-iac/mayfly/state/store/remote"
)

// Defaults of Options.
const (
	DefaultSchema = "terraform_remote_state"
	DefaultTable  = "states"
	DefaultIndex  = "states_by_name"
)

// Options configure a Service.
type Options struct {
	// ConnString is a URL or a list of settings, as libpq reads them. What it does not say is taken from the
	// variables PGHOST, PGUSER and so on, and from the user's password file.
	ConnString string
	Schema     string // DefaultSchema if ""
	Table      string // DefaultTable if ""
	Index      string // DefaultIndex if ""

	// What is not to be created if it does not exist. Without tables of its own, the journal is kept on this
	// machine, and a lock does not say what its holder does.
	SkipSchema, SkipTable, SkipIndex bool
}

// Service is a remote.Service in one schema of a database.
type Service struct {
	opt    Options
	config *pgxpool.Config

	mu   sync.Mutex
	pool *pgxpool.Pool // nil before the first request
}

var _ remote.Service = (*Service)(nil)

// New returns a service. It contacts nothing. An error is about ConnString, and shows no password.
func New(opt Options) (*Service, error) {
	setDefault(&opt.Schema, DefaultSchema)
	setDefault(&opt.Table, DefaultTable)
	setDefault(&opt.Index, DefaultIndex)
	config, err := pgxpool.ParseConfig(opt.ConnString)
	if err != nil {
		return nil, fmt.Errorf("the connection string is not valid: %w", err)
	}
	config.ConnConfig.ConnectTimeout = min(max(config.ConnConfig.ConnectTimeout, time.Second), connectTimeout)
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "mayfly"
	}
	return &Service{opt: opt, config: config}, nil
}

const connectTimeout = 10 * time.Second

func setDefault(s *string, value string) {
	if *s == "" {
		*s = value
	}
}

// Close ends the connections, except those of locks that are still held.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		s.pool.Close()
	}
}

// Path names the table in messages: the server, the database, the schema and the table.
func (s *Service) Path() string {
	c := s.config.ConnConfig
	return fmt.Sprintf("pg://%s/%s/%s.%s", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database, s.opt.Schema, s.opt.Table)
}

// table returns the quoted name of the table whose name has a suffix; "" for that of the states.
func (s *Service) table(suffix string) string {
	return pgx.Identifier{s.opt.Schema, s.opt.Table + suffix}.Sanitize()
}

// The suffixes of the names of the other tables.
const (
	locksTable    = "_mayfly_locks"
	journalsTable = "_mayfly_journals"
)

// db returns the connections, after creating what does not exist in the database.
func (s *Service) db(ctx context.Context) (*pgxpool.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		return s.pool, nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, s.config)
	if err != nil {
		return nil, classify(err)
	}
	if err := s.create(ctx, pool); err != nil {
		pool.Close()
		return nil, classify(err)
	}
	s.pool = pool
	return pool, nil
}

// create creates what other engines create, and the tables of our own.
func (s *Service) create(ctx context.Context, pool *pgxpool.Pool) error {
	schema := pgx.Identifier{s.opt.Schema}.Sanitize()
	var there bool
	if err := pool.QueryRow(ctx, `SELECT to_regnamespace($1) IS NOT NULL`, schema).Scan(&there); err != nil {
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
		statements = append(statements, `CREATE UNIQUE INDEX IF NOT EXISTS `+pgx.Identifier{s.opt.Index}.Sanitize()+` ON `+s.table("")+` (name)`)
	}
	for _, sql := range statements {
		if _, err := pool.Exec(ctx, sql); err != nil && !createdMeanwhile(err) {
			return err
		}
	}
	return nil
}

// createdMeanwhile reports whether err is about something that another session has created at the same time,
// which IF NOT EXISTS does not cover.
func createdMeanwhile(err error) bool {
	var pe *pgconn.PgError
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
	db, err := s.db(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := db.Query(ctx, `SELECT name FROM `+s.table("")+` WHERE name IS NOT NULL`)
	if err != nil {
		return nil, classify(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, classify(err)
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
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		if passes(pe.Code) {
			return &remote.Passing{Err: err}
		}
		return explain(pe, err)
	}
	var parse *pgconn.ParseConfigError
	if errors.Is(err, context.Canceled) || errors.As(err, &parse) || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return &remote.Passing{Err: err} // whatever the server did not say is about the connection
}

// passes reports whether the error with that code may pass: lost connections, exhausted resources, a server
// that starts or ends, and transactions to be repeated.
func passes(code string) bool {
	switch code[:2] {
	case "08", "53", "57":
		return code != "57014" // a cancelled statement
	}
	return code == "40001" || code == "40P01" || code == "55P03"
}

// explain adds what to do about an error of the server.
func explain(pe *pgconn.PgError, err error) error {
	switch pe.Code {
	case "28P01", "28000":
		return fmt.Errorf("%w. Check the user and the password in the argument \"conn_str\", or the variables PGUSER and PGPASSWORD", err)
	case "3D000":
		return fmt.Errorf("%w. Create the database, or name another one in the argument \"conn_str\"", err)
	case "42501":
		return fmt.Errorf("%w. Grant the right to the user, or, if everything exists already, set skip_schema_creation, skip_table_creation and skip_index_creation", err)
	case "3F000", "42P01":
		return fmt.Errorf("%w. Create it, or let Mayfly do so by removing skip_schema_creation and skip_table_creation", err)
	}
	return err
}
