// Package connect reads connection strings of PostgreSQL, says which errors of a server may pass, and gives
// advice on errors of a connection.
//
// It may import the client of PostgreSQL. It must not know the content of databases.
package connect

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/lib/pq"
)

// timeout is how long to wait for a connection if the string does not say. A server that was asleep, or that
// has much to do, takes some seconds.
const timeout = 10 * time.Second

// Parse reads a connection string: a URL or a list of settings, as libpq reads them. Settings that it lacks
// are taken from the variables PGHOST, PGUSER and so on, and from the user's password file. It contacts
// nothing. An error is about the string, and shows no password.
func Parse(text string) (pq.Config, *pq.Connector, error) {
	config, err := pq.NewConfig(text)
	if err != nil {
		return config, nil, fmt.Errorf("the connection string is not valid: %w", hideText(err))
	}
	if config.ConnectTimeout <= 0 { // which would be forever
		config.ConnectTimeout = timeout
	}
	config.ApplicationName = cmp.Or(config.ApplicationName, "mayfly")
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return config, nil, fmt.Errorf("the connection string is not valid: %w", hideText(err))
	}
	return config, connector, nil
}

// hideText returns an error without the parts of a connection string that it quotes, which may be of a
// password.
func hideText(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return errors.New(quotedText.ReplaceAllStringFunc(err.Error(), func(quoted string) string {
		if quoted == `"="` {
			return quoted
		}
		return `"..."`
	}))
}

var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// places of the settings that advice names. Both backends have them.
const places = "the argument \"conn_str\" or the variable PG_CONN_STR"

// HintUnreached is advice on an error of the network.
const HintUnreached = "Check that the server runs, and its address in " + places

// answer is an error of the client or the server, with the product's name in place of the client's.
type answer struct{ error }

func (a answer) Unwrap() error { return a.error }

// Error replaces the client's name where it begins the text, or a part of it.
func (a answer) Error() string {
	text := a.error.Error()
	if rest, is := strings.CutPrefix(text, clientName); is {
		text = serverName + rest
	}
	return strings.NewReplacer(": "+clientName, ": "+serverName, "\n"+clientName, "\n"+serverName).Replace(text)
}

// The name that errors of the client begin with, and the one that is shown in its place.
const (
	clientName = "pq: "
	serverName = "PostgreSQL: "
)

// Named returns an error that says PostgreSQL where the client has its own name, which no user knows. It
// returns other errors as they are.
func Named(err error) error {
	if err == nil || !strings.Contains(err.Error(), clientName) {
		return err
	}
	if _, is := err.(answer); is {
		return err
	}
	return answer{err}
}

// Explain adds advice to an error about encryption, the user or the database, and names the product in it.
func Explain(err error) error {
	err = Named(err)
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return fmt.Errorf("%w. To do without encryption, add sslmode=disable to %s, or set the variable PGSSLMODE", err, places)
	}
	pe, is := errors.AsType[*pq.Error](err)
	if !is {
		return err
	}
	switch pe.Code {
	case "28P01", "28000":
		return fmt.Errorf("%w. Check the user and the password in %s, or in PGUSER and PGPASSWORD", err, places)
	case "3D000":
		return fmt.Errorf("%w. Create the database, or name another one in %s", err, places)
	}
	return err
}

// Passes reports whether the error with that code may pass: lost connections, exhausted resources, a server
// that starts or ends, and transactions to be repeated.
func Passes(code string) bool {
	switch code[:2] {
	case "08", "53", "57":
		return code != "57014" // a cancelled statement
	}
	return code == "40001" || code == "40P01" || code == "55P03"
}
