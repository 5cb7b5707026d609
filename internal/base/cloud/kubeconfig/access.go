// Package kubeconfig finds a cluster of Kubernetes and credentials for it as kubectl does: in kubeconfig
// files, in the pod that the program runs in, and from programs that print credentials.
//
// Start reading at Access. It may import safefile. It must not know the requests to a cluster.
package kubeconfig

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Access says where a cluster is, and who asks it. Empty fields are taken from the files.
type Access struct {
	Files     []string // in the form of kubectl; the first that says something wins
	UserFiles bool     // read the files that kubectl reads, if Files is empty
	InCluster bool     // use the account of the pod that this program runs in, if Files is empty

	Context, ContextUser, ContextCluster string // of the files

	Host               string // a URL, or a host with a port
	Insecure           bool   // the certificate of the server is not verified
	CA                 string // the certificates, in PEM, that may sign the server's
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

// Server is a cluster with credentials for it. Transport adds them to requests, and may be used concurrently.
type Server struct {
	URL       *url.URL
	Transport http.RoundTripper
}

// Find returns the server. It reads files and contacts nothing. An error names arguments of the backend
// "kubernetes", and has no credentials.
func (a Access) Find() (*Server, error) {
	c, u, err := a.choose()
	if err != nil {
		return nil, err
	}
	server, err := c.address(u)
	if err != nil {
		return nil, fmt.Errorf("the argument \"host\", or the server in a file, is not a URL: %w", err)
	}
	transport, err := newTransport(server, c, u)
	if err != nil {
		return nil, fmt.Errorf("the certificates or credentials of the arguments, or those in a file, are not valid: %w", err)
	}
	return &Server{server, transport}, nil
}

// choose returns the cluster and the user that the files and the arguments name.
func (a Access) choose() (*cluster, *user, error) {
	if a.InCluster && len(a.Files) == 0 {
		c, u, err := pod()
		if err != nil {
			return nil, nil, fmt.Errorf("the argument \"in_cluster_config\" is for programs in a pod: %w", err)
		}
		return c, u, nil
	}
	files, err := a.load()
	if err != nil {
		return nil, nil, err
	}
	c, u, err := a.among(files)
	if err == nil {
		a.override(c, u)
		if c.empty() {
			return nil, nil, errors.New("no cluster is configured. Set \"config_path\", \"config_paths\", \"in_cluster_config\" or \"host\", or one of the variables KUBE_CONFIG_PATH, KUBE_CONFIG_PATHS, KUBE_IN_CLUSTER_CONFIG and KUBE_HOST")
		}
		err = errors.Join(c.check(), u.check())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the arguments do not say how to reach a cluster: %w", err)
	}
	return c, u, nil
}

// among returns copies of the cluster and the user that a context names, empty ones if nothing names them.
func (a Access) among(files *config) (*cluster, *user, error) {
	var in namedContext
	if name := first(a.Context, files.CurrentContext); name != "" {
		var ok bool
		if in, ok = find(files.Contexts, name); !ok {
			return nil, nil, fmt.Errorf("context %q does not exist", name)
		}
	}
	c, u := namedCluster{}, namedUser{}
	if name := first(a.ContextCluster, in.Context.Cluster); name != "" {
		var ok bool
		if c, ok = find(files.Clusters, name); !ok {
			return nil, nil, fmt.Errorf("cluster %q does not exist", name)
		}
	}
	if name := first(a.ContextUser, in.Context.User); name != "" {
		var ok bool
		if u, ok = find(files.Users, name); !ok {
			return nil, nil, fmt.Errorf("user %q does not exist", name)
		}
	}
	return &c.Cluster, &u.User, nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// override lets the arguments win over the files.
func (a Access) override(c *cluster, u *user) {
	if a.Host != "" {
		c.Server = a.Host
		if !strings.Contains(a.Host, "://") {
			c.Server = "https://" + a.Host
		}
	}
	if a.Insecure || a.CA != "" {
		c.Insecure, c.CAFile, c.CA = a.Insecure, "", encoded(a.CA)
	}
	if a.Token != "" {
		u.Token, u.TokenFile = a.Token, ""
	}
	if a.Username != "" || a.Password != "" {
		u.Username, u.Password = first(a.Username, u.Username), first(a.Password, u.Password)
	}
	if a.ClientCertificate != "" {
		u.CertificateFile, u.Certificate = "", encoded(a.ClientCertificate)
	}
	if a.ClientKey != "" {
		u.KeyFile, u.Key = "", encoded(a.ClientKey)
	}
	if a.Exec != nil {
		u.Exec = &program{APIVersion: a.Exec.APIVersion, Command: a.Exec.Command, Args: a.Exec.Args, InteractiveMode: ifAvailable}
		for name, value := range a.Exec.Env {
			u.Exec.Env = append(u.Exec.Env, variable{name, value})
		}
	}
}

// serviceAccount is where a pod finds its account.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// pod returns the cluster of the pod that this program runs in, and its account.
func pod() (*cluster, *user, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, nil, errors.New("the variables KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
	}
	u := &user{TokenFile: filepath.Join(serviceAccount, "token")}
	if _, err := os.Stat(u.TokenFile); err != nil {
		return nil, nil, err
	}
	c := &cluster{Server: "https://" + net.JoinHostPort(host, port)}
	if ca := filepath.Join(serviceAccount, "ca.crt"); exists(ca) {
		c.CAFile = ca
	}
	return c, u, nil
}
