package backend

// gcsKind keeps states as objects in a bucket of Google Cloud Storage. The variables whose names contain
// BACKEND come first: they let the provider of the same configuration use another account.
var gcsKind = declare("gcs", arguments{
	"bucket":                                text().required().place(),
	"prefix":                                text().place(),
	"credentials":                           text("GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS").secret(),
	"access_token":                          text("GOOGLE_OAUTH_ACCESS_TOKEN").secret(),
	"impersonate_service_account":           text("GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"),
	"impersonate_service_account_delegates": texts(),
	"encryption_key":                        text("GOOGLE_ENCRYPTION_KEY").secret(),
	"universe_domain":                       text(),
	"kms_encryption_key":                    text("GOOGLE_KMS_ENCRYPTION_KEY"),
	"storage_custom_endpoint":               text("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT").place(),
}, nil)
