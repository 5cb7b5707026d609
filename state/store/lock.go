package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/google/uuid"
)

// LockInfo describes the holder of a lock. Its JSON form is the one that other engines keep beside a locked
// state. Users see it when they wait for a lock, and give its ID to force-unlock.
type LockInfo struct {
	ID        string
	Operation string // such as "OperationTypeApply"
	Info      string // additional free text about the run
	Who       string // user@host
	Version   string // of the program
	Created   time.Time
	Path      string // of the state, as named by the store
	Job       string `json:",omitempty"` // the URL of the job of a CI system that the run is

	// DatabaseUser is the user of the database that has the state, as its server has noted; "" for none. The
	// JSON form, which is the holder's own word, does not have it.
	DatabaseUser string `json:"-"`
}

// NewLockInfo returns the information for a lock that this process is about to take. 16 bytes are read from
// random. A user or host name that cannot be found out is replaced by "unknown" or "".
func NewLockInfo(operation, version string, now time.Time, random io.Reader) (LockInfo, error) {
	id, err := uuid.NewRandomFromReader(random)
	if err != nil {
		return LockInfo{}, fmt.Errorf("choosing the ID of a lock: %w", err)
	}
	host, _ := os.Hostname()
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return LockInfo{ID: id.String(), Operation: operation, Who: name + "@" + host, Version: version, Created: now.UTC()}, nil
}

// Marshal returns the JSON form.
func (i LockInfo) Marshal() ([]byte, error) { return json.Marshal(i) }

// ParseLockInfo reads the JSON form.
func ParseLockInfo(b []byte) (LockInfo, error) {
	var i LockInfo
	if err := json.Unmarshal(b, &i); err != nil {
		return LockInfo{}, errors.New("the lock information is not valid")
	}
	return i, nil
}

// String returns the information as a block of lines for people, without a line break at the end. The labels
// and their order are known from other engines.
func (i LockInfo) String() string {
	var sb strings.Builder
	sb.WriteString("Lock Info:")
	created := ""
	if !i.Created.IsZero() {
		created = i.Created.UTC().String()
	}
	for _, f := range [][2]string{
		{"ID", i.ID},
		{"Path", i.Path},
		{"Operation", i.Command()},
		{"Who", i.Who},
		{"Version", i.Version},
		{"Created", created},
		{"Info", i.Info},
		{"Job", i.Job},
	} {
		if f[1] == "" {
			continue
		}
		fmt.Fprintf(&sb, "\n  %-10s %s", f[0]+":", f[1])
	}
	return sb.String()
}

// Command returns the operation as the command that people type.
func (i LockInfo) Command() string {
	return strings.ToLower(strings.TrimPrefix(i.Operation, "OperationType"))
}

// LockError reports that another run holds a lock, or that a lock could not be released. Locking
// waits for locks that are held with this error, so that a store returns it for nothing else in Lock.
type LockError struct {
	Info *LockInfo // the holder; nil if unknown
	Err  error     // the store's error; may be nil
}

// Error names the holder of the lock, the place and the time.
func (e *LockError) Error() string {
	var sb strings.Builder
	sb.WriteString("the state is locked")
	if e.Info != nil {
		sb.WriteString(" by " + e.Info.Who + e.Info.since())
	} else {
		sb.WriteString(" by another process that left no information about itself")
	}
	if e.Err != nil {
		sb.WriteString(": " + e.Err.Error())
	}
	if e.Info != nil {
		sb.WriteString("\n\n" + e.Info.String())
	}
	return sb.String()
}

// Unwrap returns Err.
func (e *LockError) Unwrap() error { return e.Err }

// Holder says in a few words who holds the lock, and since when.
func (e *LockError) Holder() string {
	if e.Info == nil {
		return "another process"
	}
	if e.Info.Operation == "" {
		return e.Info.Who + e.Info.since()
	}
	return fmt.Sprintf("%s%s (%s)", e.Info.Who, e.Info.since(), e.Info.Command())
}

// since returns words for the time when the lock was taken; "" if that is unknown.
func (i *LockInfo) since() string {
	if i.Created.IsZero() {
		return ""
	}
	return " since " + i.Created.Local().Format(time.DateTime)
}

// The pauses between two attempts to take a lock double from the first to the longest.
const (
	firstLockPause   = 250 * time.Millisecond
	longestLockPause = 8 * time.Second
)

// Locking controls whether and how a state is locked.
type Locking struct {
	NoLock bool // although others may be using the state
	// LockTimeout is how long to wait while another run holds the lock; zero tries once.
	LockTimeout time.Duration
	// Note says why the run is made, and Job is the URL of the job of a CI system that it is. Others see
	// both.
	Note, Job string
	// Waiting is called when it begins to wait, with the holder of the lock; it may be nil.
	Waiting func(*LockError)
}

// noted returns info with the note and the job.
func (l Locking) noted(info LockInfo) LockInfo {
	if l.Note != "" {
		info.Info = l.Note
	}
	info.Job = l.Job
	return info
}

// Take takes the lock and returns its ID. With NoLock it takes none and returns "", unless a Recoverer
// refuses the run. After the timeout, the error is the last *LockError. If ctx ends first, the error wraps
// the last *LockError and the cause of ctx.
func (l Locking) Take(ctx context.Context, m Manager, info LockInfo) (string, error) {
	info = l.noted(info)
	if l.NoLock {
		if r, ok := m.(Recoverer); ok {
			return "", r.RefuseRun(ctx, info)
		}
		return "", nil
	}
	var id string
	err := l.patiently(ctx, func() (err error) {
		id, err = m.Lock(ctx, info)
		return err
	})
	return id, err
}

// patiently calls take, and again for some time as long as it fails with a *LockError.
func (l Locking) patiently(ctx context.Context, take func() error) error {
	over := time.NewTimer(l.LockTimeout)
	defer over.Stop()
	waiting := l.Waiting
	for pause := firstLockPause; ; pause = min(2*pause, longestLockPause) {
		err := take()
		var held *LockError
		if !errors.As(err, &held) || l.LockTimeout <= 0 {
			return err
		}
		if waiting != nil {
			waiting(held)
			waiting = nil
		}
		again := time.NewTimer(pause - rand.N(pause/4)) // so that waiting runs do not come back at once
		select {
		case <-again.C:
		case <-over.C:
			again.Stop()
			return err
		case <-ctx.Done():
			again.Stop()
			return errors.Join(context.Cause(ctx), err)
		}
	}
}
