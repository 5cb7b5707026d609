//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// errSessions says that two statements of one session reach different sessions of the server.
var errSessions = errors.New("the pooler before the database gives the transactions of one session to different sessions of the server, as pgbouncer does with pool_mode = transaction. " +
	"The backend needs a pooler that keeps sessions: set pool_mode = session, or name the server itself in the argument \"conn_str\" or the variable PG_CONN_STR")

// checkSessions fails if a pooler does not keep sessions. It asks once, before anything is changed. While
// another transaction is open, such a pooler has no reason to give the same session of the server again.
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
		if err := conn.QueryRowContext(ctx, `SELECT pg_backend_pid() FROM set_config('mayfly.session', $1, false)`, id.String()).Scan(&before); err != nil {
			return err
		}
		other, err := db.BeginTx(ctx, reading)
		if err != nil {
			return err
		}
		defer func() { _ = other.Rollback() }() // it has done nothing
		if _, err := other.ExecContext(ctx, `SELECT 1`); err != nil {
			return err
		}
		var found string
		err = conn.QueryRowContext(ctx, `SELECT pg_backend_pid(), COALESCE(current_setting('mayfly.session', true), '')`).Scan(&after, &found)
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
