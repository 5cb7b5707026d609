package backend

// httpKind keeps one state behind a URL, which may be any program that answers GET, POST and DELETE.
// Headers count as secret, because tokens are often given that way.
var httpKind = declare("http", arguments{
	"address":                   text("TF_HTTP_ADDRESS").required().place().about("URL of the state: read by GET, deleted by DELETE"),
	"update_method":             text("TF_HTTP_UPDATE_METHOD").about("method that stores the state; `POST` by default"),
	"lock_address":              text("TF_HTTP_LOCK_ADDRESS").place().about("URL that locks; without it, nothing is locked"),
	"lock_method":               text("TF_HTTP_LOCK_METHOD").about("method that locks; `LOCK` by default"),
	"unlock_address":            text("TF_HTTP_UNLOCK_ADDRESS").place().about("URL that unlocks"),
	"unlock_method":             text("TF_HTTP_UNLOCK_METHOD").about("method that unlocks; `UNLOCK` by default"),
	"username":                  text("TF_HTTP_USERNAME").about("user for basic authentication"),
	"password":                  text("TF_HTTP_PASSWORD").secret().about("password for basic authentication"),
	"headers":                   textMap().secret().about("headers of all requests"),
	"skip_cert_verification":    boolean().about("do not verify the certificate of the server: anyone in between can read and change the state"),
	"retry_max":                 number("TF_HTTP_RETRY_MAX").about("how often a request is repeated; by default as often as the time for it allows"),
	"retry_wait_min":            number("TF_HTTP_RETRY_WAIT_MIN").about("shortest wait before a repetition, in seconds"),
	"retry_wait_max":            number("TF_HTTP_RETRY_WAIT_MAX").about("longest wait before a repetition, in seconds"),
	"client_ca_certificate_pem": text("TF_HTTP_CLIENT_CA_CERTIFICATE_PEM").about("certificates, in PEM, that may sign that of the server"),
	"client_certificate_pem":    text("TF_HTTP_CLIENT_CERTIFICATE_PEM").about("the client's certificate in PEM"),
	"client_private_key_pem":    text("TF_HTTP_CLIENT_PRIVATE_KEY_PEM").secret().about("the key of that certificate in PEM"),
}, nil)
