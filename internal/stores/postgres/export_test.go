//go:build !mayfly_no_postgres

package postgres

// Versions is how many versions of the tables there are.
var Versions = len(migrations)

// Older returns a store of a program that knows the tables only up to a version.
func Older(opt Options, version int) (*Store, error) {
	s, err := New(opt)
	if err == nil {
		s.migrations = s.migrations[:version]
	}
	return s, err
}

// ParseHistory reads the argument "history".
var ParseHistory = parseHistory

// ParseLease reads the argument "lease".
var ParseLease = parseLease
