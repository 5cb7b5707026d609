//go:build !mayfly_no_consul

package consul

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// client sends the requests of Consul's HTTP interface that states need. It repeats none: that is for package
// remote.
type client struct {
	http  *http.Client
	base  url.URL
	head  http.Header // of all requests: the token and the password
	query url.Values  // of all requests: the datacenter, the namespace and the partition
}

// pair is a key with its value.
type pair struct {
	Key         string
	Value       []byte
	Session     string // that holds the key; "" for none
	ModifyIndex uint64 // of the last change
}

// The verbs of operations.
const (
	opSet          = "set"
	opDelete       = "delete"
	opCAS          = "cas"
	opLock         = "lock"
	opCheckSession = "check-session"
)

// operation is a part of a transaction.
type operation struct {
	Verb, Key string
	Value     []byte
	Flags     uint64
	Index     uint64 // of the last change, with opCAS; 0 if there is no such key
	Session   string
}

// send sends a request. The answer is nil if there is nothing of that name. A read is answered by the leader,
// because another server may not have the last change yet.
func (c *client) send(ctx context.Context, method, path string, query url.Values, body []byte) ([]byte, error) {
	all := url.Values{}
	maps.Copy(all, c.query)
	maps.Copy(all, query)
	to := c.base
	to.Path += "/v1/" + path
	to.RawQuery = all.Encode()
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = c.head.Clone()
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	answer, err := cloud.Answer(c.http, req, refuse)
	if cloud.Status(err) == http.StatusNotFound {
		return nil, nil
	}
	return answer, err
}

// refuse describes an unsuccessful answer.
func refuse(resp *http.Response, body []byte) error {
	e := &cloud.Error{Status: resp.StatusCode, Hint: cloud.PageHint(body)}
	if e.Hint == "" {
		e.Message = strings.TrimSpace(string(body))
	}
	return e
}

// decode reads an answer in JSON.
func decode(answer []byte, to any) error {
	if err := json.Unmarshal(answer, to); err != nil {
		return &notConsul{err}
	}
	return nil
}

// notConsul is that an answer is not one of Consul.
type notConsul struct{ err error }

// Error implements error.
func (e *notConsul) Error() string {
	return fmt.Sprintf("the answer is not one of Consul (%v). Check the argument \"address\"", e.err)
}

// Unwrap returns the error of decoding.
func (e *notConsul) Unwrap() error { return e.err }

// keyPath returns the path of a key, which does not begin with a slash.
func keyPath(key string) string { return "kv/" + strings.TrimPrefix(key, "/") }

var consistent = url.Values{"consistent": {""}}

// get returns a key with its value; nil if there is none.
func (c *client) get(ctx context.Context, key string) (*pair, error) {
	answer, err := c.send(ctx, http.MethodGet, keyPath(key), consistent, nil)
	if answer == nil || err != nil {
		return nil, err
	}
	var pairs []*pair
	if err := decode(answer, &pairs); err != nil || len(pairs) == 0 {
		return nil, err
	}
	return pairs[0], nil
}

// keys returns the keys that begin with prefix: up to the separator that follows, unless it is "".
func (c *client) keys(ctx context.Context, prefix, separator string) (keys []string, err error) {
	query := url.Values{"keys": {""}, "consistent": {""}}
	if separator != "" {
		query.Set("separator", separator)
	}
	answer, err := c.send(ctx, http.MethodGet, keyPath(prefix), query, nil)
	if answer == nil || err != nil {
		return nil, err
	}
	return keys, decode(answer, &keys)
}

// put stores a value, whatever there is.
func (c *client) put(ctx context.Context, key string, value []byte) error {
	answer, err := c.send(ctx, http.MethodPut, keyPath(key), nil, value)
	if err != nil {
		return err
	}
	stored := false
	if err := decode(answer, &stored); err != nil || stored {
		return err
	}
	return fmt.Errorf("the key %s was not stored", key)
}

// remove removes a key or, if tree is set, all keys that begin with it.
func (c *client) remove(ctx context.Context, key string, tree bool) error {
	query := url.Values{}
	if tree {
		query.Set("recurse", "")
	}
	_, err := c.send(ctx, http.MethodDelete, keyPath(key), query, nil)
	return err
}

// transact does all operations or none, and reports whether it did, with the keys that they changed.
func (c *client) transact(ctx context.Context, operations ...operation) (bool, []pair, error) {
	type element struct{ KV operation }
	elements := make([]element, len(operations))
	for i, o := range operations {
		o.Key = strings.TrimPrefix(o.Key, "/")
		elements[i].KV = o
	}
	body, err := json.Marshal(elements)
	if err != nil {
		return false, nil, err
	}
	answer, err := c.send(ctx, http.MethodPut, "txn", nil, body)
	if cloud.Status(err) == http.StatusConflict {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	var out struct{ Results []struct{ KV pair } }
	if err := decode(answer, &out); err != nil {
		return false, nil, err
	}
	pairs := make([]pair, len(out.Results))
	for i, result := range out.Results {
		pairs[i] = result.KV
	}
	return true, pairs, nil
}

// createSession begins a session without health checks, and returns its ID. It ends if it is not renewed for
// one to two times ttl. Its locks are then kept from others for the time delay.
func (c *client) createSession(ctx context.Context, name string, ttl, delay time.Duration) (string, error) {
	body, err := json.Marshal(map[string]any{
		"Name": name, "TTL": ttl.String(), "LockDelay": strconv.FormatInt(delay.Milliseconds(), 10) + "ms", "NodeChecks": []string{},
	})
	if err != nil {
		return "", err
	}
	answer, err := c.send(ctx, http.MethodPut, "session/create", nil, body)
	if err != nil {
		return "", err
	}
	var out struct{ ID string }
	err = decode(answer, &out)
	return out.ID, err
}

// renewSession reports whether a session still exists, which it renews.
func (c *client) renewSession(ctx context.Context, id string) (bool, error) {
	answer, err := c.send(ctx, http.MethodPut, "session/renew/"+id, nil, nil)
	return answer != nil, err
}

func (c *client) endSession(ctx context.Context, id string) error {
	_, err := c.send(ctx, http.MethodPut, "session/destroy/"+id, nil, nil)
	return err
}
