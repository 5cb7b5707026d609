package registrytest

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
)

// Package is one package of a provider.
type Package struct {
	Name     string // NAMESPACE/TYPE
	Version  string
	Platform string // OS_ARCH
	Archive  []byte
}

// file returns the usual file name of a package.
func (p Package) file() string {
	return fmt.Sprintf("terraform-provider-%s_%s_%s.zip", p.Name[strings.LastIndex(p.Name, "/")+1:], p.Version, p.Platform)
}

func (p Package) sum() string { return Sum(p.Archive) }

// Sum returns the SHA-256 of a text, in hexadecimal.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Zip returns an archive of files with their contents; all are executable.
func Zip(files map[string]string) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(0o755)
		entry, err := w.CreateHeader(h)
		if err == nil {
			_, err = entry.Write([]byte(files[name]))
		}
		if err != nil {
			panic(err) // writing to memory cannot fail
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// Request has the fields of a request that tests check.
type Request struct {
	Path, Authorization, Referer, Agent string
}

// Server is all the registries. Its exported fields may be changed while no request is in progress, within
// Change once there has been one.
type Server struct {
	*httptest.Server
	// Key signs the checksums.
	Key *Key
	// Published are the publisher's keys according to the registry, in ASCII armor.
	Published []string
	// Protocols are the versions of the plugin protocol of each provider version, unless they are 5.0.
	Protocols map[string][]string
	// Token is the bearer token that the registry and the mirror require, "" for none. Files require no
	// token.
	Token string
	// OAuth is the login service. If it is nil, the server has a page for tokens instead.
	OAuth *OAuth
	// Login is the "user:password" that the OCI registry requires, "" for none.
	Login string
	// Warnings are sent with each list of versions.
	Warnings []string
	// NoHashes makes the network mirror omit checksums.
	NoHashes bool
	// Hook may answer a request instead of the server, and then returns true.
	Hook func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	packages []Package
	modules  []Module
	plain    map[string][]byte // by path
	requests []Request
}

// Start starts a server without packages. The caller closes it.
func Start() (*Server, error) {
	key, err := NewKey()
	if err != nil {
		return nil, err
	}
	s := &Server{Key: key, Published: []string{key.Armor}, Protocols: map[string][]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/terraform.json", s.discovery)
	mux.HandleFunc("GET /v1/providers/{ns}/{type}/versions", s.closed(s.versions))
	mux.HandleFunc("GET /v1/providers/{ns}/{type}/{version}/download/{os}/{arch}", s.closed(s.download))
	mux.HandleFunc("GET /files/{ns}/{type}/{version}/{name}", s.file)
	mux.HandleFunc("GET /mirror/{host}/{ns}/{type}/{name}", s.closed(s.mirror))
	mux.HandleFunc("GET /v2/", s.oci)
	mux.HandleFunc("GET /v1/modules/{ns}/{name}/{system}/versions", s.closed(s.moduleVersions))
	mux.HandleFunc("GET /v1/modules/{ns}/{name}/{system}/{version}/download", s.closed(s.moduleDownload))
	mux.HandleFunc("GET /plain/", func(w http.ResponseWriter, r *http.Request) {
		content, ok := s.plainFile(r.URL.Path)
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	})
	mux.HandleFunc("GET /oauth/authorize", s.authorize)
	mux.HandleFunc("POST /oauth/token", s.token)
	mux.HandleFunc("GET /api/v2/account/details", s.closed(s.account))
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, Request{Path: r.URL.Path, Authorization: r.Header.Get("Authorization"), Referer: r.Referer(), Agent: r.UserAgent()})
		s.mu.Unlock()
		if s.Hook != nil && s.Hook(w, r) {
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = nil
	s.StartTLS()
	return s, nil
}

// Change calls f, which changes fields of s for the requests that follow.
func (s *Server) Change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Add publishes a package in all registries.
func (s *Server) Add(p Package) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packages = append(s.packages, p)
}

// Requests returns the requests since the last call.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

// Host returns the address in the form HOST:PORT.
func (s *Server) Host() string { return s.Listener.Addr().String() }

// WriteCertificate writes the certificate that clients must trust to a file.
func (s *Server) WriteCertificate(path string) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644)
}

// Transport returns one that trusts the server and takes it for example.com, and reaches other addresses as
// they are.
func (s *Server) Transport() http.RoundTripper {
	t := s.Client().Transport.(*http.Transport).Clone()
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == "example.com:443" {
			address = s.Host()
		}
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	return t
}

// find returns the packages of a provider, of one version unless that is "".
func (s *Server) find(r *http.Request, version string) []Package {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("ns") + "/" + r.PathValue("type")
	return slices.DeleteFunc(slices.Clone(s.packages), func(p Package) bool {
		return p.Name != name || version != "" && p.Version != version
	})
}

// closed makes a handler that demands the token.
func (s *Server) closed(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		f(w, r)
	}
}

func writeJSON(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc) // a client that has gone needs no answer
}

type object = map[string]any

func (s *Server) discovery(w http.ResponseWriter, _ *http.Request) {
	services := object{"providers.v1": "/v1/providers/", "modules.v1": "/v1/modules/", "tfe.v2": "/api/v2/"}
	if s.OAuth != nil {
		delete(services, "tfe.v2")
		services["login.v1"] = s.OAuth.definition("")
	}
	writeJSON(w, services)
}

func (s *Server) versions(w http.ResponseWriter, r *http.Request) {
	platforms := map[string][]object{}
	for _, p := range s.find(r, "") {
		goos, arch, _ := strings.Cut(p.Platform, "_")
		platforms[p.Version] = append(platforms[p.Version], object{"os": goos, "arch": arch})
	}
	if len(platforms) == 0 {
		http.NotFound(w, r)
		return
	}
	var list []object
	for _, v := range slices.Sorted(maps.Keys(platforms)) {
		list = append(list, object{"version": v, "protocols": s.protocols(v), "platforms": platforms[v]})
	}
	writeJSON(w, object{"versions": list, "warnings": s.Warnings})
}

func (s *Server) protocols(version string) []string {
	if p, ok := s.Protocols[version]; ok {
		return p
	}
	return []string{"5.0"}
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	for _, p := range s.find(r, r.PathValue("version")) {
		if p.Platform != r.PathValue("os")+"_"+r.PathValue("arch") {
			continue
		}
		keys := []object{}
		for _, armor := range s.Published {
			keys = append(keys, object{"key_id": s.Key.ID, "ascii_armor": armor})
		}
		base := "/files/" + p.Name + "/" + p.Version + "/"
		writeJSON(w, object{
			"protocols": s.protocols(p.Version), "os": r.PathValue("os"), "arch": r.PathValue("arch"), "filename": p.file(), "shasum": p.sum(),
			"download_url": base + p.file(), "shasums_url": base + "SHA256SUMS", "shasums_signature_url": base + "SHA256SUMS.sig",
			"signing_keys": object{"gpg_public_keys": keys},
		})
		return
	}
	http.NotFound(w, r)
}

// sums is the checksum document of packages of one version.
func sums(packages []Package) []byte {
	var buf bytes.Buffer
	for _, p := range packages {
		fmt.Fprintf(&buf, "%s  %s\n", p.sum(), p.file())
	}
	return buf.Bytes()
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	packages := s.find(r, r.PathValue("version"))
	switch name := r.PathValue("name"); name {
	case "SHA256SUMS":
		_, _ = w.Write(sums(packages))
	case "SHA256SUMS.sig":
		_, _ = w.Write(s.Key.Sign(sums(packages)))
	default:
		serve(w, r, packages, name)
	}
}

func serve(w http.ResponseWriter, r *http.Request, packages []Package, name string) {
	for _, p := range packages {
		if p.file() == name {
			w.Header().Set("Content-Length", fmt.Sprint(len(p.Archive)))
			_, _ = w.Write(p.Archive)
			return
		}
	}
	http.NotFound(w, r)
}

func (s *Server) mirror(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	version, isJSON := strings.CutSuffix(name, ".json")
	switch packages := s.find(r, ""); {
	case len(packages) == 0:
		http.NotFound(w, r)
	case name == "index.json":
		list := object{}
		for _, p := range packages {
			list[p.Version] = object{}
		}
		writeJSON(w, object{"versions": list})
	case isJSON:
		archives := object{}
		for _, p := range s.find(r, version) {
			archive := object{"url": p.file(), "hashes": []string{"zh:" + p.sum()}}
			if s.NoHashes {
				delete(archive, "hashes")
			}
			archives[p.Platform] = archive
		}
		writeJSON(w, object{"archives": archives})
	default:
		serve(w, r, packages, name)
	}
}
