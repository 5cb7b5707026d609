package alibaba

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the checksum that the service defines
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Table is a table of Tablestore whose primary key is one text. It is safe for concurrent use.
type Table struct {
	account  *Account
	server   string
	instance string
	name     string
	key      string // name of the primary key
}

// Table returns a table. server is the address of its instance, which begins with the instance's name.
func (a *Account) Table(server, name, key string) (*Table, error) {
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a server", server)
	}
	instance, _, _ := strings.Cut(u.Host, ".")
	return &Table{a, strings.TrimSuffix(server, "/"), instance, name, key}, nil
}

// Expectations of a write.
const (
	ignore         = 0
	expectNotExist = 2
)

// Put writes a row with text in its columns. If fresh is set, it fails with cloud.ErrExists if there is one.
func (t *Table) Put(ctx context.Context, id string, columns map[string]string, fresh bool) error {
	var condition uint64 = ignore
	if fresh {
		condition = expectNotExist
	}
	_, err := t.call(ctx, "/PutRow", putRow(t.key, id, columns), condition)
	return err
}

// Get returns the columns of a row that have text; nil if there is none.
func (t *Table) Get(ctx context.Context, id string) (map[string]string, error) {
	body, err := t.call(ctx, "/GetRow", keyRow(t.key, id, false), noCondition)
	if err != nil {
		return nil, err
	}
	row, err := field(body, rowField)
	if err != nil || len(row) == 0 {
		return nil, err
	}
	return readRow(row)
}

// Delete removes a row. One that does not exist is ignored.
func (t *Table) Delete(ctx context.Context, id string) error {
	_, err := t.call(ctx, "/DeleteRow", keyRow(t.key, id, true), ignore)
	return err
}

// Numbers of fields in messages of the service.
const (
	tableField     = 1
	rowField       = 2
	conditionField = 3
	versionsField  = 5
)

const noCondition = ^uint64(0) // of a request that reads

// message returns a request about one row.
func (t *Table) message(row []byte, condition uint64) []byte {
	b := protowire.AppendTag(nil, tableField, protowire.BytesType)
	b = protowire.AppendString(b, t.name)
	b = protowire.AppendTag(b, rowField, protowire.BytesType)
	b = protowire.AppendBytes(b, row)
	if condition == noCondition {
		b = protowire.AppendTag(b, versionsField, protowire.VarintType)
		return protowire.AppendVarint(b, 1)
	}
	expect := protowire.AppendTag(nil, 1, protowire.VarintType)
	expect = protowire.AppendVarint(expect, condition)
	b = protowire.AppendTag(b, conditionField, protowire.BytesType)
	return protowire.AppendBytes(b, expect)
}

// field returns the bytes of a field; nil if there is none.
func field(message []byte, number protowire.Number) ([]byte, error) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, errAnswer
		}
		message = message[size:]
		if n == number && kind == protowire.BytesType {
			value, size := protowire.ConsumeBytes(message)
			if size < 0 {
				return nil, errAnswer
			}
			return value, nil
		}
		if size = protowire.ConsumeFieldValue(n, kind, message); size < 0 {
			return nil, errAnswer
		}
		message = message[size:]
	}
	return nil, nil
}

var errAnswer = errors.New("the answer of Tablestore is not valid")

// call sends a signed request and returns the answer.
func (t *Table) call(ctx context.Context, operation string, row []byte, condition uint64) ([]byte, error) {
	keys, err := t.account.keys(ctx)
	if err != nil {
		return nil, err
	}
	body := t.message(row, condition)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.server+operation, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	sum := md5.Sum(body) //nolint:gosec // see above
	header := map[string]string{
		"x-ots-date": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "x-ots-apiversion": "2015-12-31", "x-ots-accesskeyid": keys.ID,
		"x-ots-contentmd5": base64.StdEncoding.EncodeToString(sum[:]), "x-ots-instancename": t.instance,
	}
	if keys.Token != "" {
		header["x-ots-ststoken"] = keys.Token
	}
	text := operation + "\nPOST\n\n"
	for _, name := range slices.Sorted(maps.Keys(header)) {
		text += name + ":" + header[name] + "\n"
		req.Header.Set(name, header[name])
	}
	req.Header.Set("x-ots-signature", mac(keys.Secret, text))
	answer, err := cloud.Answer(t.account.client, req, refusedRow)
	if cloud.Code(err) == "OTSConditionCheckFail" {
		return nil, cloud.ErrExists
	}
	return answer, err
}

// refusedRow returns the error that an answer describes.
func refusedRow(resp *http.Response, body []byte) error {
	e := &cloud.Error{Status: resp.StatusCode, Hint: cloud.PageHint(body)}
	if code, err := field(body, 1); err == nil && bytes.HasPrefix(code, []byte("OTS")) {
		message, _ := field(body, 2) // else there is the code
		e.Code, e.Message = string(code), string(message)
	}
	return e
}
