package backend

// httpKind keeps one state behind a URL, which may be any program that answers GET, POST and DELETE.
// Headers count as secret, because tokens are often given that way.
var httpKind = declare("http", arguments{
	"address":                   text("TF_HTTP_ADDRESS").required().place(),
	"update_method":             text("TF_HTTP_UPDATE_METHOD"),
	"lock_address":              text("TF_HTTP_LOCK_ADDRESS").place(),
	"lock_method":               text("TF_HTTP_LOCK_METHOD"),
	"unlock_address":            text("TF_HTTP_UNLOCK_ADDRESS").place(),
	"unlock_method":             text("TF_HTTP_UNLOCK_METHOD"),
	"username":                  text("TF_HTTP_USERNAME"),
	"password":                  text("TF_HTTP_PASSWORD").secret(),
	"headers":                   textMap().secret(),
	"skip_cert_verification":    boolean(),
	"retry_max":                 number("TF_HTTP_RETRY_MAX"),
	"retry_wait_min":            number("TF_HTTP_RETRY_WAIT_MIN"),
	"retry_wait_max":            number("TF_HTTP_RETRY_WAIT_MAX"),
	"client_ca_certificate_pem": text("TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"),
	"client_certificate_pem":    text("TF_HTTP_CLIENT_CERTIFICATE_PEM"),
	"client_private_key_pem":    text("TF_HTTP_CLIENT_PRIVATE_KEY_PEM").secret(),
}, nil)
