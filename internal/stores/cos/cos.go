//go:build !mayfly_no_cos

// Package cos keeps states in COS of Tencent Cloud, as objects with the names of the backend "cos" of other
// engines, and under their locks, which are objects that are made while a tag exists.
//
// It may import backend, cloud, cloud/tencent, state/store, remote and objects. It must not know other
// configuration, plans, providers, or what a state contains.
package cos

import (
	"cmp"
	"net/http"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/cloud/tencent"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// defaultACL is the default of Options.ACL.
const defaultACL = "private"

// Options configure a service.
type Options struct {
	Account *tencent.Account // for tags
	Bucket  *cloud.Bucket
	Name    string // of the bucket
	Prefix  string // of the names of all objects, without a slash at its end; may be ""
	Key     string // that the names of states end with; objects.DefaultKey if ""
	ACL     string // a canned one; defaultACL if ""
	Encrypt bool   // on the server
}

// New returns a service. It contacts nothing.
func New(opt Options) *objects.Service {
	s := &objects.Service{
		Bucket: opt.Bucket, Scheme: "cos", Name: opt.Name, Prefix: opt.Prefix, Key: cmp.Or(opt.Key, objects.DefaultKey),
		Header: http.Header{"X-Cos-Acl": {cmp.Or(opt.ACL, defaultACL)}}, Create: "X-Cos-Forbid-Overwrite", Answers: answers,
	}
	if opt.Encrypt {
		s.Header.Set("X-Cos-Server-Side-Encryption", "AES256")
	}
	s.Lock = func(p remote.Place, name string) remote.Place {
		p.Lock = objects.NewLock(newLockFile(s, opt.Account, name+".tflock"))
		return p
	}
	return s
}

// answers say what the errors of the service mean.
var answers = objects.Answers{
	Missing: objects.NoSuchKey, Explain: objects.Hints(hints), Arguments: "\"bucket\" and \"region\"",
	Passes: func(e *cloud.Error) bool { return e.Passes() || busy[e.Code] },
}

const checkKeys = "Check the arguments \"secret_id\" and \"secret_key\", and the clock of this machine"

// hints say what to do about answers.
var hints = map[string]string{
	"NoSuchBucket":                      "Create the bucket, or check the arguments \"bucket\" and \"region\"",
	"InvalidAccessKeyId":                checkKeys,
	"SignatureDoesNotMatch":             checkKeys,
	"RequestTimeTooSkewed":              checkKeys,
	"AuthFailure.SecretIdNotFound":      checkKeys,
	"AuthFailure.SignatureFailure":      checkKeys,
	"AuthFailure.SignatureExpire":       checkKeys,
	"AuthFailure.TokenFailure":          "Check the argument \"security_token\"",
	"InvalidToken":                      "Check the argument \"security_token\"",
	"ExpiredToken":                      "Renew the credentials, or the argument \"security_token\"",
	"AccessDenied":                      "The credentials need the rights to list the bucket, and to get, put and delete the state, its lock and its journal",
	"AuthFailure.UnauthorizedOperation": "The credentials need the rights CreateTag and DeleteTag on the tag key \"tencentcloud-terraform-lock\"",
	"UnauthorizedOperation":             "The credentials need the rights CreateTag and DeleteTag on the tag key \"tencentcloud-terraform-lock\"",
}

// busy are codes of the services for tags and keys that may pass. Their answers have the status 200.
var busy = map[string]bool{"InternalError": true, "RequestLimitExceeded": true, "ServiceUnavailable": true, "LimitExceeded": true, "FailedOperation": true}
