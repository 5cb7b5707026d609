package registrytest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// OAuth is the login service of a server. It issues the server's token.
type OAuth struct {
	// Grants are the grant types that it offers.
	Grants []string
	// User and Password belong to the only account.
	User, Password string
	// Fault is the service's misbehavior: "denied" refuses the login, "state" redirects first with another
	// state and then with the right one, "code" without a code, "reused" with one that is no longer valid,
	// "redirect" makes the token service redirect to another server, "broken" makes it answer 500 with a
	// text that must not be shown, "empty" makes it answer without a token.
	Fault string

	codes map[string]url.Values // the authorization requests, by code
}

// clientID is the service's ID for its client.
const clientID = "mayfly-cli"

// LoginHidden occurs in the service's answers when it is broken.
const LoginHidden = "internal-details-of-the-server"

// definition is the description of the login in service discovery. base is the server's address, "" if
// discovery is on the same server.
func (o *OAuth) definition(base string) object {
	return object{"client": clientID, "grant_types": o.Grants, "authz": base + "/oauth/authorize", "token": base + "/oauth/token", "ports": []int{20000, 40000}, "scopes": []string{"read", "write"}}
}

// authorize accepts every login and redirects the browser.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	valid := s.OAuth != nil && err == nil && back.Scheme == "http" && back.Hostname() == "localhost" && back.Path == "/login" && q.Get("client_id") == clientID &&
		q.Get("response_type") == "code" && q.Get("code_challenge_method") == "S256" && q.Get("code_challenge") != "" && q.Get("scope") == "read write" && q.Get("state") != ""
	if !valid {
		http.Error(w, "not a request that this client may make", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}}
	code := rand.Text()
	switch s.OAuth.Fault {
	case "denied":
		answer.Set("error", "access_denied")
	case "code":
	case "state":
		wrong := *back
		wrong.RawQuery = url.Values{"state": {"wrong"}, "code": {"forged"}}.Encode()
		if resp, err := http.Get(wrong.String()); err == nil {
			_ = resp.Body.Close() // the body is not used
		}
		fallthrough
	default:
		answer.Set("code", code)
		if s.OAuth.codes == nil {
			s.OAuth.codes = map[string]url.Values{}
		}
		if s.OAuth.Fault != "reused" {
			s.OAuth.codes[code] = q
		}
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token issues the token for a code, once and only to the client that began the login, or for the password.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"` + code + `","error_description":"` + LoginHidden + `"}`))
	}
	if s.OAuth == nil || r.ParseForm() != nil || r.PostForm.Get("client_id") != clientID {
		refuse("invalid_client")
		return
	}
	switch s.OAuth.Fault {
	case "redirect":
		http.Redirect(w, r, "https://elsewhere.invalid/token", http.StatusTemporaryRedirect)
		return
	case "broken":
		http.Error(w, LoginHidden, http.StatusInternalServerError)
		return
	case "empty":
		writeJSON(w, object{"token_type": "bearer", "note": LoginHidden})
		return
	}
	f := r.PostForm
	switch f.Get("grant_type") {
	case "authorization_code":
		began := s.OAuth.codes[f.Get("code")]
		delete(s.OAuth.codes, f.Get("code"))
		proof := sha256.Sum256([]byte(f.Get("code_verifier")))
		if began == nil || began.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(proof[:]) || began.Get("redirect_uri") != f.Get("redirect_uri") {
			refuse("invalid_grant")
			return
		}
	case "password":
		if f.Get("username") != s.OAuth.User || f.Get("password") != s.OAuth.Password {
			refuse("invalid_grant")
			return
		}
	default:
		refuse("unsupported_grant_type")
		return
	}
	writeJSON(w, object{"access_token": s.Token, "token_type": "bearer"})
}

// account returns the owner of the token, as hosts with a page for tokens do.
func (s *Server) account(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, object{"data": object{"attributes": object{"username": "ada"}}})
}

// LoginServices returns the server's service discovery with absolute addresses, in the language of the CLI
// configuration.
func (s *Server) LoginServices() string {
	base := "https://" + s.Host()
	if s.OAuth == nil {
		return `"tfe.v2" = "` + base + `/api/v2/"`
	}
	return `"login.v1" = { client = "` + clientID + `", grant_types = ["` + strings.Join(s.OAuth.Grants, `", "`) + `"], authz = "` + base + `/oauth/authorize", token = "` + base +
		`/oauth/token", ports = [20000, 40000], scopes = ["read", "write"] }`
}
