package kubeconfig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// config is the content of kubeconfig files. Others of their elements make no difference to requests.
type config struct {
	Kind           string         `yaml:"kind"`
	CurrentContext string         `yaml:"current-context"`
	Clusters       []namedCluster `yaml:"clusters"`
	Users          []namedUser    `yaml:"users"`
	Contexts       []namedContext `yaml:"contexts"`
}

type namedCluster struct {
	Name    string  `yaml:"name"`
	Cluster cluster `yaml:"cluster"`
}

type cluster struct {
	Server             string           `yaml:"server"`
	ServerName         string           `yaml:"tls-server-name"`
	Insecure           bool             `yaml:"insecure-skip-tls-verify"`
	CAFile             string           `yaml:"certificate-authority"`
	CA                 encoding         `yaml:"certificate-authority-data"`
	Proxy              string           `yaml:"proxy-url"`
	DisableCompression bool             `yaml:"disable-compression"`
	Extensions         []namedExtension `yaml:"extensions"`
}

type namedExtension struct {
	Name      string `yaml:"name"`
	Extension any    `yaml:"extension"`
}

type namedUser struct {
	Name string `yaml:"name"`
	User user   `yaml:"user"`
}

type user struct {
	CertificateFile string              `yaml:"client-certificate"`
	Certificate     encoding            `yaml:"client-certificate-data"`
	KeyFile         string              `yaml:"client-key"`
	Key             encoding            `yaml:"client-key-data"`
	Token           string              `yaml:"token"`
	TokenFile       string              `yaml:"tokenFile"`
	As              string              `yaml:"as"`
	AsUID           string              `yaml:"as-uid"`
	AsGroups        []string            `yaml:"as-groups"`
	AsExtra         map[string][]string `yaml:"as-user-extra"`
	Username        string              `yaml:"username"`
	Password        string              `yaml:"password"`
	Provider        *struct {
		Name string `yaml:"name"`
	} `yaml:"auth-provider"`
	Exec *program `yaml:"exec"`
}

type namedContext struct {
	Name    string `yaml:"name"`
	Context struct {
		Cluster string `yaml:"cluster"`
		User    string `yaml:"user"`
	} `yaml:"context"`
}

// encoding is a text that a file has in base64.
type encoding string

func encoded(text string) encoding { return encoding(base64.StdEncoding.EncodeToString([]byte(text))) }

func (e encoding) decode() ([]byte, error) {
	text, err := base64.StdEncoding.DecodeString(string(e))
	if err != nil {
		return nil, errors.New("certificates and keys in a file are in base64") // and err may show parts of them
	}
	return text, nil
}

// named is an element of a list by names.
type named interface{ name() string }

func (n namedCluster) name() string { return n.Name }
func (n namedUser) name() string    { return n.Name }
func (n namedContext) name() string { return n.Name }

// find returns the first element of that name, since the first file wins.
func find[N named](list []N, name string) (found N, ok bool) {
	for _, n := range list {
		if n.name() == name {
			return n, true
		}
	}
	return found, false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// paths returns the files to read, and the argument that asks for them.
func (a Access) paths() (paths []string, argument string, err error) {
	paths, argument = slices.Clone(a.Files), "config_paths"
	switch {
	case len(paths) == 1:
		argument = "config_path"
	case len(paths) == 0 && a.UserFiles:
		argument = "load_config_file"
		if paths = filepath.SplitList(os.Getenv("KUBECONFIG")); len(paths) == 0 {
			paths = []string{"~/.kube/config"}
		}
	}
	for i, path := range paths {
		if rest, ok := strings.CutPrefix(path, "~"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, argument, err
			}
			paths[i] = filepath.Join(home, rest)
		}
	}
	return paths, argument, nil
}

// load reads the files. Of several, those that do not exist are passed over, as kubectl does.
func (a Access) load() (*config, error) {
	paths, argument, err := a.paths()
	if err != nil {
		return nil, err
	}
	if len(a.Files) > 0 && !slices.ContainsFunc(paths, exists) {
		return nil, fmt.Errorf("the argument %q names no file that exists: %s", argument, strings.Join(paths, ", "))
	}
	all := &config{}
	for _, path := range paths {
		if path == "" || !exists(path) {
			continue
		}
		one, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("the files of the argument %q cannot be read: %w", argument, err)
		}
		all.CurrentContext = first(all.CurrentContext, one.CurrentContext)
		all.Clusters = append(all.Clusters, one.Clusters...)
		all.Users = append(all.Users, one.Users...)
		all.Contexts = append(all.Contexts, one.Contexts...)
	}
	return all, nil
}

// maxFile bounds the size of a file in bytes.
const maxFile = 16 << 20

// read reads a file. Relative paths in it start from its directory.
func read(path string) (*config, error) {
	data, err := safefile.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	c := &config{}
	if err := yaml.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, hideValues(err))
	}
	if c.Kind != "" && c.Kind != "Config" {
		return nil, fmt.Errorf("%s: it has the kind %q, and that of a kubeconfig file is \"Config\"", path, c.Kind)
	}
	dir := filepath.Dir(path)
	for i := range c.Clusters {
		resolve(dir, &c.Clusters[i].Cluster.CAFile)
	}
	for i := range c.Users {
		u := &c.Users[i].User
		resolve(dir, &u.CertificateFile, &u.KeyFile, &u.TokenFile)
		if u.Exec != nil {
			if u.Exec.InteractiveMode == "" && u.Exec.APIVersion == v1beta1 {
				u.Exec.InteractiveMode = ifAvailable
			}
			if strings.ContainsRune(u.Exec.Command, filepath.Separator) { // others are found in PATH
				resolve(dir, &u.Exec.Command)
			}
		}
	}
	return c, nil
}

// hideValues returns the error of a file without values, which may be secret.
func hideValues(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return err
	}
	var places []string
	for _, text := range wrong.Errors {
		place, _, _ := strings.Cut(text, ":")
		places = append(places, place)
	}
	return fmt.Errorf("it is not a kubeconfig file: values have the wrong type (%s)", strings.Join(places, ", "))
}

func resolve(dir string, paths ...*string) {
	for _, path := range paths {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
}

// empty reports whether nothing is said about a cluster.
func (c *cluster) empty() bool {
	return c.Server == "" && c.ServerName == "" && !c.Insecure && c.CAFile == "" && c.CA == "" && c.Proxy == ""
}

func (c *cluster) check() error {
	if c.Server == "" {
		return errors.New("the cluster has no server")
	}
	return nil
}

func (u *user) check() error {
	switch {
	case u.Token != "" && (u.Username != "" || u.Password != ""):
		return errors.New("the user has a token and a password, of which only one can be sent")
	case (u.Certificate != "" || u.CertificateFile != "") && u.Key == "" && u.KeyFile == "":
		return errors.New("the user has a certificate without its key")
	case u.As == "" && (u.AsUID != "" || len(u.AsGroups) > 0 || len(u.AsExtra) > 0):
		return errors.New("the user is to act in other groups, but not as another user (\"as\")")
	case u.Exec != nil && u.Provider != nil:
		return errors.New("the user has both \"exec\" and \"auth-provider\"")
	case u.Exec != nil:
		return u.Exec.check()
	}
	return nil
}
