package backend

// consulKind keeps states as values of keys in Consul. What the arguments leave out comes from the
// variables of Consul's own programs.
var consulKind = declare("consul", arguments{
	"path":         text().required().place(),
	"access_token": text("CONSUL_HTTP_TOKEN").secret(),
	"address":      text("CONSUL_HTTP_ADDR").place(),
	"scheme":       text(),
	"datacenter":   text().place(),
	"http_auth":    text("CONSUL_HTTP_AUTH").secret(),
	"gzip":         boolean(),
	"lock":         boolean(),
	"ca_file":      text("CONSUL_CACERT"),
	"cert_file":    text("CONSUL_CLIENT_CERT"),
	"key_file":     text("CONSUL_CLIENT_KEY"),
}, nil)
