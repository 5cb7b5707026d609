//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
)

// errSessions says that two statements of one session reach different sessions of the server.
var errSessions = errors.New("the pooler before the database gives the transactions of one session to different sessions of the server, as pgbouncer does with pool_mode = transaction. " +
	"The backend needs a pooler that keeps sessions: set pool_mode = session, or name the server itself in the argument \"conn_str\" or the variable PG_CONN_STR")

// errSecond says that a pooler gives a run no second session while it uses one.
var errSecond = errors.New("the pooler or proxy before the database has given no second connection in time, and behind one a run needs two. " +
	"Allow more there, as default_pool_size does in pgbouncer, let other runs end, or name the server itself in the argument \"conn_str\" or the variable PG_CONN_STR")

// secondPatience is how many times as long as the server waits for a client a run waits for its second
// connection: where a pooler has only one, it would wait until the pooler gives up.
const secondPatience = 3

// connector makes connections with their sessions.
type connector struct {
	*pq.Connector
	chooses bool // among servers, or servers of a kind
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		err = connectError{err, c.chooses}
	}
	return conn, err
}

// connectError is returned if there is no connection.
type connectError struct {
	error
	chooses bool
}

func (e connectError) Unwrap() error { return e.error }

// unconnected reports whether there is no connection, and no server says why. A server that only reads is one
// of the reasons where target_session_attrs asks for another one.
func unconnected(err error) bool {
	_, is := errors.AsType[connectError](err)
	_, said := errors.AsType[*pq.Error](err)
	return is && !said
}

// takeover returns advice on an error without a connection, where another server may take over; "" for none.
func takeover(err error) string {
	if failed, is := errors.AsType[connectError](err); !is || !failed.chooses {
		return ""
	}
	return ". If a replica is about to take over, run the command again when it has"
}

// ends makes connections, and notes the addresses that they have on this side.
type ends struct {
	net.Dialer

	mu    sync.Mutex
	local map[string]struct{}
}

// DialTimeout implements pq.Dialer.
func (e *ends) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return e.DialContext(ctx, network, address)
}

// DialContext implements pq.DialerContext.
func (e *ends) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := e.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.local == nil {
		e.local = map[string]struct{}{}
	}
	e.local[conn.LocalAddr().String()] = struct{}{}
	return conn, nil
}

// has reports whether a connection has an address on this side.
func (e *ends) has(address string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, is := e.local[address]
	return is
}

// besides reads, while a second connection has a transaction, the process and the setting of the session that
// the first one has. A request that a pooler lets wait cannot be interrupted: it is left to itself.
func besides(ctx context.Context, s *Store, db *sql.DB, first *sql.Conn) (process int, setting string, err error) {
	type answer struct {
		process int
		setting string
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		if failed := bug.Call(func() {
			a.err = within(ctx, db, `BEGIN READ ONLY; SELECT 1`, func(*sql.Conn) error {
				return first.QueryRowContext(ctx, `SELECT pg_backend_pid(), COALESCE(current_setting('mayfly.session', true), '')`).Scan(&a.process, &a.setting)
			})
		}); failed != nil {
			a.err = failed
		}
		answered <- a
	}()
	select {
	case a := <-answered:
		return a.process, a.setting, a.err
	case <-time.After(secondPatience * s.idle):
		return 0, "", errSecond
	case <-ctx.Done():
		return 0, "", context.Cause(ctx)
	}
}

// checkSessions fails if a pooler does not keep sessions. It asks once, before anything is changed. Where the
// server sees the very end of the connection that is on this side, nothing is in between. While another
// transaction is open, a pooler that does not keep sessions has no reason to give the same one again.
func (s *Store) checkSessions(ctx context.Context) error {
	s.mu.Lock()
	checked := s.sessions
	s.mu.Unlock()
	if checked {
		return nil
	}
	id, err := uuid.NewRandomFromReader(rand.Reader)
	if err != nil {
		return fmt.Errorf("choosing the name of a session: %w", err)
	}
	kept := false
	err = s.persist(ctx, func() error {
		db, err := s.db(ctx)
		if err != nil {
			return err
		}
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		var before, after int
		var host, port string
		if err := conn.QueryRowContext(ctx, `SELECT pg_backend_pid(), COALESCE(host(inet_client_addr()), ''), COALESCE(inet_client_port(), 0) FROM set_config('mayfly.session', $1, false)`,
			id.String()).Scan(&before, &host, &port); err != nil {
			return err
		}
		if kept = s.ends.has(net.JoinHostPort(host, port)); kept {
			return nil
		}
		found := ""
		after, found, err = besides(ctx, s, db, conn)
		kept = before == after && found == id.String()
		return err
	})
	if err == nil && !kept {
		err = errSessions
	}
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sessions = true
	}
	return err
}
