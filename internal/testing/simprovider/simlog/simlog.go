// Package simlog is the RPC transcript of the test provider: the entry format, and queries over a transcript
// (pairs, counts, windows, overlap).
//
// It imports the standard library only, so that any test may use it. It must not know the protocol libraries
// nor the provider's behaviour.
package simlog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// The phases of an RPC.
const (
	Begin = "begin" // the request was received
	End   = "end"   // the response was handed to the transport, or the call was aborted (Err says why)
)

// Entry is one line of the transcript.
type Entry struct {
	T     int64     `json:"t"`     // monotonic nanoseconds, comparable between processes of one machine
	Wall  time.Time `json:"wall"`  // wall clock
	PID   int       `json:"pid"`   // process that served the call
	Seq   int       `json:"seq"`   // number of the call within its process; begin and end of a call share it
	RPC   string    `json:"rpc"`   // protocol 6 name of the method, whichever protocol was spoken
	Type  string    `json:"type"`  // resource type, empty for provider-level calls
	Name  string    `json:"name"`  // the object's name attribute where the request shows it
	Phase string    `json:"phase"` // Begin or End

	// Action is create, update or delete, for plan and apply.
	Action string `json:"action,omitempty"`
	// Err is the first error in the response, or why the call was aborted.
	Err string `json:"err,omitempty"`
	// Did lists the misbehaviours that were carried out in this call.
	Did []string `json:"did,omitempty"`
	// Private is the private data of the request (begin) or of the response (end).
	Private []byte `json:"private,omitempty"`
	// Hash shows secrets without their values: "config.secret_wo" → Hash(value), or "null", or "unknown".
	Hash map[string]string `json:"hash,omitempty"`
	// Caps are the client capabilities of the request.
	Caps map[string]bool `json:"caps,omitempty"`
	// RenewAt is when an open ephemeral instance needs its next renewal.
	RenewAt *time.Time `json:"renew_at,omitempty"`
	// Stopped reports whether the provider was asked to stop before this entry was written.
	Stopped bool `json:"stopped,omitempty"`
}

// Log is a transcript in the order in which it was written.
type Log []Entry

// Read parses a transcript. It ignores an incomplete last line, left by a killed writer; any other
// malformed line is an error.
func Read(r io.Reader) (Log, error) {
	log, _, err := more(nil, r)
	return log, err
}

// more appends the entries in r to a transcript, and returns the length of their lines in bytes.
func more(log Log, r io.Reader) (_ Log, length int64, err error) {
	br := bufio.NewReader(r)
	for {
		text, err := br.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return log, length, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("reading the RPC transcript: %w", err)
		}
		var e Entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, 0, fmt.Errorf("RPC transcript, line %d: %w", len(log)+1, err)
		}
		log, length = append(log, e), length+int64(len(text))
	}
}

// ReadFile parses the transcript in a file. A missing file is an empty transcript: no call was made.
func ReadFile(path string) (Log, error) { return NewReader(path).Read() }

// Reader reads a transcript again and again while it is written, and parses each line once. It is safe for
// concurrent use.
type Reader struct {
	path string

	mu     sync.Mutex
	log    Log
	length int64 // of the lines in log, in bytes
}

// NewReader returns a Reader of the transcript in a file, which is only ever appended to.
func NewReader(path string) *Reader { return &Reader{path: path} }

// Read returns the transcript up to now. A missing file is an empty one.
func (r *Reader) Read() (Log, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := os.Open(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the RPC transcript: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(r.length, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the RPC transcript: %w", err)
	}
	log, length, err := more(r.log, f)
	if err != nil {
		return nil, err
	}
	r.log, r.length = log, r.length+length
	return slices.Clip(log), nil
}
