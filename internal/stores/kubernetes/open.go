//go:build !mayfly_no_kubernetes

package kubernetes

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/kubeconfig"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Service hides LeftOut.Service.
func (opener) Service() backend.Service {
	return backend.Service{Connect: connect, Place: placeOf}
}

// connect opens the Secrets of a namespace, which the files may name if the argument does not.
func connect(_ context.Context, cfg backend.Config, env backend.Env) (remote.Service, error) {
	s, err := New(Options{
		Suffix: cfg.Text("secret_suffix"), Namespace: cfg.Text("namespace"), Labels: cfg.TextMap("labels"),
		Access: accessOf(cfg, env),
	})
	return s, backend.In("kubernetes", err)
}

// accessOf returns where the cluster is. Relative paths start from the directory of the configuration, as in
// other arguments.
func accessOf(cfg backend.Config, env backend.Env) kubeconfig.Access {
	files := cfg.Texts("config_paths")
	if file := cfg.Text("config_path"); file != "" {
		files = []string{file}
	}
	for i, file := range files {
		if !filepath.IsAbs(file) && !strings.HasPrefix(file, "~") {
			files[i] = filepath.Join(env.Dir, file)
		}
	}
	a := kubeconfig.Access{
		Files: files, UserFiles: cfg.Flag("load_config_file"), InCluster: cfg.Flag("in_cluster_config"),
		Context: cfg.Text("config_context"), ContextUser: cfg.Text("config_context_auth_info"), ContextCluster: cfg.Text("config_context_cluster"),
		Host: cfg.Text("host"), Insecure: cfg.Flag("insecure"), CA: cfg.Text("cluster_ca_certificate"),
		Username: cfg.Text("username"), Password: cfg.Text("password"), Token: cfg.Text("token"),
		ClientCertificate: cfg.Text("client_certificate"), ClientKey: cfg.Text("client_key"),
	}
	if e, ok := cfg.Nested("exec"); ok {
		a.Exec = &kubeconfig.Exec{APIVersion: e.Text("api_version"), Command: e.Text("command"), Args: e.Texts("args"), Env: e.TextMap("env")}
	}
	return a
}

// placeOf names the Secret of the default workspace.
func placeOf(cfg backend.Config) string {
	return "the Secret tfstate-" + store.DefaultWorkspace + "-" + cfg.Text("secret_suffix") + " in the namespace \"" + cfg.TextOr("namespace", defaultNamespace) + "\" of Kubernetes"
}
