//go:build !mayfly_no_postgres

// Package postgres keeps states in PostgreSQL as rows: one for each object, and one for the rest of a state.
// A run claims the parts of the state that it changes or relies on, by rows that a lease keeps
// (docs/adr/040-postgres.md).
//
// It may import addr, bug, diag, safefile, backend, pg/connect, state, state/store and the client of
// PostgreSQL. It must not know other configuration, plans or providers.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/internal/stores/pg/connect"
	"github.com/mayfly-iac/mayfly/state/store"
)

// defaultSchema is also the name that the statements in this package give to the schema.
const defaultSchema = "mayfly"

// defaultLease is how long a run that does not give a sign of life keeps its claims.
const defaultLease = 2 * time.Minute

// Options configure a Store.
type Options struct {
	ConnString string        // a URL or a list of settings, as libpq reads them
	Schema     string        // of the tables; defaultSchema if ""
	Cipher     store.Cipher  // nil for none
	Lease      time.Duration // defaultLease if 0
	Dir        string        // for files with results that the database could not take; "" for none
	History    time.Duration // how long replaced versions are kept; defaultHistory if 0, not at all if negative
}

// Store is a store.Store in one schema of a database.
type Store struct {
	opt Options
	// migrations make the tables; tests leave some out, as an older program does.
	migrations []string
	path       string
	connector  connector
	ends       *ends
	idle       time.Duration // how long a transaction waits for its client

	mu   sync.Mutex
	pool *sql.DB              // nil before the first request
	runs map[string]struct{}  // that have claims through this store
	sent map[string]*sql.Stmt // the statements for batches that were prepared

	sessions bool         // a pooler, if there is one, keeps them
	clear    atomic.Int64 // how many rows were read that are not encrypted, although there is a cipher
	down     time.Time    // since when requests have failed that may be repeated; zero if the last one has not
}

// note notes that a run has a claim through this store, or not any more.
func (s *Store) note(run string, claimed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if claimed {
		s.runs[run] = struct{}{}
	} else {
		delete(s.runs, run)
	}
}

// noted reports whether a run has a claim through this store.
func (s *Store) noted(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.runs[run]
	return is
}

var _ store.Store = (*Store)(nil)

// New returns a store. It contacts nothing. An error is about ConnString, and shows no password.
func New(opt Options) (*Store, error) {
	opt.Schema, opt.Lease, opt.History = cmp.Or(opt.Schema, defaultSchema), cmp.Or(opt.Lease, defaultLease), cmp.Or(opt.History, defaultHistory)
	c, _, err := connect.Parse(opt.ConnString)
	if err != nil {
		return nil, err
	}
	c.BinaryParameters = true // a statement is one round trip, where preparing it takes another
	pqConnector, err := pq.NewConnectorConfig(c)
	if err != nil {
		return nil, err
	}
	ends := &ends{Dialer: dialer(opt.Lease)}
	pqConnector.Dialer(ends)
	path := fmt.Sprintf("postgres://%s/%s/%s", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), cmp.Or(c.Database, c.User), opt.Schema)
	return &Store{opt: opt, migrations: migrations, path: path, connector: connector{pqConnector, len(c.Multi) > 0 || c.TargetSessionAttrs != ""}, ends: ends, idle: patience, runs: map[string]struct{}{}, sent: map[string]*sql.Stmt{}}, nil
}

// Close ends the connections. Claims that are held last until their leases lapse.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		_ = s.pool.Close() // the server ends the sessions too when the connections are gone
	}
}

// Path names the schema in messages: the server, the database and the schema.
func (s *Store) Path() string { return s.path }

// connections is how many connections a run has at most: for batches, for the lease, and for the rest.
const connections = 4

// db returns the connections, after creating or migrating the tables.
func (s *Store) db(ctx context.Context) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil {
		return s.pool, nil
	}
	pool := sql.OpenDB(s.connector)
	pool.SetMaxOpenConns(connections)
	if err := s.migrate(ctx, pool); err != nil {
		_ = pool.Close() // the error is the one to report
		return nil, err
	}
	s.pool = pool
	return pool, nil
}

// in returns a statement with the names of the schemas.
func (s *Store) in(statement string) string {
	return strings.NewReplacer(defaultSchema+".", pq.QuoteIdentifier(s.opt.Schema)+".", defaultSchema+viewsSuffix+".", pq.QuoteIdentifier(s.opt.Schema+viewsSuffix)+".").Replace(statement)
}

// once calls f in a transaction, in which no other session waits for a client that is gone. It is begun with
// its settings in one round trip.
func (s *Store) once(ctx context.Context, opt *sql.TxOptions, f func(*tx) error) error {
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	mode, idle := "READ WRITE", s.idle
	if opt == reading {
		mode, idle = "ISOLATION LEVEL REPEATABLE READ READ ONLY", idle*readersPatience
	}
	begin := "BEGIN " + mode + "; SELECT set_config('idle_in_transaction_session_timeout', '" + milliseconds(idle) +
		"', true), set_config('lock_timeout', '10s', true), set_config('plan_cache_mode', 'auto', true), " + durable
	return within(ctx, db, begin, func(conn *sql.Conn) error { return f(&tx{s, ctx, conn}) })
}

// within calls f in a transaction, which some statements begin in one round trip, and commits it. All
// transactions on connections of one pool are made here: the client does not forget those that it has begun
// by itself.
func within(ctx context.Context, pool *sql.DB, begin string, f func(*sql.Conn) error) error {
	conn, err := executed(ctx, pool, begin)
	if err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed { // if that fails, the connection is not used any more
			_ = conn.Raw(func(c any) error { return c.(driver.Tx).Rollback() })
		}
		_ = conn.Close() // which gives it back to the pool
	}()
	if err := f(conn); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	committed = true
	return conn.Raw(func(c any) error { return c.(driver.Tx).Commit() }) // which fails if a statement has failed
}

// executed executes a statement, which begins a transaction, on a connection of the pool, and returns that.
// One that was lost while it was not used is replaced.
func executed(ctx context.Context, db *sql.DB, statement string) (*sql.Conn, error) {
	for left := connections; ; left-- {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		if _, err = conn.ExecContext(ctx, statement); err == nil {
			return conn, nil
		}
		_ = conn.Close() // the error is the one to report
		if !passes(err) || left == 0 {
			return nil, err
		}
	}
}

// patience is how long the server waits for the next statement of a transaction before it ends the session:
// others may wait for the locks of a client that is gone.
const patience = 10 * time.Second

// readersPatience is how many times as long the server waits in a transaction that only reads: no other
// waits for its locks, and large objects take long to decode.
const readersPatience = 60

// milliseconds returns a time as the server's settings have it.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// durable makes the commit of a transaction wait for the disk, and for the replicas that the server waits
// for.
const durable = `CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN set_config('synchronous_commit', 'on', true) END`

// again is once, repeated for some time as long as the connection or the server fails. f may run again after
// a commit whose answer was lost.
func (s *Store) again(ctx context.Context, opt *sql.TxOptions, f func(*tx) error) error {
	return s.persist(ctx, func() error { return s.once(ctx, opt, f) })
}

// firstPatience is how long requests are repeated before the server was reached; later on, it is the lease.
// A request also has that time if the server has been away for the lease already: its first attempt may meet
// a connection that was lost.
const firstPatience = 3 * time.Second

// connected reports whether the server has been reached before.
func (s *Store) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pool != nil
}

// noteFailure notes whether a request that began at some time has failed in a way that may pass. It returns
// since when that has been so. Once the server was reached, that is not before the first failure: a request
// may have gone well for longer than the lease.
func (s *Store) noteFailure(began time.Time, failed bool) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !failed:
		s.down = time.Time{}
	case s.down.IsZero() && s.pool == nil:
		s.down = began
	case s.down.IsZero():
		s.down = time.Now()
	}
	return s.down
}

// persist calls f, and again for some time if its error may pass. Requests of one outage of the server share
// that time.
func (s *Store) persist(ctx context.Context, f func() error) error {
	began, tried := time.Now(), 0
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := f()
		tried++
		most := firstPatience
		if s.connected() {
			most = s.opt.Lease
		}
		if exhausted(err) {
			lessen(s)
		}
		failed := err != nil && (passes(err) || claiming(s) && (readOnly(err) || unconnected(err)))
		down := s.noteFailure(began, failed)
		switch {
		case !failed:
			return explain(s.opt.Schema, err)
		case time.Since(down) > most && time.Since(began) > min(most, firstPatience):
			return explain(s.opt.Schema, fmt.Errorf("%w (tried %d times)", err, tried))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), explain(s.opt.Schema, err))
		}
	}
}

// exhausted reports whether the server or a limit of the user allows no more connections.
func exhausted(err error) bool {
	pe, is := errors.AsType[*pq.Error](err)
	return is && pe.Code == "53300"
}

// lessen has requests take turns on the connections that there are, if there is one. Each ends with its
// transaction, and no transaction waits for another request, so one connection is enough.
func lessen(s *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		return
	}
	if open := s.pool.Stats().OpenConnections; open > 0 {
		s.pool.SetMaxOpenConns(open)
	}
}

// passes reports whether a request may succeed if it is repeated.
func passes(err error) bool {
	if pe, ok := errors.AsType[*pq.Error](err); ok {
		return connect.Passes(string(pe.Code))
	}
	var net net.Error
	return errors.As(err, &net) && !errors.Is(err, context.Canceled) || errors.Is(err, sql.ErrConnDone) || lost(err)
}

// readOnly reports whether the server refuses to write: it is a replica, which takes over if its primary
// server has failed, or a setting says so.
func readOnly(err error) bool {
	pe, is := errors.AsType[*pq.Error](err)
	if !is {
		return false
	}
	switch pe.Routine {
	case "check_XactReadOnly", "check_transaction_read_only", "PreventCommandIfReadOnly", "PreventCommandDuringRecovery":
		return true
	}
	return pe.Code == "25006"
}

// claiming reports whether a run has claims through this store, so that its server has taken changes.
func claiming(s *Store) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.runs) > 0
}

// explain adds advice to an error of the server or the connection, about tables in a schema. It shows no
// details, which may quote rows.
func explain(schema string, err error) error {
	err = connect.Named(err)
	pe, ok := errors.AsType[*pq.Error](err)
	if !ok && passes(err) {
		return fmt.Errorf("%w. %s%s", err, connect.HintUnreached, takeover(err))
	}
	if !ok && unconnected(err) {
		return fmt.Errorf("%w%s", connect.Explain(err), takeover(err))
	}
	if !ok {
		return connect.Explain(err)
	}
	switch {
	case readOnly(pe):
		return fmt.Errorf("%w. The server only reads, as a replica does. To change a state, name the primary server in the argument \"conn_str\" or the variable PG_CONN_STR", err)
	case pe.Code == "54000" && strings.Contains(pe.Message, "index row"):
		return fmt.Errorf("%w. The server cannot keep an address of more than about 2600 bytes. Give the instance a shorter key in \"for_each\"", err)
	case strings.Contains(pe.Message, "query_wait_timeout"):
		return fmt.Errorf("%w. The pooler had no connection free in its time. Let other runs end, or allow more there, as default_pool_size does in pgbouncer", err)
	case pe.Code == "57014" && strings.Contains(pe.Message, "timeout"):
		return fmt.Errorf("%w. If that is too short for this state, let an administrator set statement_timeout to another time for this user", err)
	}
	switch pe.Code {
	case "22P05":
		return fmt.Errorf("%w. The database cannot hold all characters. Move its states to one with the encoding UTF8", err)
	case "53300":
		return fmt.Errorf("%w. A run has at most %d connections, and goes on with those that it gets. Let other runs end, or an administrator allow more", err, connections)
	case "42P01", "42703":
		return fmt.Errorf("%w. The tables in the schema %q are not those that this version of Mayfly makes: a version that was not released may have made them. "+
			"With that one, take the state of each workspace out (mayfly state pull > FILE). Drop the schema and the one of its views (DROP SCHEMA %s, %s CASCADE). With this version, put each state back (mayfly state push FILE)",
			err, schema, pq.QuoteIdentifier(schema), pq.QuoteIdentifier(schema+viewsSuffix))
	case "42501":
		return fmt.Errorf("%w. The owner of the schema has to grant the right to the user", err)
	}
	return connect.Explain(err)
}

// Workspaces implements store.Store.
func (s *Store) Workspaces(ctx context.Context) ([]string, error) {
	names := []string{store.DefaultWorkspace}
	err := s.again(ctx, reading, func(t *tx) error {
		names = names[:1]
		return t.rows(func(scan func(...any) error) error {
			var name string
			if err := scan(&name); err != nil {
				return err
			}
			names = append(names, name)
			return nil
		}, `SELECT name FROM mayfly.workspaces WHERE name <> $1`, store.DefaultWorkspace)
	})
	slices.Sort(names[1:])
	return names, err
}

// CreateWorkspace implements store.Store.
func (s *Store) CreateWorkspace(ctx context.Context, name string) error {
	if err := store.CheckWorkspaceName(name); err != nil {
		return err
	}
	if name == store.DefaultWorkspace {
		return fmt.Errorf("%w: %q", store.ErrWorkspaceExists, name)
	}
	return explain(s.opt.Schema, s.once(ctx, nil, func(t *tx) error {
		n, err := t.exec(`INSERT INTO mayfly.workspaces (name) VALUES ($1) ON CONFLICT DO NOTHING`, name)
		if err == nil && n == 0 {
			return fmt.Errorf("%w: %q", store.ErrWorkspaceExists, name)
		}
		return err
	}))
}

// DeleteWorkspace implements store.Store. A run of this store may have the lock.
func (s *Store) DeleteWorkspace(ctx context.Context, name string, force bool) error {
	if name == store.DefaultWorkspace {
		return store.ErrDefault
	}
	m := &manager{place: place{store: s, name: name}}
	return explain(s.opt.Schema, s.once(ctx, nil, func(t *tx) error {
		w, err := t.gate(name)
		if err == nil && w == 0 {
			return fmt.Errorf("%w: %q", store.ErrNoWorkspace, name)
		}
		if err != nil {
			return err
		}
		if err := m.excluded(t, w); err != nil {
			return err
		}
		if !force {
			if err := unmanaged(t, w, name); err != nil {
				return err
			}
		}
		_, err = t.exec(`DELETE FROM mayfly.workspaces WHERE id = $1`, w)
		return err
	}))
}

// unmanaged fails if a workspace has managed objects, or a state that cannot be read. Blocks of data sources
// have "data" after their modules.
func unmanaged(t *tx, workspace int64, name string) error {
	if _, _, err := head(t, name); err != nil {
		return err
	}
	var managed bool
	_, err := t.one(`SELECT EXISTS (SELECT FROM mayfly.objects WHERE workspace = $1 AND block !~ '^(module\.[^.]+\.)*data\.')`, []any{workspace}, &managed)
	if err == nil && managed {
		err = fmt.Errorf("%w: %q", store.ErrNotEmpty, name)
	}
	return err
}

// Manager implements store.Store.
func (s *Store) Manager(name string) (store.Manager, error) {
	if err := store.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	return &manager{place: place{store: s, name: name}}, nil
}
