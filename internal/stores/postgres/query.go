//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state/store"
)

var _ store.Querier = (*manager)(nil)

// readingStatements begin the statements that are accepted. Others change something, or make the server write
// files, which it would do in a transaction that only reads as well.
var readingStatements = []string{"SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN"}

// Query implements store.Querier. It makes no tables, and needs no right but to the views.
func (m *manager) Query(ctx context.Context, statement string, timeout time.Duration) (*store.Table, error) {
	if !reads(statement) {
		return nil, fmt.Errorf("the statement does not begin with %s or %s, and others are not accepted", strings.Join(readingStatements[:len(readingStatements)-1], ", "), readingStatements[len(readingStatements)-1])
	}
	var out *store.Table
	err := m.store.persist(ctx, func() (err error) {
		out, err = m.store.query(ctx, statement, timeout)
		return err
	})
	pe, answered := errors.AsType[*pq.Error](err)
	switch {
	case answered && (pe.Code == "42P01" || pe.Code == "3F000"):
		err = fmt.Errorf("the server has answered: %s. The views are instances, outputs, runs, history, claims, operations and openings", pe.Message)
	case answered && pe.Code != "28P01" && pe.Code != "28000" && pe.Code != "3D000":
		err = fmt.Errorf("the server has answered: %s", pe.Message)
	}
	return out, err
}

// reads reports whether a statement begins with a word of those that only read.
func reads(statement string) bool {
	for {
		statement = strings.TrimLeft(statement, " \t\r\n(")
		rest, comment := strings.CutPrefix(statement, "--")
		if !comment {
			break
		}
		_, statement, _ = strings.Cut(rest, "\n")
	}
	word, _, _ := strings.Cut(strings.NewReplacer("\n", " ", "\t", " ", "\r", " ", "(", " ", "*", " ").Replace(statement), " ")
	for _, r := range readingStatements {
		if strings.EqualFold(word, r) {
			return true
		}
	}
	return false
}

// query carries out a statement on the views, in a transaction that only reads. The statement is prepared:
// the protocol accepts no second one there.
func (s *Store) query(ctx context.Context, statement string, timeout time.Duration) (*store.Table, error) {
	pool := sql.OpenDB(s.connector)
	defer func() { _ = pool.Close() }() // which has no effect on the result
	t, err := pool.BeginTx(ctx, reading)
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Rollback() }() // nothing is to be kept
	if _, err := t.ExecContext(ctx, `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', '10s', true), set_config('search_path', $2, true)`,
		fmt.Sprint(timeout.Milliseconds()), pq.QuoteIdentifier(s.opt.Schema+viewsSuffix)+", pg_catalog"); err != nil {
		return nil, err
	}
	prepared, err := t.PrepareContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	rows, err := prepared.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	out, err := tableOf(rows)
	return out, errors.Join(err, rows.Close())
}

// tableOf reads all rows.
func tableOf(rows *sql.Rows) (*store.Table, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	out := &store.Table{}
	for _, t := range types {
		out.Columns = append(out.Columns, t.Name())
	}
	for rows.Next() {
		row, to := make([]any, len(types)), make([]any, len(types))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i := range row {
			if row[i], err = cell(types[i].DatabaseTypeName(), row[i]); err != nil {
				return nil, fmt.Errorf("reading the column %q: %w", types[i].Name(), err)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out, rows.Err()
}

// cell converts a value of a type of the database.
func cell(typ string, v any) (any, error) {
	b, is := v.([]byte)
	if !is {
		return v, nil
	}
	switch typ {
	case "JSON", "JSONB":
		return json.RawMessage(append([]byte{}, b...)), nil
	case "NUMERIC":
		if json.Valid(b) {
			return json.Number(string(b)), nil
		}
	case "BYTEA":
		return `\x` + hex.EncodeToString(b), nil
	case "_TEXT", "_VARCHAR", "_NAME":
		list := []string{}
		err := pq.Array(&list).Scan(b)
		return list, err
	}
	return string(b), nil
}
