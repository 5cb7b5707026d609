package kubernetes

import (
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Kind keeps states as Secrets of a cluster, which is found in the files that kubectl reads or by
// the arguments themselves. The file and its context say where the state is, and so must not be secret.
var Kind = backend.Declare("kubernetes", backend.Arguments{
	"secret_suffix":            backend.Text().Required().Place().About("end of the name of the Secret: `tfstate-WORKSPACE-SUFFIX`"),
	"load_config_file":         backend.Boolean("KUBE_LOAD_CONFIG_FILE").About("read the files that kubectl reads, if `config_path` and `config_paths` are not set"),
	"labels":                   backend.TextMap().About("labels of the Secrets"),
	"namespace":                backend.Text("KUBE_NAMESPACE").Place().About("namespace of the Secrets; `default` by default"),
	"in_cluster_config":        backend.Boolean("KUBE_IN_CLUSTER_CONFIG").About("use the account of the pod that this program runs in"),
	"host":                     backend.Text("KUBE_HOST").Place().About("address of the API server"),
	"username":                 backend.Text("KUBE_USER").About("user for basic authentication"),
	"password":                 backend.Text("KUBE_PASSWORD").Secret().About("password for basic authentication"),
	"insecure":                 backend.Boolean("KUBE_INSECURE").About("do not verify the certificate of the server: anyone in between can read and change the state"),
	"client_certificate":       backend.Text("KUBE_CLIENT_CERT_DATA").About("the client's certificate in PEM"),
	"client_key":               backend.Text("KUBE_CLIENT_KEY_DATA").Secret().About("the key of that certificate in PEM"),
	"cluster_ca_certificate":   backend.Text("KUBE_CLUSTER_CA_CERT_DATA").About("certificates, in PEM, that may sign that of the server"),
	"config_path":              backend.Text("KUBE_CONFIG_PATH").Place().About("file in the form of kubectl's"),
	"config_paths":             backend.Texts("KUBE_CONFIG_PATHS").Place().About("several such files; the first that says something wins"),
	"config_context":           backend.Text("KUBE_CTX").Place().About("context in the files"),
	"config_context_auth_info": backend.Text("KUBE_CTX_AUTH_INFO").About("user in the files, in place of that of the context"),
	"config_context_cluster":   backend.Text("KUBE_CTX_CLUSTER").Place().About("cluster in the files, in place of that of the context"),
	"token":                    backend.Text("KUBE_TOKEN").Secret().About("bearer token"),
}, map[string]*schema.NestedBlock{
	"exec": backend.Block(schema.List, "a program that prints credentials for the API server", backend.Arguments{
		"api_version": backend.Text().Required().About("version of the protocol that the program speaks, such as `client.authentication.k8s.io/v1`"),
		"command":     backend.Text().Required().About("program that prints credentials"),
		"args":        backend.Texts().About("its arguments"),
		"env":         backend.TextMap().Secret().About("variables in its environment"),
	}),
}, opener{}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
