package backend

// gcsKind keeps states as objects in a bucket of Google Cloud Storage. The variables whose names contain
// BACKEND come first: they let the provider of the same configuration use another account.
var gcsKind = declare("gcs", arguments{
	"bucket":                                text().required().place().about("bucket; it must exist"),
	"prefix":                                text().place().about("directory of the states; a state is `PREFIX/WORKSPACE.tfstate`"),
	"credentials":                           text("GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS").secret().about("credentials in JSON, or the path of a file that has them; those of this machine by default"),
	"access_token":                          text("GOOGLE_OAUTH_ACCESS_TOKEN").secret().about("OAuth token in place of credentials; it is not renewed"),
	"impersonate_service_account":           text("GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT").about("service account to act as"),
	"impersonate_service_account_delegates": texts().about("service accounts on the way to that one, in their order"),
	"encryption_key":                        text("GOOGLE_ENCRYPTION_KEY").secret().about("key of 32 bytes in base64 with which the server encrypts the object; it does not keep the key"),
	"universe_domain":                       text().about("domain of the services, for clouds that partners run; that of the credentials by default"),
	"kms_encryption_key":                    text("GOOGLE_KMS_ENCRYPTION_KEY").about("key of Cloud KMS with which the server encrypts the object; excludes `encryption_key`"),
	"storage_custom_endpoint":               text("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT").place().about("another server that speaks the protocol, alone or with the path `/storage/v1/b`"),
}, nil)
