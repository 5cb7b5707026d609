package store

import "context"

// Rekeyed is a file that Rekey has handled.
type Rekeyed struct {
	Path string
	Err  error // why the file was left as it is; nil if it was encrypted again
}

// Rekeyer is implemented by managers that keep more than the state, such as backups.
type Rekeyer interface {
	// Rekey stores the state and its backups again without changing them, encrypted by the present rules. If
	// the state cannot be read, it fails and has changed nothing; a backup that cannot be read stays as it
	// is.
	Rekey(ctx context.Context) ([]Rekeyed, error)
}

// Rekey stores what m keeps again, encrypted by the present rules. The caller should hold the lock. It
// reports each file that was handled, also those that had to be left as they are. For a manager that is not
// a Rekeyer, that is the state alone.
func Rekey(ctx context.Context, m Manager) ([]Rekeyed, error) {
	if r, ok := m.(Rekeyer); ok {
		return r.Rekey(ctx)
	}
	f, err := m.Read(ctx)
	if f == nil || err != nil {
		return nil, err
	}
	return []Rekeyed{{Path: "the state"}}, m.Write(ctx, f)
}
