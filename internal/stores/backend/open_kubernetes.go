//go:build !mayfly_no_kubernetes

package backend

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud/kubeconfig"
	"github.com/mayfly-iac/mayfly/internal/stores/kubernetes"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

func init() {
	kubernetesKind.service = service{open: openKubernetes, place: kubernetesPlace}
}

// openKubernetes opens the Secrets of a namespace, which the files may name if the argument does not.
func openKubernetes(_ context.Context, cfg cty.Value, env Env) (store.Store, error) {
	s, err := kubernetes.New(kubernetes.Options{
		Suffix: textOr(cfg, "secret_suffix", ""), Namespace: textOr(cfg, "namespace", ""), Labels: textMapOf(cfg, "labels"),
		Access: kubernetesAccess(cfg, env),
	})
	if err != nil {
		return nil, inBackend("kubernetes", err)
	}
	return remote.New(s, env.remote()), nil
}

// kubernetesAccess returns where the cluster is. Relative paths start from the directory of the
// configuration, as those of other arguments do.
func kubernetesAccess(cfg cty.Value, env Env) kubeconfig.Access {
	files := textsOf(cfg, "config_paths")
	if file := textOr(cfg, "config_path", ""); file != "" {
		files = []string{file}
	}
	for i, file := range files {
		if !filepath.IsAbs(file) && !strings.HasPrefix(file, "~") {
			files[i] = filepath.Join(env.Dir, file)
		}
	}
	a := kubeconfig.Access{
		Files: files, UserFiles: isTrue(cfg, "load_config_file"), InCluster: isTrue(cfg, "in_cluster_config"),
		Context: textOr(cfg, "config_context", ""), ContextUser: textOr(cfg, "config_context_auth_info", ""), ContextCluster: textOr(cfg, "config_context_cluster", ""),
		Host: textOr(cfg, "host", ""), Insecure: isTrue(cfg, "insecure"), CA: textOr(cfg, "cluster_ca_certificate", ""),
		Username: textOr(cfg, "username", ""), Password: textOr(cfg, "password", ""), Token: textOr(cfg, "token", ""),
		ClientCertificate: textOr(cfg, "client_certificate", ""), ClientKey: textOr(cfg, "client_key", ""),
	}
	if exec := cfg.GetAttr("exec"); !exec.IsNull() && exec.LengthInt() > 0 {
		e := exec.AsValueSlice()[0]
		a.Exec = &kubeconfig.Exec{APIVersion: textOr(e, "api_version", ""), Command: textOr(e, "command", ""), Args: textsOf(e, "args"), Env: textMapOf(e, "env")}
	}
	return a
}

// kubernetesPlace names the Secret of the default workspace.
func kubernetesPlace(cfg cty.Value) string {
	return "the Secret tfstate-" + store.DefaultWorkspace + "-" + textOr(cfg, "secret_suffix", "") + " in the namespace \"" + textOr(cfg, "namespace", kubernetes.DefaultNamespace) + "\" of Kubernetes"
}
