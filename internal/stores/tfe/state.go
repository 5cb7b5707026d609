//go:build !mayfly_no_remote

package tfe

import (
	"context"
	"crypto/md5" //nolint:gosec // the checksum of the protocol
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// hosted is the state of one workspace. Its version is the ID of a version of it in the service.
type hosted struct {
	*Service
	name string // in the service

	mu   sync.Mutex
	held bool // this run has locked the workspace
	// begun is the version that waits for its content, and sum the checksum of that: if the content was lost
	// on its way, the same version takes it. It is nil for none.
	begun *stateVersion
	sum   string
}

// id names the workspace within the host. Other engines take it for the ID of any lock.
func (h *hosted) id() string { return h.opt.Organization + "/" + h.name }

// stateVersion describes a version of a state.
type stateVersion struct {
	ID         string
	Attributes struct {
		Download string `json:"hosted-state-download-url"`
		Upload   string `json:"hosted-state-upload-url"`
		Status   string
	}
}

// current returns the current version; nil if there is none.
func (h *hosted) current(ctx context.Context, w *workspace) (*stateVersion, error) {
	var answer struct{ Data stateVersion }
	err := h.client.send(ctx, http.MethodGet, "workspaces/"+w.ID+"/current-state-version", nil, nil, &answer)
	if missing(err) {
		return nil, nil
	}
	return &answer.Data, err
}

// Get implements remote.Blob.
func (h *hosted) Get(ctx context.Context) ([]byte, remote.Version, error) {
	w, err := h.find(ctx, h.name)
	if w == nil || err != nil {
		return nil, "", err
	}
	v, err := h.current(ctx, w)
	if v == nil || err != nil {
		return nil, "", err
	}
	data, err := h.client.download(ctx, v.Attributes.Download)
	return data, remote.Version(v.ID), err
}

// Put implements remote.Blob. The service refuses a serial that it has already. Since it accepts states for
// locked workspaces only, a run without a lock takes one for as long as this takes.
func (h *hosted) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	w, err := h.findOrCreate(ctx, h.name)
	if err != nil {
		return "", err
	}
	if h.locked() {
		return h.put(ctx, w, data, was)
	}
	l := &lock{hosted: h}
	info := store.LockInfo{ID: uuid.NewString(), Operation: "writing the state", Created: time.Now().UTC()}
	if err := l.Take(ctx, info); err != nil {
		return "", err
	}
	v, err := h.put(ctx, w, data, was)
	return v, errors.Join(err, l.Release(context.WithoutCancel(ctx), info.ID))
}

func (h *hosted) locked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// put stores data. Calls are made one after the other.
func (h *hosted) put(ctx context.Context, w *workspace, data []byte, was remote.Version) (remote.Version, error) {
	v, err := h.current(ctx, w)
	switch {
	case err != nil:
		return "", err
	case v == nil && was != "", v != nil && v.ID != string(was):
		return "", remote.ErrChanged
	}
	v, err = h.create(ctx, w, data, was)
	if err != nil {
		return "", err
	}
	if v.Attributes.Status == statusPending {
		if err = h.client.upload(ctx, v.Attributes.Upload, data); err == nil {
			err = h.settled(ctx, v.ID)
		}
	}
	return remote.Version(v.ID), err
}

const statusPending = "pending" // of a version whose content is not there yet

// create creates a version. Its content is part of the request if the service does not want it separately.
func (h *hosted) create(ctx context.Context, w *workspace, data []byte, was remote.Version) (*stateVersion, error) {
	sum := fmt.Sprintf("%x", md5.Sum(data)) //nolint:gosec // see above
	if h.begun != nil && h.sum == sum {
		return h.begun, nil
	}
	var meta struct {
		Serial  uint64 `json:"serial"`
		Lineage string `json:"lineage"`
	}
	if err := json.Unmarshal(data, &meta); err != nil {
		return nil, fmt.Errorf("the service keeps states in JSON only: %w", err)
	}
	attributes := map[string]any{"serial": meta.Serial, "lineage": meta.Lineage, "md5": sum, "force": false}
	v, err := h.send(ctx, w, attributes)
	if cloud.Status(err) == http.StatusUnprocessableEntity || cloud.Status(err) == http.StatusBadRequest || err == nil && v.Attributes.Status == statusPending && v.Attributes.Upload == "" {
		attributes["state"] = base64.StdEncoding.EncodeToString(data)
		v, err = h.send(ctx, w, attributes)
	}
	if cloud.Status(err) == http.StatusConflict {
		if err = h.conflict(ctx, w, was, err); err == nil {
			attributes["force"] = true
			v, err = h.send(ctx, w, attributes)
		}
	}
	if err == nil && v.Attributes.Status == statusPending {
		h.begun, h.sum = v, sum
	}
	return v, err
}

func (h *hosted) send(ctx context.Context, w *workspace, attributes map[string]any) (*stateVersion, error) {
	var answer struct{ Data stateVersion }
	body := map[string]any{"data": map[string]any{"type": "state-versions", "attributes": attributes}}
	err := h.client.send(ctx, http.MethodPost, "workspaces/"+w.ID+"/state-versions", nil, body, &answer)
	return &answer.Data, err
}

// conflict returns an error if a version was refused because the workspace is not locked, or has another
// state than was. Otherwise, the caller wants a serial or a lineage that does not follow, as in a push by
// force.
func (h *hosted) conflict(ctx context.Context, w *workspace, was remote.Version, refused error) error {
	now, err := h.find(ctx, h.name)
	if err != nil {
		return err
	}
	if now == nil || !now.Attributes.Locked {
		return fmt.Errorf("%w: the workspace is not locked", store.ErrLockLost)
	}
	v, err := h.current(ctx, w)
	if err != nil || v == nil && was == "" || v != nil && v.ID == string(was) {
		return err
	}
	return fmt.Errorf("%w (%w)", remote.ErrChanged, refused)
}

// settlePause is how long the service has between two questions.
const settlePause = 250 * time.Millisecond

// settled waits until the service has taken a version over.
func (h *hosted) settled(ctx context.Context, id string) error {
	for end := time.Now().Add(requestTimeout); ; {
		var answer struct{ Data stateVersion }
		err := h.client.send(ctx, http.MethodGet, "state-versions/"+id, nil, nil, &answer)
		if err != nil || answer.Data.Attributes.Status != statusPending {
			return err
		}
		if time.Now().After(end) {
			return &remote.Passing{Err: errors.New("the service has not taken the state over yet")}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settlePause):
		}
	}
}

// Delete implements remote.Blob. It deletes the workspace.
func (h *hosted) Delete(ctx context.Context) error {
	w, err := h.find(ctx, h.name)
	if w == nil || err != nil {
		return err
	}
	err = h.client.send(ctx, http.MethodDelete, "workspaces/"+w.ID, nil, nil, nil)
	if missing(err) {
		return nil
	}
	return err
}
