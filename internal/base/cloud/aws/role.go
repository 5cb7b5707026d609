package aws

import (
	"context"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
)

// Role is a role to assume. It is assumed again before its credentials expire.
type Role struct {
	ARN            string
	Session        string        // its name; "" for one that is made up
	Duration       time.Duration // 0 for the role's default
	ExternalID     string
	Policy         string   // in JSON, which narrows the rights; "" for none
	Policies       []string // ARNs of policies that do the same
	Tags           map[string]string
	TransitiveTags []string

	// Token, or the content of TokenFile, is an identity of another provider that is exchanged for the role,
	// instead of the account's own credentials. Both are "" for none.
	Token, TokenFile string

	Server string // replaces the address of the service that AWS or the user's settings have; may be ""
}

// credentials returns the role's credentials.
func (r *Role) credentials(cfg sdk.Config) sdk.CredentialsProvider {
	client := sts.NewFromConfig(cfg, func(o *sts.Options) { o.BaseEndpoint = optional(r.Server) })
	var policies []types.PolicyDescriptorType
	for _, arn := range r.Policies {
		policies = append(policies, types.PolicyDescriptorType{Arn: sdk.String(arn)})
	}
	if r.Token != "" || r.TokenFile != "" {
		var token stscreds.IdentityTokenRetriever = stscreds.IdentityTokenFile(r.TokenFile)
		if r.Token != "" {
			token = identityToken(r.Token)
		}
		return sdk.NewCredentialsCache(stscreds.NewWebIdentityRoleProvider(client, r.ARN, token, func(o *stscreds.WebIdentityRoleOptions) {
			o.RoleSessionName, o.Duration, o.Policy, o.PolicyARNs = r.Session, r.Duration, optional(r.Policy), policies
		}))
	}
	return sdk.NewCredentialsCache(stscreds.NewAssumeRoleProvider(client, r.ARN, func(o *stscreds.AssumeRoleOptions) {
		if r.Session != "" {
			o.RoleSessionName = r.Session
		}
		o.Duration, o.ExternalID, o.Policy, o.PolicyARNs, o.TransitiveTagKeys = r.Duration, optional(r.ExternalID), optional(r.Policy), policies, r.TransitiveTags
		for key, value := range r.Tags {
			o.Tags = append(o.Tags, types.Tag{Key: sdk.String(key), Value: sdk.String(value)})
		}
	}))
}

// identityToken is the text of a token.
type identityToken string

// GetIdentityToken implements stscreds.IdentityTokenRetriever.
func (t identityToken) GetIdentityToken() ([]byte, error) { return []byte(t), nil }

// optional returns nil for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ID returns the number of the account that the credentials belong to. server replaces the address that AWS
// or the user's settings have; it may be "".
func (a *Account) ID(ctx context.Context, server string) (string, error) {
	client := sts.NewFromConfig(a.tokens, func(o *sts.Options) { o.BaseEndpoint = optional(server) })
	out, err := client.GetCallerIdentity(ctx, nil)
	if err != nil {
		return "", err
	}
	return sdk.ToString(out.Account), nil
}
