package encryption

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/mayfly-iac/mayfly/state"
)

// formatVersion is the only version of the stored form.
const formatVersion = "v0"

// metadata has the data that key providers store beside encrypted data, by alias.
type metadata map[string][]byte

// envelope is the stored form of an encrypted file. Serial and lineage of a state are in clear, so that
// stores can compare states without a key. Other engines ignore the checksum: it tells a damaged file from
// one with another key.
//
//	{
//	  "serial": 7,
//	  "lineage": "…",
//	  "meta": { "key_provider.pbkdf2.main": "eyJzYWx0Ijo…" },
//	  "encrypted_data": "…",
//	  "encryption_version": "v0",
//	  "checksum": "…"
//	}
type envelope struct {
	Serial   *uint64  `json:"serial,omitempty"`
	Lineage  *string  `json:"lineage,omitempty"`
	Meta     metadata `json:"meta"`
	Data     []byte   `json:"encrypted_data"`
	Version  string   `json:"encryption_version"`
	Checksum string   `json:"checksum,omitempty"` // SHA-256 of Data, in hexadecimal digits
}

// dataKey begins the member with the encrypted data.
var dataKey = []byte(`"encrypted_data":`)

// Is reports whether the content of a file is in the form that this package and OpenTofu write, or seems to
// be a damaged file of that form.
func Is(stored []byte) bool {
	if !bytes.Contains(stored, dataKey) {
		return false
	}
	var head struct {
		State     *json.RawMessage `json:"version"`
		Encrypted *json.RawMessage `json:"encryption_version"`
	}
	rest, _ := cutData(stored)
	if err := json.Unmarshal(rest, &head); err != nil {
		return !bytes.Contains(stored, []byte(`"terraform_version"`))
	}
	return head.Encrypted != nil && head.State == nil
}

// IsState reports whether an encrypted file is a state rather than a saved plan.
func IsState(stored []byte) bool {
	var head struct{ Lineage *string }
	rest, _ := cutData(stored)
	return json.Unmarshal(rest, &head) == nil && head.Lineage != nil
}

// write returns the stored form. It encodes the data itself: a JSON encoder would take several times as long
// for a large state.
func (e *envelope) write() []byte {
	b := make([]byte, 0, base64.StdEncoding.EncodedLen(len(e.Data))+1024)
	b = append(b, '{')
	if e.Serial != nil {
		b = strconv.AppendUint(append(b, "\n  \"serial\": "...), *e.Serial, 10)
		b = append(append(b, ",\n  \"lineage\": "...), quoted(*e.Lineage)...)
		b = append(b, ',')
	}
	b = append(b, "\n  \"meta\": {"...)
	for i, alias := range slices.Sorted(maps.Keys(e.Meta)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, "\n    "...), quoted(alias)...), ": \""...)
		b = append(base64.StdEncoding.AppendEncode(b, e.Meta[alias]), '"')
	}
	if len(e.Meta) > 0 {
		b = append(b, "\n  "...)
	}
	b = append(append(append(b, "},\n  "...), dataKey...), " \""...)
	b = base64.StdEncoding.AppendEncode(b, e.Data)
	sum := sha256.Sum256(e.Data)
	return fmt.Appendf(b, "\",\n  \"encryption_version\": %q,\n  \"checksum\": %q\n}\n", formatVersion, hex.EncodeToString(sum[:]))
}

// quoted returns a text as JSON.
func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // every string can be encoded
	}
	return b
}

// readEnvelope reads the stored form. Its errors wrap ErrDamaged.
func readEnvelope(stored []byte) (*envelope, error) {
	e := &envelope{}
	rest, data := cutData(stored)
	err := json.Unmarshal(rest, e)
	if err == nil && data != nil && len(e.Data) > 0 { // the cut was elsewhere
		*e, data = envelope{}, nil
		err = json.Unmarshal(stored, e)
	}
	if err == nil && data != nil {
		e.Data = make([]byte, base64.StdEncoding.DecodedLen(len(data)))
		var n int
		n, err = base64.StdEncoding.Decode(e.Data, data)
		e.Data = e.Data[:n]
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it has been cut off or altered, so that it is not what an encrypted file looks like", ErrDamaged)
	case e.Version != formatVersion:
		return nil, fmt.Errorf("%w: its encryption version is not %q, the only one that exists", ErrDamaged, formatVersion)
	case e.Checksum != "" && !e.intact():
		return nil, fmt.Errorf("%w: its encrypted data does not match its checksum", ErrDamaged)
	}
	return e, nil
}

// intact reports whether the data matches the checksum.
func (e *envelope) intact() bool {
	sum := sha256.Sum256(e.Data)
	return e.Checksum == hex.EncodeToString(sum[:])
}

// cutData returns a document with empty encrypted data, and the data. If there seems to be none, it returns
// the whole document and nil. The data is nearly all of a file, and a JSON decoder would look at each byte
// of it several times.
func cutData(stored []byte) (rest, data []byte) {
	at := bytes.Index(stored, dataKey)
	if at < 0 {
		return stored, nil
	}
	start := at + len(dataKey)
	for start < len(stored) && (stored[start] == ' ' || stored[start] == '\n') {
		start++
	}
	if start == len(stored) || stored[start] != '"' {
		return stored, nil
	}
	start++
	n := bytes.IndexByte(stored[start:], '"')
	if n <= 0 || bytes.IndexByte(stored[start:start+n], '\\') >= 0 {
		return stored, nil
	}
	return slices.Concat(stored[:start], stored[start+n:]), stored[start : start+n]
}

// identity returns the lineage and serial of a state in clear; nil if the file has none.
func (e *envelope) identity() *state.Meta {
	if e.Serial == nil || e.Lineage == nil {
		return nil
	}
	return &state.Meta{Serial: *e.Serial, Lineage: *e.Lineage}
}

// errShort is the reason why a frame of a journal cannot be one.
var errShort = errors.New("it is too short")

// writeFrame returns the stored form of a part of a journal: the length of the metadata in four bytes,
// the metadata in JSON, and the encrypted data. Each part can be decrypted by itself.
func writeFrame(m metadata, data []byte) ([]byte, error) {
	head, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 4, 4+len(head)+len(data))
	binary.BigEndian.PutUint32(b, uint32(len(head)))
	return append(append(b, head...), data...), nil
}

// readFrame reads the form that writeFrame returns. data shares its memory with b.
func readFrame(b []byte) (m metadata, data []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errShort
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if uint64(len(b)-4) < n {
		return nil, nil, errShort
	}
	err = json.Unmarshal(b[4:4+n], &m)
	return m, b[4+n:], err
}
