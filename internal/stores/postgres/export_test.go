//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// Versions is how many versions of the tables there are.
var Versions = len(migrations)

// ResultsVersion is the version of the tables that has former versions of outputs and checks.
var ResultsVersion = slices.Index(migrations, pastResultsTable) + 1

// Older returns a store of a program that knows the tables only up to a version.
func Older(opt Options, version int) (*Store, error) {
	s, err := New(opt)
	if err == nil {
		s.migrations = s.migrations[:version]
	}
	return s, err
}

// Hasten makes the transactions of a store end after so much time without a statement.
func Hasten(s *Store, idle time.Duration) { s.idle = idle }

// Persist repeats a request of a store that has reached its server before.
func Persist(ctx context.Context, s *Store, f func() error) error {
	s.pool = &sql.DB{}
	return s.persist(ctx, f)
}

// PersistFirst repeats a request of a store that has not reached its server.
func PersistFirst(ctx context.Context, s *Store, f func() error) error { return s.persist(ctx, f) }

// Unconnected returns an error of a connection that was not made.
func Unconnected(err error) error { return connectError{err, true} }

// Note notes that a run has a claim through a store.
func Note(s *Store, run string) { s.note(run, true) }

// Explain adds advice to an error.
var Explain = explain

// CheckServer checks the version of a server.
var CheckServer = checkServer

// CheckSchema checks the argument "schema_name".
var CheckSchema = checkSchema

// ParseHistory reads the argument "history".
var ParseHistory = parseHistory

// ParseLease reads the argument "lease".
var ParseLease = parseLease

// Connections returns how many connections a store has.
func Connections(s *Store) int { return s.pool.Stats().OpenConnections }

// Transact calls f in a transaction that is not repeated, with a function that executes a statement there.
func Transact(ctx context.Context, s *Store, f func(exec func(string, ...any) error) error) error {
	return s.once(ctx, nil, func(t *tx) error {
		return f(func(statement string, args ...any) error {
			_, err := t.exec(statement, args...)
			return err
		})
	})
}

// Stream calls f for each row that a statement finds, in a transaction that is repeated.
func Stream(ctx context.Context, s *Store, f func(scan func(...any) error) error, statement string) error {
	return s.again(ctx, reading, func(t *tx) error { return t.stream(f, statement) })
}

// MostConnections returns how many connections a store makes at most.
func MostConnections(s *Store) int { return s.pool.Stats().MaxOpenConnections }

// Dialer returns a dialer for runs with a lease.
var Dialer = dialer

// Repeat makes a connection for a request, as a run does, and calls attempt at each attempt.
func Repeat(ctx context.Context, s *Store, attempt func()) error {
	s.pool = sql.OpenDB(s.connector)
	return s.persist(ctx, func() error {
		attempt()
		return s.pool.PingContext(ctx)
	})
}

// MostBatches is how many batches a run can send again.
const MostBatches = mostBatches

// Sendable returns how many batches a run can send again after the server has acknowledged n.
func Sendable(n int) int {
	var a acknowledged
	for i := range n {
		a.batch(int64(i+1), &batch{})
	}
	return len(a.batches)
}
