// Package connect reads connection strings of PostgreSQL, and says which errors of a server may pass.
//
// It may import the client of PostgreSQL. It must not know the content of databases.
package connect

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/lib/pq"
)

// timeout is the longest time to wait for a connection.
const timeout = 10 * time.Second

// Parse reads a connection string: a URL or a list of settings, as libpq reads them. Settings that it lacks
// are taken from the variables PGHOST, PGUSER and so on, and from the user's password file. It contacts
// nothing. An error is about the string, and shows no password.
func Parse(text string) (pq.Config, *pq.Connector, error) {
	config, err := pq.NewConfig(text)
	if err != nil {
		return config, nil, fmt.Errorf("the connection string is not valid: %w", hideText(err))
	}
	config.ConnectTimeout = min(max(config.ConnectTimeout, time.Second), timeout)
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

// Passes reports whether the error with that code may pass: lost connections, exhausted resources, a server
// that starts or ends, and transactions to be repeated.
func Passes(code string) bool {
	switch code[:2] {
	case "08", "53", "57":
		return code != "57014" // a cancelled statement
	}
	return code == "40001" || code == "40P01" || code == "55P03"
}
