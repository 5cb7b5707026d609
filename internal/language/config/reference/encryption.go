package reference

var encryptionBlocks = []Block{
	{Path: "terraform.encryption", About: "How states and saved plans are [encrypted](../encryption.md).", Blocks: []Nested{
		many("key_provider", "terraform.encryption.key_provider", "where a key comes from", "type", "name"),
		many("method", "terraform.encryption.method", "how it is encrypted with it", "type", "name"),
		one("state", "terraform.encryption.state", "of states"), one("plan", "terraform.encryption.state", "of saved plans"),
		one("remote_state_data_sources", "terraform.encryption.remote_state_data_sources", "of the states that `terraform_remote_state` reads"),
	}},
	{
		Path: "terraform.encryption.key_provider", About: "Where a key comes from. The arguments are those of the [type](../encryption.md#key-providers).", Rest: ByType,
		Arguments: []Argument{arg("encrypted_metadata_alias", "string", "the name under which files have what finds the key again").constant()},
		Types:     keyProviders,
	},
	{Path: "terraform.encryption.method", About: "How files are encrypted. The arguments are those of the [type](../encryption.md#methods).", Rest: ByType, Types: methods},
	{
		Path: "terraform.encryption.state", About: "What encrypts states. A `plan` block has the same arguments.",
		Arguments: []Argument{
			arg("method", "reference", "the method, such as `method.aes_gcm.main`"), arg("enforced", "bool", "`true` makes it an error to be without a method").constant(),
		},
		Blocks: []Nested{one("fallback", "terraform.encryption.state.fallback", "a `method` that files are also read with")},
	},
	{
		Path: "terraform.encryption.state.fallback", About: "A method that files are also read with.",
		Arguments: []Argument{arg("method", "reference", "the method, such as `method.unencrypted.old`")},
		Blocks:    []Nested{one("fallback", "terraform.encryption.state.fallback", "one more")},
	},
	{Path: "terraform.encryption.remote_state_data_sources", About: "How the states are encrypted that `terraform_remote_state` reads.", Blocks: []Nested{
		one("default", "terraform.encryption.state", "of those without a block of their own"),
		many("remote_state_data_source", "terraform.encryption.state", "of one data source, by its address", "name"),
	}},
}

var (
	keyLength = arg("key_length", "number", "the length of the key in bytes").constant()
	keys      = arg("keys", "reference", "the key provider, such as `key_provider.pbkdf2.main`")
)

// text is an argument of an encryption block: a string that must be known early.
func text(name, about string) Argument { return arg(name, "string", about).constant() }

var methods = []Block{
	{Path: "aes_gcm", About: "AES in Galois counter mode.", Arguments: []Argument{keys.required(), arg("aad", "list(number)", "bytes that are authenticated too").constant()}},
	{Path: "external", About: "A program encrypts.", Arguments: []Argument{
		keys, arg("encrypt_command", "list(string)", "the program that encrypts, with its arguments").constant().required(),
		arg("decrypt_command", "list(string)", "the program that decrypts, with its arguments").constant().required(),
	}},
	{Path: "age", About: "The format of age.", Arguments: []Argument{
		arg("recipients", "list(string)", "public keys").constant().required(), text("identity", "the text of a file with private keys").secret(),
	}},
	{Path: "unencrypted", About: "Files stay readable."},
}

var keyProviders = []Block{
	{Path: "pbkdf2", About: "A key is derived from a passphrase.", Arguments: []Argument{
		text("passphrase", "the passphrase, of 16 characters or more").secret(), arg("chain", "reference", "a key provider whose key is used in place of a passphrase"),
		keyLength, arg("iterations", "number", "how often the passphrase is hashed; 600000 if absent").constant(),
		arg("salt_length", "number", "the length of the salt in bytes").constant(), text("hash_function", "the hash").values("sha512", "sha256"),
	}},
	{Path: "openbao", About: "A new key in each run, wrapped by a key of OpenBao's transit engine.", Arguments: []Argument{
		text("key_name", "the name of the transit key").required(), text("token", "how to authenticate; `BAO_TOKEN` if absent").secret(), text("address", "the server; `BAO_ADDR` if absent"),
		text("transit_engine_path", "where the engine is mounted; `/transit` if absent"), keyLength, text("associated_data", "data that is authenticated with the key"),
	}},
	{Path: "aws_kms", About: "A new key in each run, wrapped by a key of AWS. Credentials are found as by every program with AWS's SDK.", Arguments: []Argument{
		text("kms_key_id", "the key").required(), text("key_spec", "the kind of data key, such as `AES_256`").required(), arg("encryption_context", "map(string)", "data that is authenticated with the key").constant(),
		text("region", "the region"), text("profile", "the profile in the files of AWS"), text("access_key", "the ID of an access key"), text("secret_key", "its secret").secret(),
		text("token", "the token of a session").secret(), arg("endpoints", "map(string)", "`kms` and `sts`: where requests go").constant(),
		arg("skip_credentials_validation", "bool", "has no effect").constant(), arg("skip_requesting_account_id", "bool", "has no effect").constant(),
		arg("skip_region_validation", "bool", "has no effect").constant(), arg("max_retries", "number", "has no effect").constant(), text("retry_mode", "has no effect"),
		text("sts_region", "the region of the service that is asked for roles and accounts"), arg("use_fips_endpoint", "bool", "`true` uses servers that are validated for FIPS 140").constant(),
		arg("use_dualstack_endpoint", "bool", "`true` uses servers that have IPv6 too").constant(),
		arg("shared_config_files", "list(string)", "files in place of `~/.aws/config`").constant(),
		arg("shared_credentials_files", "list(string)", "files in place of `~/.aws/credentials`").constant(),
		text("ec2_metadata_service_endpoint", "the server that has the credentials of this virtual machine"),
		text("ec2_metadata_service_endpoint_mode", "which of the usual servers that is").values("IPv4", "IPv6"),
		arg("skip_metadata_api_check", "bool", "`true` does not look for credentials of this virtual machine").constant(),
		text("http_proxy", "the proxy for addresses with `http`"), text("https_proxy", "the proxy for addresses with `https`"),
		text("no_proxy", "hosts that are reached without a proxy, separated by commas"), arg("insecure", "bool", "`true` does not verify certificates").constant(),
		text("custom_ca_bundle", "a file with certificates, in PEM, that may sign those of the servers"),
		arg("allowed_account_ids", "list(string)", "the only accounts that the credentials may belong to").constant(),
		arg("forbidden_account_ids", "list(string)", "accounts that the credentials must not belong to").constant(),
		arg("assume_role", "object", "the role to assume: `role_arn`, `duration` and the like, as in the backend `s3`").constant(),
		arg("assume_role_with_web_identity", "object", "the role to assume with the token of another identity provider, as in the backend `s3`").constant(),
	}},
	{Path: "gcp_kms", About: "A new key in each run, wrapped by a key of Google Cloud.", Arguments: []Argument{
		text("kms_encryption_key", "the key: `projects/…/cryptoKeys/KEY`").required(), keyLength.required(), text("additional_authenticated_data", "data that is authenticated with the key"),
		text("credentials", "the JSON of a key, or a file with it; `GOOGLE_CREDENTIALS` if absent").secret(), text("access_token", "a token in place of credentials").secret(),
		text("impersonate_service_account", "the service account to act as"),
		arg("impersonate_service_account_delegates", "list(string)", "service accounts on the way to that one, in their order").constant(),
	}},
	{Path: "azure_vault", About: "A new key in each run, wrapped by the newest version of a key in a vault of Azure.", Arguments: azureVault},
	{Path: "static", About: "The key is in the configuration.", Arguments: []Argument{text("key", "the key in hexadecimal digits").required().secret()}},
	{Path: "xor", About: "The key is made of two keys of the same length.", Arguments: []Argument{arg("a", "reference", "a key provider").required(), arg("b", "reference", "another key provider").required()}},
	{Path: "external", About: "A program gives the key.", Arguments: []Argument{arg("command", "list(string)", "the program, with its arguments").constant().required()}},
}

var azureVault = []Argument{
	text("vault_uri", "the vault: `https://NAME.vault.azure.net`").required(), text("vault_key_name", "the name of the key").required(), keyLength.required(),
	arg("symmetric", "bool", "`true` for a key in a managed HSM that is not of RSA").constant(), arg("symmetric_key_size", "number", "the size of that key in bits").constant(),
	text("environment", "the cloud, such as `public`"), text("metadata_host", "the host that knows the addresses of another cloud"), text("subscription_id", "the subscription"),
	text("tenant_id", "the tenant"), text("client_id", "the principal"), text("client_id_file_path", "a file with the principal's ID"),
	text("client_secret", "the principal's secret").secret(), text("client_secret_file_path", "a file with the secret"),
	text("client_certificate", "the principal's certificate in base64").secret(), text("client_certificate_password", "the password of the certificate").secret(),
	text("client_certificate_path", "a file with the certificate"), arg("use_oidc", "bool", "`true` signs in with a token of OpenID Connect").constant(),
	arg("use_aks_workload_identity", "bool", "`true` signs in as the workload of a Kubernetes cluster").constant(), text("oidc_request_url", "where to ask for such a token"),
	text("oidc_request_token", "what to authenticate with there").secret(), text("oidc_token", "such a token").secret(), text("oidc_token_file_path", "a file with such a token"),
	arg("use_msi", "bool", "`true` signs in as the machine's managed identity").constant(), text("msi_endpoint", "has no effect: the environment variable `MSI_ENDPOINT` is read"),
	arg("use_cli", "bool", "`false` does not use the login of the Azure CLI").constant(),
}
