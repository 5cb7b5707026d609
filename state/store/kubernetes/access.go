package kubernetes

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Access says where a cluster is, and who asks it. What is "" is taken from the files.
type Access struct {
	Files     []string // in the form of kubectl; the first that says something wins
	UserFiles bool     // read the files that kubectl reads, if Files is empty
	InCluster bool     // use the account of the pod that this program runs in, if Files is empty

	Context, ContextUser, ContextCluster string // of the files

	Host               string // a URL, or a host with a port
	Insecure           bool   // the certificate of the server is not verified
	CA                 string // the certificates, in PEM, that may sign that of the server
	Username, Password string
	ClientCertificate  string // in PEM, as is ClientKey
	ClientKey          string
	Token              string
	Exec               *Exec // nil for none
}

// Exec is a program that prints credentials.
type Exec struct {
	APIVersion, Command string
	Args                []string
	Env                 map[string]string
}

// config returns how the cluster is reached.
func (a Access) config() (*rest.Config, error) {
	if a.InCluster && len(a.Files) == 0 {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("the argument \"in_cluster_config\" is for programs in a pod: %w", err)
		}
		return config, nil
	}
	files, err := a.load()
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*files, a.Context, a.overrides(), nil).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("no cluster is configured. Set \"config_path\", \"config_paths\", \"in_cluster_config\" or \"host\", or one of the variables KUBE_CONFIG_PATH, KUBE_CONFIG_PATHS, KUBE_IN_CLUSTER_CONFIG and KUBE_HOST")
	case err != nil:
		return nil, fmt.Errorf("the arguments do not say how to reach a cluster: %w", err)
	}
	return config, nil
}

// load reads the files. Of several, those that do not exist are passed over, as kubectl does.
func (a Access) load() (*api.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: slices.Clone(a.Files)}
	argument := "config_paths"
	switch {
	case len(a.Files) == 1:
		argument = "config_path"
	case len(a.Files) == 0 && a.UserFiles:
		argument, rules = "load_config_file", clientcmd.NewDefaultClientConfigLoadingRules()
	}
	found := len(a.Files) == 0
	for i, path := range rules.Precedence {
		if rest, ok := strings.CutPrefix(path, "~"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, err
			}
			path = filepath.Join(home, rest)
		}
		rules.Precedence[i] = path
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			found = true
		}
	}
	if !found {
		return nil, fmt.Errorf("the argument %q names no file that exists: %s", argument, strings.Join(rules.Precedence, ", "))
	}
	config, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("the files of the argument %q cannot be read: %w", argument, err)
	}
	return config, nil
}

func (a Access) overrides() *clientcmd.ConfigOverrides {
	o := &clientcmd.ConfigOverrides{CurrentContext: a.Context}
	o.Context = api.Context{AuthInfo: a.ContextUser, Cluster: a.ContextCluster}
	o.ClusterInfo = api.Cluster{Server: a.Host, InsecureSkipTLSVerify: a.Insecure, CertificateAuthorityData: []byte(a.CA)}
	if a.Host != "" && !strings.Contains(a.Host, "://") {
		o.ClusterInfo.Server = "https://" + a.Host
	}
	o.AuthInfo = api.AuthInfo{
		ClientCertificateData: []byte(a.ClientCertificate), ClientKeyData: []byte(a.ClientKey),
		Token: a.Token, Username: a.Username, Password: a.Password,
	}
	if a.Exec != nil {
		e := &api.ExecConfig{APIVersion: a.Exec.APIVersion, Command: a.Exec.Command, Args: a.Exec.Args, InteractiveMode: api.IfAvailableExecInteractiveMode}
		for name, value := range a.Exec.Env {
			e.Env = append(e.Env, api.ExecEnvVar{Name: name, Value: value})
		}
		o.AuthInfo.Exec = e
	}
	return o
}

// newClient returns a client for the Secrets and Leases of a namespace. It follows no redirects, since
// credentials are for one server.
func newClient(a Access, namespace string) (*client, error) {
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	config.UserAgent = "mayfly"
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the argument \"host\", or the server in a file, is not a URL: %w", hideURL(err))
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("the certificates or credentials of the arguments, or those in a file, are not valid: %w", err)
	}
	return &client{
		http:      &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		server:    server,
		namespace: namespace,
	}, nil
}

// hideURL returns an error without the URL that it is about, which may have a password.
func hideURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
