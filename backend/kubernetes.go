package backend

import "github.com/mayfly-iac/mayfly/schema"

// kubernetesKind keeps states as Secrets of a cluster, which is found in the files that kubectl reads or by
// the arguments themselves. The file and its context say where the state is, and so must not be secret.
var kubernetesKind = declare("kubernetes", arguments{
	"secret_suffix":            text().required().place(),
	"load_config_file":         boolean("KUBE_LOAD_CONFIG_FILE"),
	"labels":                   textMap(),
	"namespace":                text("KUBE_NAMESPACE").place(),
	"in_cluster_config":        boolean("KUBE_IN_CLUSTER_CONFIG"),
	"host":                     text("KUBE_HOST").place(),
	"username":                 text("KUBE_USER"),
	"password":                 text("KUBE_PASSWORD").secret(),
	"insecure":                 boolean("KUBE_INSECURE"),
	"client_certificate":       text("KUBE_CLIENT_CERT_DATA"),
	"client_key":               text("KUBE_CLIENT_KEY_DATA").secret(),
	"cluster_ca_certificate":   text("KUBE_CLUSTER_CA_CERT_DATA"),
	"config_path":              text("KUBE_CONFIG_PATH").place(),
	"config_paths":             texts("KUBE_CONFIG_PATHS").place(),
	"config_context":           text("KUBE_CTX").place(),
	"config_context_auth_info": text("KUBE_CTX_AUTH_INFO"),
	"config_context_cluster":   text("KUBE_CTX_CLUSTER").place(),
	"token":                    text("KUBE_TOKEN").secret(),
}, map[string]*schema.NestedBlock{
	"exec": block(schema.List, arguments{
		"api_version": text().required(),
		"command":     text().required(),
		"args":        texts(),
		"env":         textMap().secret(),
	}),
})
