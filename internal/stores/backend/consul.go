package backend

// consulKind keeps states as values of keys in Consul. What the arguments leave out comes from the
// variables of Consul's own programs.
var consulKind = declare("consul", arguments{
	"path":         text().required().place().about("key of the state; that of another workspace ends in `-env:` and its name"),
	"access_token": text("CONSUL_HTTP_TOKEN").secret().about("token for Consul's access control"),
	"address":      text("CONSUL_HTTP_ADDR").place().about("host and port of the server, or `unix://` and a socket; `127.0.0.1:8500` by default"),
	"scheme":       text().about("`http` (default) or `https`"),
	"datacenter":   text().place().about("datacenter of the keys; that of the server by default"),
	"http_auth":    text("CONSUL_HTTP_AUTH").secret().about("user and password for a proxy, as `user:password`"),
	"gzip":         boolean().about("compress the state"),
	"lock":         boolean().about("lock the state; `true` by default"),
	"ca_file":      text("CONSUL_CACERT").about("file with certificates, in PEM, that may sign that of the server"),
	"cert_file":    text("CONSUL_CLIENT_CERT").about("file with the client's certificate in PEM"),
	"key_file":     text("CONSUL_CLIENT_KEY").about("file with the key of `cert_file` in PEM"),
}, nil)
