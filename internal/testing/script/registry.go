package script

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// otherPlatform is a platform besides the tests' own for which the registries have packages.
const otherPlatform = "plan9_mips"

// registry starts the registries, or changes those that run:
//
//	registry              starts them. CLI configurations for them are $REGISTRY_RC, which becomes the current one, $MIRROR_RC for the network
//	                      mirror, and $OCI_RC for the OCI mirror. The server is $REGISTRY, the key's id $REGISTRY_KEY.
//	registry token TEXT   demands a token.
//	registry module NAME VERSION DIR
//	                      publishes a module, NAMESPACE/NAME/SYSTEM, with the content of a directory: on the host of the providers and as the
//	                      OCI artifact $REGISTRY/NAMESPACE/NAME:VERSION. Its archive is https://$REGISTRY/plain/NAME/VERSION.zip.
//	registry unsigned     knows no key of the publisher; "registry signed" knows it again.
//	registry tamper       sends other archives than those that are signed.
//	registry broken       answers 503 to everything.
//	registry off          stops them.
//	registry login WORD   lets people log in: with a "code", with a "password", the password of internal/testing/script, or on a "page" for tokens. Any other word is a
//	                      fault of a login with a code. The home directory has a CLI configuration for the host then, and no other is in force.
func registry(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: registry [token TEXT | login WORD | module NAME VERSION DIR | signed | unsigned | tamper | broken | off]")
	}
	s, running := ts.Value("registry").(**registrytest.Server)
	if !running {
		ts.Fatalf("the script has no place for registries")
	}
	if len(args) == 0 {
		ts.Check(startRegistry(ts, s))
		return
	}
	switch {
	case *s == nil:
		ts.Fatalf("no registries are running")
	case args[0] == "token" && len(args) == 2:
		(*s).Change(func() { (*s).Token = args[1] })
	case args[0] == "module" && len(args) == 4:
		ts.Check(publishModule(ts, *s, args[1], args[2], ts.MkAbs(args[3])))
	case args[0] == "login" && len(args) == 2:
		ts.Check(loginService(ts, *s, args[1]))
	case args[0] == "unsigned":
		(*s).Change(func() { (*s).Published = nil })
	case args[0] == "signed":
		(*s).Change(func() { (*s).Published = []string{(*s).Key.Armor} })
	case args[0] == "tamper":
		evil := registrytest.Zip(map[string]string{"terraform-provider-sim": "#!/bin/sh\necho evil\n"})
		setHook(*s, func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, ".zip") && !strings.Contains(r.URL.Path, "/blobs/") {
				return false
			}
			_, _ = w.Write(evil)
			return true
		})
	case args[0] == "broken":
		setHook(*s, func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		})
	case args[0] == "off":
		(*s).Close()
	default:
		ts.Fatalf("usage: registry [token TEXT | login WORD | module NAME VERSION DIR | signed | unsigned | tamper | broken | off]")
	}
}

// setHook has a function answer the requests that follow.
func setHook(s *registrytest.Server, hook func(http.ResponseWriter, *http.Request) bool) {
	s.Change(func() { s.Hook = hook })
}

// publishModule packs a directory.
func publishModule(ts *testscript.TestScript, s *registrytest.Server, name, version, dir string) error {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		return err
	}
	archive := registrytest.Zip(files)
	path := "/plain/" + name + "/" + version + ".zip"
	s.AddFile(path, archive)
	s.AddModule(registrytest.Module{Name: name, Version: version, Location: path})
	repository := name[:strings.LastIndex(name, "/")]
	digest := s.AddArtifact(registrytest.Artifact{Repository: repository, Tag: version, Archive: archive})
	ts.Setenv("DIGEST", digest)
	return nil
}

func startRegistry(ts *testscript.TestScript, to **registrytest.Server) error {
	s, err := registrytest.Start()
	if err != nil {
		return err
	}
	*to = s
	ts.Defer(s.Close)
	source := strings.SplitN(simcloud.Source, "/", 2)
	for _, v := range versions {
		dir := filepath.Join(ts.Getenv("MIRROR"), filepath.FromSlash(simcloud.Source), v, runtime.GOOS+"_"+runtime.GOARCH)
		name := "terraform-provider-sim_v" + v
		wrapper, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		for _, platform := range []string{runtime.GOOS + "_" + runtime.GOARCH, otherPlatform} {
			text := fmt.Sprintf("%s# for %s\n", wrapper, platform)
			s.Add(registrytest.Package{Name: source[1], Version: v, Platform: platform, Archive: registrytest.Zip(map[string]string{name: text})})
		}
	}
	home := filepath.Join(ts.Getenv("WORK"), ownHome)
	certificate := filepath.Join(home, "ca.pem")
	if err := s.WriteCertificate(certificate); err != nil {
		return err
	}
	ts.Setenv("SSL_CERT_FILE", certificate)
	ts.Setenv("REGISTRY", s.Host())
	ts.Setenv("REGISTRY_KEY", s.Key.ID)
	host := fmt.Sprintf("host %q {\n  services = {\n    \"providers.v1\" = \"https://%s/v1/providers/\"\n    \"modules.v1\" = \"https://%s/v1/modules/\"\n  }\n}\n", source[0], s.Host(), s.Host())
	for name, text := range map[string]string{
		"REGISTRY_RC": "provider_installation {\n  direct {}\n}\n",
		"MIRROR_RC":   fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = \"https://%s/mirror/\"\n  }\n}\n", s.Host()),
		"OCI_RC":      fmt.Sprintf("provider_installation {\n  oci_mirror {\n    repository_template = \"%s/${namespace}/${type}\"\n    include = [\"%s/*/*\"]\n  }\n}\n", s.Host(), source[0]),
	} {
		path := filepath.Join(home, strings.ToLower(name)+".tfrc")
		if err := os.WriteFile(path, []byte(host+text), 0o644); err != nil {
			return err
		}
		ts.Setenv(name, path)
	}
	ts.Setenv("TF_CLI_CONFIG_FILE", ts.Getenv("REGISTRY_RC"))
	return nil
}
