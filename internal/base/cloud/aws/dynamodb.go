package aws

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Table is a table of DynamoDB whose key is the text attribute LockID. It is safe for concurrent use.
type Table struct {
	account *Account
	address string
	name    string
}

// Table returns a table. server replaces the address that AWS or the user's settings have; it may be "".
func (a *Account) Table(ctx context.Context, name, server string) (*Table, error) {
	address := server
	if address == "" {
		var err error
		if address, err = a.regional(ctx, "dynamodb"); err != nil {
			return nil, err
		}
	}
	return &Table{a, strings.TrimSuffix(address, "/") + "/", name}, nil
}

// attribute is a value in the form of DynamoDB's documents.
type attribute struct {
	S string `json:"S"`
}

func attributes(i map[string]string) map[string]attribute {
	out := map[string]attribute{}
	for name, text := range i {
		out[name] = attribute{text}
	}
	return out
}

func key(id string) map[string]attribute { return map[string]attribute{"LockID": {id}} }

// Get returns the item with a key, as it is now on all of the table's servers; nil if there is none.
func (t *Table) Get(ctx context.Context, id string) (map[string]string, error) {
	var out struct {
		Item map[string]attribute
	}
	err := t.call(ctx, "GetItem", map[string]any{"TableName": t.name, "Key": key(id), "ConsistentRead": true}, &out)
	if err != nil || out.Item == nil {
		return nil, err
	}
	item := map[string]string{}
	for name, a := range out.Item {
		item[name] = a.S
	}
	return item, nil
}

// Put stores an item with these attributes besides its key. If it is to be new, and there is one with the
// same key, the error is cloud.ErrExists.
func (t *Table) Put(ctx context.Context, id string, columns map[string]string, isNew bool) error {
	item := attributes(columns)
	maps.Copy(item, key(id))
	in := map[string]any{"TableName": t.name, "Item": item}
	if isNew {
		in["ConditionExpression"] = "attribute_not_exists(LockID)"
	}
	err := t.call(ctx, "PutItem", in, nil)
	if cloud.Code(err) == "ConditionalCheckFailedException" {
		return cloud.ErrExists
	}
	return err
}

// Delete removes an item. One that does not exist is ignored.
func (t *Table) Delete(ctx context.Context, id string) error {
	return t.call(ctx, "DeleteItem", map[string]any{"TableName": t.name, "Key": key(id)}, nil)
}

func (t *Table) call(ctx context.Context, operation string, in, out any) error {
	answer, err := t.account.call(ctx, "dynamodb", t.address, "application/x-amz-json-1.0", "DynamoDB_20120810."+operation, in, refusedByTable)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

// refusedByTable returns the error that an answer describes.
func refusedByTable(resp *http.Response, body []byte) error {
	e := refusal(resp, body)
	if e.Code == "ResourceNotFoundException" {
		e.Hint = "Create the table with a key \"LockID\" of type String, or check the arguments \"dynamodb_table\" and \"region\""
	}
	return e
}
