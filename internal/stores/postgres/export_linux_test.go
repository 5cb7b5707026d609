//go:build !mayfly_no_postgres

package postgres

// UserTimeout is the number of the option with which connections end.
const UserTimeout = userTimeout
