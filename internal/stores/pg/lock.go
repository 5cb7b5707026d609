//go:build !mayfly_no_pg

package pg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/state/store"
)

// lock is the lock of one workspace: the advisory lock with the number of its row. As long as there is no
// row, the lock is one that all workspaces of the table share. Advisory locks belong to a session, so a
// lock keeps a connection of its own; when that ends, because the run or the network dies, so does the
// lock.
//
// The table of locks says who holds a lock. A row of it counts only while the session that it names holds the
// lock, so nothing needs to clean up after a run that died.
type lock struct {
	*Service
	name string

	mu    sync.Mutex // held during statements of the session
	conn  *sql.Conn  // nil for none
	owner *sql.DB    // of conn only, which outlives the pool of the service
	id    string     // of the lock that the session holds
	pid   uint32     // of the session
}

// creation returns the number of the lock for workspaces without a row, which OpenTofu computes in the same
// way.
func (l *lock) creation() int64 {
	h := fnv.New32()
	_, _ = h.Write([]byte(l.opt.Schema + "\x00" + l.opt.Table)) // never fails
	return -int64(h.Sum32())
}

// Take implements remote.Lock.
func (l *lock) Take(ctx context.Context, info store.LockInfo) error {
	db, err := l.db(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil && l.conn.PingContext(ctx) == nil {
		return l.heldBy(ctx, db)
	}
	l.end()
	ok := false
	if err = l.begin(ctx); err == nil {
		ok, err = l.take(ctx)
	}
	if err == nil && ok {
		l.id = info.ID
		err = l.describe(ctx, info)
	}
	if err == nil && ok {
		return nil
	}
	l.end() // and with the session all that it has locked
	if err != nil {
		return classify(err)
	}
	return l.heldBy(ctx, db)
}

// begin begins a session. l.mu is held.
func (l *lock) begin(ctx context.Context) (err error) {
	l.owner = sql.OpenDB(l.connector)
	if l.conn, err = l.owner.Conn(ctx); err != nil {
		return err
	}
	if _, err := l.conn.ExecContext(ctx, keepAlive); err != nil {
		return err
	}
	return l.conn.QueryRowContext(ctx, `SELECT pg_backend_pid()`).Scan(&l.pid)
}

// keepAlive lets the server notice within a minute that the machine of a session is gone, and its lock with
// it.
const keepAlive = `SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3`

// take takes the advisory locks, and reports whether it got all that it needs. l.mu is held.
func (l *lock) take(ctx context.Context) (bool, error) {
	for {
		var number int64
		var row, creation bool
		err := l.conn.QueryRowContext(ctx, `SELECT id, pg_try_advisory_lock(id), pg_try_advisory_lock($1) FROM `+l.table("")+` WHERE name = $2`, l.creation(), l.name).Scan(&number, &row, &creation)
		if err == nil {
			switch {
			case creation: // another workspace is being created
				_, err = l.conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, l.creation())
			case row:
				creation, err = l.createsAnother(ctx)
			}
			return row && creation, err
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
		if err := l.conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, l.creation()).Scan(&creation); err != nil || !creation {
			return false, err
		}
		var made bool // by a run that has just ended
		if err := l.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+l.table("")+` WHERE name = $1)`, l.name).Scan(&made); err != nil || !made {
			return err == nil, err
		}
		if _, err := l.conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, l.creation()); err != nil {
			return false, err
		}
	}
}

// createsAnother reports whether the lock for creation is known to be held for another workspace. Another
// engine's may be held for this one, whose row it has just made. l.mu is held.
func (l *lock) createsAnother(ctx context.Context) (bool, error) {
	if l.opt.SkipTable {
		return false, nil
	}
	var name string
	err := l.conn.QueryRowContext(ctx, `SELECT t.name FROM `+advisoryLocks+` JOIN `+l.table(locksTable)+` t USING (pid) WHERE l.number = $1`, l.creation()).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return name != l.name, err
}

// advisoryLocks has the advisory locks of the database that are held.
const advisoryLocks = `(
	SELECT pid, classid::bigint << 32 | objid::bigint AS number FROM pg_locks
	WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
) l`

// describe records who has the lock, if there is a table for that. l.mu is held.
func (l *lock) describe(ctx context.Context, info store.LockInfo) error {
	if l.opt.SkipTable {
		return nil
	}
	text, err := info.Marshal()
	if err != nil {
		return err
	}
	_, err = l.conn.ExecContext(ctx, `INSERT INTO `+l.table(locksTable)+` (name, pid, info) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET pid = $2, info = $3`, l.name, l.pid, string(text))
	return err
}

// end ends the session. l.mu is held.
func (l *lock) end() {
	if l.owner == nil {
		return
	}
	if l.conn != nil {
		_ = l.conn.Close() // gives it back to its owner
	}
	_ = l.owner.Close() // the server ends the session too when the connection is gone
	l.conn, l.owner, l.id = nil, nil, ""
}

const endTimeout = 5 * time.Second

// heldBy returns the error for a lock that another session holds.
func (l *lock) heldBy(ctx context.Context, db *sql.DB) error {
	info, _, err := l.holder(ctx, db)
	if err != nil {
		return classify(err)
	}
	return &store.LockError{Info: info}
}

// holder describes the session that holds the lock, and returns its number; nil and 0 for none.
func (l *lock) holder(ctx context.Context, db *sql.DB) (*store.LockInfo, uint32, error) {
	var pid uint32
	var user, client, program string
	var since *time.Time // hidden from users without the right to see it
	err := db.QueryRowContext(ctx, `
		SELECT a.pid, coalesce(a.usename, ''), coalesce(host(a.client_addr), ''), coalesce(a.application_name, ''), a.backend_start
		FROM `+advisoryLocks+` JOIN pg_stat_activity a USING (pid)
		WHERE l.number IN (SELECT id FROM `+l.table("")+` WHERE name = $1 UNION ALL SELECT $2)
		ORDER BY l.number = $2, a.backend_start LIMIT 1`, l.name, l.creation()).Scan(&pid, &user, &client, &program, &since)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	info := &store.LockInfo{ID: fmt.Sprint("session-", pid), Who: user + "@" + client, Info: fmt.Sprintf("session %d of the program %q", pid, program), Path: l.Path() + "/" + l.name}
	if since != nil {
		info.Created = *since
	}
	if l.opt.SkipTable {
		return info, pid, nil
	}
	var text string
	// A session that creates another workspace has its row there.
	err = db.QueryRowContext(ctx, `SELECT info FROM `+l.table(locksTable)+` WHERE pid = $2 ORDER BY name <> $1 LIMIT 1`, l.name, pid).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return info, pid, nil
	}
	if known, bad := store.ParseLockInfo([]byte(text)); err == nil && bad == nil {
		info = &known
	}
	return info, pid, err
}

// Holder implements remote.Lock. A lock of another engine has the number of its session as its ID.
func (l *lock) Holder(ctx context.Context) (*store.LockInfo, error) {
	db, err := l.db(ctx)
	if err != nil {
		return nil, err
	}
	info, _, err := l.holder(ctx, db)
	return info, classify(err)
}

// Release implements remote.Lock. It ends the session of another run that holds the lock.
func (l *lock) Release(ctx context.Context, id string) error {
	db, err := l.db(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil && l.id == id {
		if !l.opt.SkipTable {
			// The row does not count without the session, so failing to remove it does no harm.
			_, _ = l.conn.ExecContext(ctx, `DELETE FROM `+l.table(locksTable)+` WHERE name = $1 AND pid = $2`, l.name, l.pid)
		}
		// The server may notice only after a while that the session has ended, and the next run may be there
		// before.
		_, _ = l.conn.ExecContext(ctx, `SELECT pg_advisory_unlock_all()`)
		l.end()
		return nil
	}
	info, pid, err := l.holder(ctx, db)
	switch {
	case err != nil:
		return classify(err)
	case info == nil:
		return store.ErrNotLocked
	case info.ID != id || id == "":
		return &store.LockError{Info: info, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	var ended bool
	if err := db.QueryRowContext(ctx, `SELECT pg_terminate_backend($1)`, pid).Scan(&ended); err != nil {
		return classify(err)
	}
	for deadline := time.Now().Add(endTimeout); ended && time.Now().Before(deadline); time.Sleep(endTimeout / 200) {
		if _, now, err := l.holder(ctx, db); err != nil || now != pid {
			return classify(err)
		}
	}
	return &store.LockError{Info: info, Err: errors.New("the session that holds the lock could not be ended")}
}

// Check implements remote.Lock. A session that answers still has its locks, unless a proxy in between has
// given the connection another session.
func (l *lock) Check(ctx context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil || l.id != id {
		return fmt.Errorf("%w: this run does not hold it", store.ErrLockLost)
	}
	var pid uint32
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	if err := l.conn.QueryRowContext(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		return fmt.Errorf("%w: its session in the database has ended: %w", store.ErrLockLost, err)
	}
	if pid != l.pid {
		return fmt.Errorf("%w: the connection was given another session of the database. A pooler between must keep sessions (\"session pooling\")", store.ErrLockLost)
	}
	return nil
}

const checkTimeout = 30 * time.Second
