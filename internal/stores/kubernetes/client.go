//go:build !mayfly_no_kubernetes

package kubernetes

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/kubeconfig"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// client sends requests about objects of one namespace. It repeats none: that is for package remote.
type client struct {
	http      *http.Client
	server    *url.URL
	namespace string
}

// resource is a kind of objects.
type resource struct{ path, plural, apiVersion, kind string }

var (
	secrets = resource{"api/v1", "secrets", "v1", "Secret"}
	leases  = resource{"apis/coordination.k8s.io/v1", "leases", "coordination.k8s.io/v1", "Lease"}
)

// newClient returns a client for the Secrets and Leases of a namespace. It follows no redirects, since
// credentials are for one server.
func newClient(a kubeconfig.Access, namespace string) (*client, error) {
	found, err := a.Find()
	if err != nil {
		return nil, err
	}
	return &client{
		http:      cloud.Client(found.Transport),
		server:    found.URL,
		namespace: namespace,
	}, nil
}

// get returns an object; nil if there is none of that name.
func (c *client) get(ctx context.Context, r resource, name string) (*object, error) {
	o := &object{}
	err := c.send(ctx, http.MethodGet, c.address(r, name), nil, o)
	if missing(err, name) {
		return nil, nil
	}
	return o, err
}

// create creates an object. It fails with remote.ErrChanged if there is one.
func (c *client) create(ctx context.Context, r resource, o *object) error {
	o.typeMeta = typeMeta{APIVersion: r.apiVersion, Kind: r.kind}
	o.Namespace = c.namespace
	return c.send(ctx, http.MethodPost, c.address(r, ""), o, &object{})
}

// update replaces an object. It fails with remote.ErrChanged if the object is not the one that was read, or,
// without a version, if there is none.
func (c *client) update(ctx context.Context, r resource, o *object) error {
	o.typeMeta = typeMeta{APIVersion: r.apiVersion, Kind: r.kind}
	err := c.send(ctx, http.MethodPut, c.address(r, o.Name), o, &object{})
	if missing(err, o.Name) {
		return remote.ErrChanged
	}
	return err
}

// remove removes an object; one that does not exist is ignored. If version is not "", it fails with
// remote.ErrChanged if the object has another one.
func (c *client) remove(ctx context.Context, r resource, name, version string) error {
	options := deletion{typeMeta: typeMeta{APIVersion: "v1", Kind: "DeleteOptions"}}
	if version != "" {
		options.Preconditions = &preconditions{version}
	}
	err := c.send(ctx, http.MethodDelete, c.address(r, name), options, &typeMeta{})
	if missing(err, name) {
		return nil
	}
	return err
}

// page is how many Secrets one request lists.
const page = 500

// metadataOnly asks for objects without their contents, which may be long.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// list returns the Secrets with labels, without their contents.
func (c *client) list(ctx context.Context, labels map[string]string) ([]object, error) {
	var all []object
	to := c.address(secrets, "")
	query := url.Values{"labelSelector": {selector(labels)}, "limit": {strconv.Itoa(page)}}
	for {
		to.RawQuery = query.Encode()
		var list objectList
		if err := c.send(ctx, http.MethodGet, to, nil, &list); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if list.Metadata.Continue == "" {
			return all, nil
		}
		query.Set("continue", list.Metadata.Continue)
	}
}

// address returns the address of an object, or of all of a kind if name is "".
func (c *client) address(r resource, name string) *url.URL {
	return c.server.JoinPath(r.path, "namespaces", c.namespace, r.plural, name)
}

const requestTimeout = 2 * time.Minute

// send sends a request, and decodes the answer into result.
func (c *client) send(ctx context.Context, method string, to *url.URL, body, result any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(content))
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "mayfly")
	req.Header.Set("Accept", "application/json")
	if to.RawQuery != "" {
		req.Header.Set("Accept", metadataOnly)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := cloud.Answer(c.http, req, c.refuse)
	page := errors.Is(err, cloud.ErrPage)
	if err != nil && !page {
		return c.classify(err)
	}
	var kind typeMeta
	if page || json.Unmarshal(answer, &kind) != nil || kind.Kind == "" || json.Unmarshal(answer, result) != nil {
		return fmt.Errorf("the answer of %s is not one of Kubernetes: it may come from a proxy or a sign-in page in between. Check the argument \"host\", or the server in the file of \"config_path\"", c.server.Host)
	}
	return nil
}

// refusal is an unsuccessful answer of the cluster.
type refusal struct {
	answer *cloud.Error
	of     string // the name of the object that the server names; "" if it names none
}

// Error implements error.
func (r *refusal) Error() string { return r.answer.Error() }

func missing(err error, name string) bool {
	var r *refusal
	return errors.As(err, &r) && r.answer.Status == http.StatusNotFound && r.of == name
}

// refuse describes an unsuccessful answer. Of one that is not the cluster's, it has the status only.
func (c *client) refuse(resp *http.Response, body []byte) error {
	r := &refusal{answer: &cloud.Error{Status: resp.StatusCode}}
	var said status
	if json.Unmarshal(body, &said) == nil && said.Kind == "Status" {
		r.answer.Code, r.answer.Message, r.of = said.Reason, said.Message, said.Details.Name
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && r.answer.Passes() {
		return &remote.Passing{Err: r, After: time.Duration(min(max(seconds, 0), 600)) * time.Second}
	}
	return r
}

// classify marks an error that may pass, and adds advice to others.
func (c *client) classify(err error) error {
	r, lost, certificate, passing := (*refusal)(nil), (*url.Error)(nil), (*tls.CertificateVerificationError)(nil), (*remote.Passing)(nil)
	var without *kubeconfig.CredentialsError
	switch {
	case errors.Is(err, context.Canceled) || errors.As(err, &passing):
		return err
	case errors.As(err, &certificate):
		return fmt.Errorf("the certificate of %s is not accepted: %w. Set \"cluster_ca_certificate\", or the certificate in the file of \"config_path\"", c.server.Host, certificate)
	case errors.As(err, &without):
		return fmt.Errorf("the block \"exec\", or the user in the file of \"config_path\", gives no credentials: %w", without)
	case errors.As(err, &lost):
		return &remote.Passing{Err: fmt.Errorf("%s: %w", c.server.Host, lost.Err)}
	case !errors.As(err, &r):
		return &remote.Passing{Err: err} // the answer was cut off
	case r.answer.Status == http.StatusConflict:
		return remote.ErrChanged
	case r.answer.Status == http.StatusGone: // the list was interrupted for too long
		return &remote.Passing{Err: r}
	case r.answer.Passes():
		return &remote.Passing{Err: r}
	}
	r.answer.Hint = c.hint(r)
	return r
}

// hint returns advice about a refusal, as a sentence without its point; "" for none. It names the arguments
// of the block.
func (c *client) hint(r *refusal) string {
	switch {
	case r.answer.Status == http.StatusUnauthorized && c.server.Scheme == "http":
		return "Credentials are not sent to a server without TLS: begin the argument \"host\", or the server in the file of \"config_path\", with https://"
	case r.answer.Status == http.StatusUnauthorized:
		return "Check the arguments \"token\", \"client_certificate\" and \"exec\", or the user in the file of \"config_path\""
	case r.answer.Status == http.StatusForbidden:
		return fmt.Sprintf("In the namespace %q, the user needs the rights get, list, create, update and delete for secrets, and get, create, update and delete for leases in coordination.k8s.io", c.namespace)
	case r.answer.Status == http.StatusNotFound && r.of == c.namespace:
		return "Create the namespace, or check the argument \"namespace\""
	case r.answer.Status == http.StatusUnprocessableEntity:
		return "Check the arguments \"secret_suffix\" and \"labels\""
	case r.answer.Status == http.StatusNotFound, r.answer.Status/100 == 3:
		return "Check the argument \"host\", or the server in the file of \"config_path\""
	}
	return ""
}
