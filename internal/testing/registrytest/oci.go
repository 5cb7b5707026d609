package registrytest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const (
	indexMedia    = "application/vnd.oci.image.index.v1+json"
	manifestMedia = "application/vnd.oci.image.manifest.v1+json"
)

// oci serves the packages as artifacts, in repositories NAMESPACE/TYPE.
func (s *Server) oci(w http.ResponseWriter, r *http.Request) {
	if s.Login != "" && r.Header.Get("Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(s.Login)) {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/v2/" {
		return // yes, this is a registry
	}
	if content, ok := s.plainFile(r.URL.Path); ok {
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", manifestMedia)
			w.Header().Set("Docker-Content-Digest", "sha256:"+Sum(content))
		}
		_, _ = w.Write(content)
		return
	}
	words := strings.Split(strings.TrimPrefix(r.URL.Path, "/v2/"), "/")
	if len(words) != 4 {
		http.NotFound(w, r)
		return
	}
	r.SetPathValue("ns", words[0])
	r.SetPathValue("type", words[1])
	packages := s.find(r, "")
	switch {
	case len(packages) == 0:
		http.NotFound(w, r)
	case words[2] == "tags":
		writeJSON(w, object{"name": words[0] + "/" + words[1], "tags": tags(packages)})
	case words[2] == "manifests":
		s.manifest(w, r, packages, words[3])
	default:
		for _, p := range packages {
			if "sha256:"+p.sum() == words[3] {
				_, _ = w.Write(p.Archive)
				return
			}
		}
		http.NotFound(w, r)
	}
}

func tags(packages []Package) []string {
	set := map[string]bool{"latest": true}
	for _, p := range packages {
		set[tag(p)] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func tag(p Package) string { return strings.ReplaceAll(p.Version, "+", "_") }

func (s *Server) manifest(w http.ResponseWriter, r *http.Request, packages []Package, reference string) {
	documents := map[string][]byte{}
	media := map[string]string{}
	put := func(name, kind string, text []byte) {
		documents[name], media[name] = text, kind
		documents["sha256:"+Sum(text)], media["sha256:"+Sum(text)] = text, kind
	}
	children := map[string][]object{}
	for _, p := range packages {
		text := encode(object{
			"schemaVersion": 2, "mediaType": manifestMedia, "artifactType": "application/vnd.opentofu.provider-target",
			"config": object{"mediaType": "application/vnd.oci.empty.v1+json", "digest": "sha256:" + Sum([]byte("{}")), "size": 2},
			"layers": []object{{"mediaType": "archive/zip", "digest": "sha256:" + p.sum(), "size": len(p.Archive)}},
		})
		put(tag(p)+p.Platform, manifestMedia, text)
		goos, arch, _ := strings.Cut(p.Platform, "_")
		children[tag(p)] = append(children[tag(p)], object{
			"mediaType": manifestMedia, "artifactType": "application/vnd.opentofu.provider-target", "digest": "sha256:" + Sum(text), "size": len(text),
			"platform": object{"os": goos, "architecture": arch},
		})
	}
	for name, list := range children {
		put(name, indexMedia, encode(object{"schemaVersion": 2, "mediaType": indexMedia, "artifactType": "application/vnd.opentofu.provider", "manifests": list}))
	}
	text, ok := documents[reference]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", media[reference])
	w.Header().Set("Docker-Content-Digest", "sha256:"+Sum(text))
	_, _ = w.Write(text)
}

func encode(doc any) []byte {
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err) // documents have strings and numbers only
	}
	return text
}
