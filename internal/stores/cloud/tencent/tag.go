package tencent

import (
	"context"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

var tags = service{"tag", "2018-08-13"}

type tag struct{ TagKey, TagValue string }

// CreateTag makes a tag of the account. It fails with cloud.ErrExists if there is one like it.
func (a *Account) CreateTag(ctx context.Context, key, value string) error {
	return a.actOnTag(ctx, "CreateTag", tag{key, value}, "ResourceInUse.TagDuplicate", cloud.ErrExists)
}

// DeleteTag removes a tag of the account. One that does not exist is ignored.
func (a *Account) DeleteTag(ctx context.Context, key, value string) error {
	return a.actOnTag(ctx, "DeleteTag", tag{key, value}, "ResourceNotFound.TagNonExist", nil)
}

// actOnTag calls an operation. An answer with the code expected has the meaning of an error.
func (a *Account) actOnTag(ctx context.Context, action string, t tag, expected string, meaning error) error {
	keys, err := a.current(ctx)
	if err != nil {
		return err
	}
	err = a.act(ctx, keys, tags, action, t, nil)
	if cloud.Code(err) == expected {
		return meaning
	}
	return err
}
