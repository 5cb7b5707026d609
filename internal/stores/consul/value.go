//go:build !mayfly_no_consul

package consul

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state"
)

// Sizes of values in bytes.
const (
	chunkSize  = 512 << 10 // the most that Consul accepts for one
	inlineSize = 350 << 10 // from which on a transaction, which has them in base64, may be too large
)

// value is the state of one workspace: the value of a key, or chunks below it that the value lists.
type value struct {
	client *client
	key    string
	gzip   bool
}

// index is the value of a key whose state consists of chunks.
type index struct {
	Hash   string   `json:"current-hash"`
	Chunks []string `json:"chunks"` // their keys
}

// indexIn returns the index that a value is; nil if it is a state.
func indexIn(data []byte) *index {
	if !bytes.Contains(data, []byte(`"current-hash"`)) {
		return nil
	}
	var i index
	if json.Unmarshal(data, &i) != nil || i.Hash == "" || i.Chunks == nil {
		return nil
	}
	return &i
}

// chunks is the beginning of the keys of the chunks with a hash.
func (v *value) chunks(hash string) string { return v.key + "/tfstate." + hash + "/" }

// Get implements remote.Blob. The version is the index of the key's last change.
func (v *value) Get(ctx context.Context) ([]byte, remote.Version, error) {
	pair, err := v.client.get(ctx, v.key)
	if pair == nil || err != nil {
		return nil, "", classify(err)
	}
	data := pair.Value
	if i := indexIn(data); i != nil {
		if data, err = v.join(ctx, i.Chunks); err != nil {
			return nil, "", err
		}
	}
	data, err = remote.Unpack(data) // whatever the configuration says now
	switch {
	case errors.Is(err, remote.ErrTooLarge):
		return nil, versionOf(pair), errors.New("the compressed state is larger than 1024 MB")
	case err != nil:
		return nil, versionOf(pair), fmt.Errorf("%w: it cannot be decompressed (%w)", state.ErrCorrupt, err)
	}
	return data, versionOf(pair), nil
}

func versionOf(p *pair) remote.Version {
	return remote.Version(strconv.FormatUint(p.ModifyIndex, 10))
}

// reads is how many chunks are read at once.
const reads = 8

// join reads chunks.
func (v *value) join(ctx context.Context, keys []string) ([]byte, error) {
	all := make([][]byte, len(keys))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(reads)
	for i, key := range keys {
		read := func() error {
			pair, err := v.client.get(ctx, key)
			if err == nil && pair == nil { // unless another run has just replaced the state
				return &remote.Passing{Err: fmt.Errorf("the part %s of the state is missing", key)}
			}
			if err != nil {
				return classify(err)
			}
			all[i] = pair.Value
			return nil
		}
		g.Go(func() error { return bug.Catch(read) })
	}
	err := g.Wait()
	return bytes.Join(all, nil), err
}

// Put implements remote.Blob. Chunks are stored before the key that lists them, and those that it listed
// before are removed after.
func (v *value) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	var last uint64
	if was != "" {
		var err error
		if last, err = strconv.ParseUint(string(was), 10, 64); err != nil {
			return "", err
		}
	}
	if v.gzip {
		data = remote.Pack(data)
	}
	before, err := v.client.get(ctx, v.key)
	switch {
	case err != nil:
		return "", classify(err)
	case before == nil && last != 0, before != nil && before.ModifyIndex != last:
		return "", remote.ErrChanged
	}
	now := ""
	if len(data) > inlineSize {
		if now, data, err = v.split(ctx, data); err != nil {
			return "", err
		}
	}
	ok, changed, err := v.client.transact(ctx, operation{Verb: opCAS, Key: v.key, Value: data, Index: last})
	switch {
	case err != nil:
		return "", classify(err)
	case !ok || len(changed) != 1:
		return "", remote.ErrChanged
	}
	if before != nil {
		if i := indexIn(before.Value); i != nil && i.Hash != now {
			_ = v.client.remove(ctx, v.chunks(i.Hash), true) // leftovers only take room
		}
	}
	return versionOf(&changed[0]), nil
}

// split stores a state as chunks. It returns their hash, and the value that lists them.
func (v *value) split(ctx context.Context, data []byte) (hash string, list []byte, err error) {
	sum := md5.Sum(data)
	i := index{Hash: hex.EncodeToString(sum[:])}
	for n := 0; len(data) > 0; n++ {
		size := min(len(data), chunkSize)
		key := v.chunks(i.Hash) + strconv.Itoa(n)
		if err := v.client.put(ctx, key, data[:size]); err != nil {
			return "", nil, classify(err)
		}
		i.Chunks = append(i.Chunks, key)
		data = data[size:]
	}
	list, err = json.Marshal(i)
	return i.Hash, list, err
}

// Delete implements remote.Blob.
func (v *value) Delete(ctx context.Context) error {
	err := v.client.remove(ctx, v.key, false)
	if err == nil {
		err = v.client.remove(ctx, v.key+"/tfstate.", true)
	}
	return classify(err)
}
