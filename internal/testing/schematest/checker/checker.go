// Package checker has documents checked by their JSON schemas in another process. The compiler of schemas
// takes a fifth of the time in which a program starts that links it, so programs that are started thousands
// of times ask this process.
//
// It imports the standard library only. It must not know how documents are checked.
package checker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// Env is the environment variable with the path of the socket on which the process listens.
const Env = "MAYFLY_TEST_SCHEMA_CHECKER"

// Request is a document to check.
type Request struct {
	Args   []string // the command that has written it to standard output; nil for a stored file
	Schema string   // the name of the schema of a stored file; "" if its content says that
	Text   []byte
}

// answer is the process's answer about a document.
type answer struct{ Schema, Problem string }

// Ask asks the process that listens on a socket. It returns the name of the document's schema, "" if it has
// none, or the violation of the schema.
func Ask(socket string, r Request) (schema string, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	resp, err := client.Post("http://checker", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("asking the checker of documents at the socket %q: %w", socket, err)
	}
	defer resp.Body.Close()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return "", err
	}
	if a.Problem != "" {
		err = errors.New(a.Problem)
	}
	return a.Schema, err
}

// Serve answers with the results of check, until the listener is closed. It calls check concurrently.
func Serve(l net.Listener, check func(Request) (schema string, err error)) error {
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req Request
		err := json.NewDecoder(r.Body).Decode(&req)
		var a answer
		if err == nil {
			a.Schema, err = check(req)
		}
		if err != nil {
			a.Problem = err.Error()
		}
		_ = json.NewEncoder(w).Encode(a) // without an answer, the document counts as wrong
	}))
}
