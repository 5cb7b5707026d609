package backend

import "github.com/mayfly-iac/mayfly/internal/values/schema"

// kubernetesKind keeps states as Secrets of a cluster, which is found in the files that kubectl reads or by
// the arguments themselves. The file and its context say where the state is, and so must not be secret.
var kubernetesKind = declare("kubernetes", arguments{
	"secret_suffix":            text().required().place().about("end of the name of the Secret: `tfstate-WORKSPACE-SUFFIX`"),
	"load_config_file":         boolean("KUBE_LOAD_CONFIG_FILE").about("read the files that kubectl reads, if `config_path` and `config_paths` are not set"),
	"labels":                   textMap().about("labels of the Secrets"),
	"namespace":                text("KUBE_NAMESPACE").place().about("namespace of the Secrets; `default` by default"),
	"in_cluster_config":        boolean("KUBE_IN_CLUSTER_CONFIG").about("use the account of the pod that this program runs in"),
	"host":                     text("KUBE_HOST").place().about("address of the API server"),
	"username":                 text("KUBE_USER").about("user for basic authentication"),
	"password":                 text("KUBE_PASSWORD").secret().about("password for basic authentication"),
	"insecure":                 boolean("KUBE_INSECURE").about("do not verify the certificate of the server: anyone in between can read and change the state"),
	"client_certificate":       text("KUBE_CLIENT_CERT_DATA").about("the client's certificate in PEM"),
	"client_key":               text("KUBE_CLIENT_KEY_DATA").secret().about("the key of that certificate in PEM"),
	"cluster_ca_certificate":   text("KUBE_CLUSTER_CA_CERT_DATA").about("certificates, in PEM, that may sign that of the server"),
	"config_path":              text("KUBE_CONFIG_PATH").place().about("file in the form of kubectl's"),
	"config_paths":             texts("KUBE_CONFIG_PATHS").place().about("several such files; the first that says something wins"),
	"config_context":           text("KUBE_CTX").place().about("context in the files"),
	"config_context_auth_info": text("KUBE_CTX_AUTH_INFO").about("user in the files, in place of that of the context"),
	"config_context_cluster":   text("KUBE_CTX_CLUSTER").place().about("cluster in the files, in place of that of the context"),
	"token":                    text("KUBE_TOKEN").secret().about("bearer token"),
}, map[string]*schema.NestedBlock{
	"exec": block(schema.List, "a program that prints credentials for the API server", arguments{
		"api_version": text().required().about("version of the protocol that the program speaks, such as `client.authentication.k8s.io/v1`"),
		"command":     text().required().about("program that prints credentials"),
		"args":        texts().about("its arguments"),
		"env":         textMap().secret().about("variables in its environment"),
	}),
})
