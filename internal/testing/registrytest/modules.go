package registrytest

import (
	"cmp"
	"net/http"
	"slices"
)

// Module is one version of a module.
type Module struct {
	Name     string // NAMESPACE/NAME/SYSTEM
	Version  string
	Location string // the registry's answer; it may be relative to the request
	InBody   bool   // send it in a JSON body instead of a header
}

// AddModule publishes a version of a module in the registry.
func (s *Server) AddModule(m Module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modules = append(s.modules, m)
}

// AddFile serves a file at a path, without requiring a login.
func (s *Server) AddFile(path string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain == nil {
		s.plain = map[string][]byte{}
	}
	s.plain[path] = content
}

// Artifact is a package of modules in the registry of OCI artifacts.
type Artifact struct {
	Repository, Tag string
	Archive         []byte
	Type            string // of the artifact; "" for a package of modules
}

// AddArtifact publishes an artifact and returns its digest.
func (s *Server) AddArtifact(a Artifact) (digest string) {
	a.Type = cmp.Or(a.Type, "application/vnd.opentofu.modulepkg")
	text := encode(object{
		"schemaVersion": 2, "mediaType": manifestMedia, "artifactType": a.Type,
		"config": object{"mediaType": "application/vnd.oci.empty.v1+json", "digest": "sha256:" + Sum([]byte("{}")), "size": 2},
		"layers": []object{{"mediaType": "archive/zip", "digest": "sha256:" + Sum(a.Archive), "size": len(a.Archive)}},
	})
	digest = "sha256:" + Sum(text)
	base := "/v2/" + a.Repository
	s.AddFile(base+"/manifests/"+a.Tag, text)
	s.AddFile(base+"/manifests/"+digest, text)
	s.AddFile(base+"/blobs/sha256:"+Sum(a.Archive), a.Archive)
	return digest
}

// plainFile returns the content at a path.
func (s *Server) plainFile(path string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.plain[path]
	return content, ok
}

func (s *Server) findModules(r *http.Request) []Module {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("ns") + "/" + r.PathValue("name") + "/" + r.PathValue("system")
	return slices.DeleteFunc(slices.Clone(s.modules), func(m Module) bool { return m.Name != name })
}

func (s *Server) moduleVersions(w http.ResponseWriter, r *http.Request) {
	list := []object{}
	for _, m := range s.findModules(r) {
		list = append(list, object{"version": m.Version})
	}
	if len(list) == 0 {
		http.NotFound(w, r)
		return
	}
	writeJSON(w, object{"modules": []object{{"versions": list}}})
}

func (s *Server) moduleDownload(w http.ResponseWriter, r *http.Request) {
	for _, m := range s.findModules(r) {
		switch {
		case m.Version != r.PathValue("version"):
		case m.InBody:
			writeJSON(w, object{"location": m.Location})
			return
		default:
			w.Header().Set("X-Terraform-Get", m.Location)
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	http.NotFound(w, r)
}
