package consul

import "github.com/mayfly-iac/mayfly/internal/stores/backend"

// Kind keeps states as values of keys in Consul. Omitted arguments come from the variables of Consul's own
// programs.
var Kind = backend.Declare("consul", backend.Arguments{
	"path":         backend.Text().Required().Place().About("key of the state; that of another workspace ends in `-env:` and its name"),
	"access_token": backend.Text("CONSUL_HTTP_TOKEN").Secret().About("token for Consul's access control"),
	"address":      backend.Text("CONSUL_HTTP_ADDR").Place().About("host and port of the server, or `unix://` and a socket; `127.0.0.1:8500` by default"),
	"scheme":       backend.Text().About("`http` (default) or `https`"),
	"datacenter":   backend.Text().Place().About("datacenter of the keys; that of the server by default"),
	"http_auth":    backend.Text("CONSUL_HTTP_AUTH").Secret().About("user and password for a proxy, as `user:password`"),
	"gzip":         backend.Boolean().About("compress the state"),
	"lock":         backend.Boolean().About("lock the state; `true` by default"),
	"ca_file":      backend.Text("CONSUL_CACERT").About("file with certificates, in PEM, that may sign that of the server"),
	"cert_file":    backend.Text("CONSUL_CLIENT_CERT").About("file with the client's certificate in PEM"),
	"key_file":     backend.Text("CONSUL_CLIENT_KEY").About("file with the key of `cert_file` in PEM"),
}, nil, opener{}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
