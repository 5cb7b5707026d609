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
	var log Log
	br := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := br.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return log, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the RPC transcript: %w", err)
		}
		var e Entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("RPC transcript, line %d: %w", line, err)
		}
		log = append(log, e)
	}
}

// ReadFile parses the transcript in a file. A missing file is an empty transcript: no call was made.
func ReadFile(path string) (Log, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the RPC transcript: %w", err)
	}
	defer f.Close()
	return Read(f)
}
