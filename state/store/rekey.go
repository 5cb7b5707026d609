package store

import "context"

// Rekeyed is a file that Rekey has handled.
type Rekeyed struct {
	Path string
	Err  error // why the file was left as it is; nil if it was encrypted again
}

// Rekey encrypts the files of m again by the present rules. The caller should hold the lock. It reports every
// file, also one that had to be left as it is. For a manager that is not InFiles, it reports the state alone.
func Rekey(ctx context.Context, m Manager) ([]Rekeyed, error) {
	if f, ok := m.(InFiles); ok {
		return f.Rekey(ctx)
	}
	f, err := m.Read(ctx)
	if f == nil || err != nil {
		return nil, err
	}
	return []Rekeyed{{Path: "the state"}}, m.Write(ctx, f)
}
