package http

import "github.com/mayfly-iac/mayfly/internal/stores/backend"

// Kind keeps one state behind a URL, which may be any program that answers GET, POST and DELETE.
// Headers count as secret, because tokens are often given that way.
var Kind = backend.Declare("http", backend.Arguments{
	"address":                   backend.Text("TF_HTTP_ADDRESS").Required().Place().About("URL of the state: read by GET, deleted by DELETE"),
	"update_method":             backend.Text("TF_HTTP_UPDATE_METHOD").About("method that stores the state; `POST` by default"),
	"lock_address":              backend.Text("TF_HTTP_LOCK_ADDRESS").Place().About("URL that locks; without it, nothing is locked"),
	"lock_method":               backend.Text("TF_HTTP_LOCK_METHOD").About("method that locks; `LOCK` by default"),
	"unlock_address":            backend.Text("TF_HTTP_UNLOCK_ADDRESS").Place().About("URL that unlocks"),
	"unlock_method":             backend.Text("TF_HTTP_UNLOCK_METHOD").About("method that unlocks; `UNLOCK` by default"),
	"username":                  backend.Text("TF_HTTP_USERNAME").About("user for basic authentication"),
	"password":                  backend.Text("TF_HTTP_PASSWORD").Secret().About("password for basic authentication"),
	"headers":                   backend.TextMap().Secret().About("headers of all requests"),
	"skip_cert_verification":    backend.Boolean().About("do not verify the certificate of the server: anyone in between can read and change the state"),
	"retry_max":                 backend.Number("TF_HTTP_RETRY_MAX").About("how often a request is repeated; by default as often as the time for it allows"),
	"retry_wait_min":            backend.Number("TF_HTTP_RETRY_WAIT_MIN").About("shortest wait before a repetition, in seconds"),
	"retry_wait_max":            backend.Number("TF_HTTP_RETRY_WAIT_MAX").About("longest wait before a repetition, in seconds"),
	"client_ca_certificate_pem": backend.Text("TF_HTTP_CLIENT_CA_CERTIFICATE_PEM").About("certificates, in PEM, that may sign that of the server"),
	"client_certificate_pem":    backend.Text("TF_HTTP_CLIENT_CERTIFICATE_PEM").About("the client's certificate in PEM"),
	"client_private_key_pem":    backend.Text("TF_HTTP_CLIENT_PRIVATE_KEY_PEM").Secret().About("the key of that certificate in PEM"),
}, nil, opener{}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
