//go:build !mayfly_no_oss

// Package oss keeps states in OSS of Alibaba Cloud, as objects with the names of the backend "oss" of other
// engines, and under their locks, which are rows in a table of Tablestore.
//
// It may import backend, cloud, cloud/alibaba, remote and objects. It must not know other configuration,
// plans, providers, or the content of states.
package oss

import (
	"cmp"
	"net/http"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/alibaba"
	"github.com/mayfly-iac/mayfly/internal/stores/objects"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
)

// defaultPrefix is the default of Options.Prefix.
const defaultPrefix = "env:"

// Options configure a service.
type Options struct {
	Bucket  *cloud.Bucket
	Name    string         // of the bucket
	Prefix  string         // of the names of all objects; defaultPrefix if ""
	Key     string         // that the names of states end with; objects.DefaultKey if ""
	Table   *alibaba.Table // for locks; nil for none
	ACL     string         // a canned one; "" for none
	Encrypt bool           // on the server
}

// New returns a service. It contacts nothing.
func New(opt Options) *objects.Service {
	s := &objects.Service{
		Bucket: opt.Bucket, Scheme: "oss", Name: opt.Name, Prefix: cmp.Or(opt.Prefix, defaultPrefix), Key: cmp.Or(opt.Key, objects.DefaultKey),
		Header: http.Header{}, Create: "X-Oss-Forbid-Overwrite", Answers: answers,
	}
	if opt.ACL != "" {
		s.Header.Set("X-Oss-Object-Acl", opt.ACL)
	}
	if opt.Encrypt {
		s.Header.Set("X-Oss-Server-Side-Encryption", "AES256")
	}
	if opt.Table != nil {
		s.Lock = func(p remote.Place, name string) remote.Place {
			return objects.WithTable(p, opt.Table, &s.Answers, opt.Name+"/"+name)
		}
	}
	return s
}

// answers classify the errors of the service.
var answers = objects.Answers{
	Missing: objects.NoSuchKey, Passes: (*cloud.Error).Passes, Explain: objects.Hints(hints),
	Arguments: "\"bucket\", \"region\", \"endpoint\" and \"tablestore_endpoint\"",
}

// hints are the advice for each error code.
var hints = map[string]string{
	"NoSuchBucket":          "Create the bucket, or check the arguments \"bucket\", \"region\" and \"endpoint\"",
	"InvalidAccessKeyId":    "Check the argument \"access_key\", or the credentials that the environment has",
	"SignatureDoesNotMatch": "Check the argument \"secret_key\", or the credentials that the environment has",
	"InvalidSecurityToken":  "Check the argument \"security_token\"",
	"SecurityTokenExpired":  "Renew the credentials, or the argument \"security_token\"",
	"AccessDenied":          "The credentials need the rights oss:ListObjects for the bucket, and oss:GetObject, oss:PutObject and oss:DeleteObject for the state and its journal. Check also the arguments \"region\" and \"endpoint\"",
	"OTSObjectNotExist":     "Create the table with a primary key \"LockID\" of type String, or check the arguments \"tablestore_table\" and \"tablestore_endpoint\"",
	"OTSInvalidPK":          "The table in the argument \"tablestore_table\" must have one primary key, \"LockID\" of type String",
	"OTSAuthFailed":         "Check the credentials, and the argument \"tablestore_endpoint\", which names an instance",
	"OTSNoPermissionAccess": "The credentials need the rights ots:GetRow, ots:PutRow and ots:DeleteRow for the table",
	"OTSParameterInvalid":   "Check the arguments \"tablestore_table\" and \"tablestore_endpoint\"",
	"RequestTimeTooSkewed":  "Set the clock of this machine",
}
