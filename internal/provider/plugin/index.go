package plugin

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of the response to GetProviderSchema, the same in both protocols.
const (
	fieldProvider     = 1
	fieldResources    = 2
	fieldDataSources  = 3
	fieldDiagnostics  = 4
	fieldMeta         = 5
	fieldCapabilities = 6
	fieldFunctions    = 7
	fieldEphemerals   = 8
	fieldLists        = 9
	fieldStateStores  = 10
	fieldActions      = 11
)

// schemaIndex has the parts of a schema response as received, sharing its memory. Schemas of large
// providers take tens of megabytes, and a configuration uses only a few types.
type schemaIndex struct {
	provider, meta, capabilities                                  []byte
	diagnostics                                                   [][]byte
	resources, dataSources, ephemerals, lists, actions, functions map[string][]byte
	stateStores                                                   map[string][]byte
}

// errBadSchema is about the framing alone. The content of the parts is checked when they are decoded.
var errBadSchema = errors.New("the response is not well-formed")

// indexSchema finds the parts of a schema response.
func indexSchema(response []byte) (*schemaIndex, error) {
	idx := &schemaIndex{
		resources: map[string][]byte{}, dataSources: map[string][]byte{}, ephemerals: map[string][]byte{},
		lists: map[string][]byte{}, actions: map[string][]byte{}, functions: map[string][]byte{}, stateStores: map[string][]byte{},
	}
	err := eachField(response, func(num protowire.Number, content []byte) error {
		switch num {
		case fieldProvider:
			idx.provider = merge(idx.provider, content)
		case fieldMeta:
			idx.meta = merge(idx.meta, content)
		case fieldCapabilities:
			idx.capabilities = merge(idx.capabilities, content)
		case fieldDiagnostics:
			idx.diagnostics = append(idx.diagnostics, content)
		case fieldResources:
			return addEntry(idx.resources, content)
		case fieldDataSources:
			return addEntry(idx.dataSources, content)
		case fieldEphemerals:
			return addEntry(idx.ephemerals, content)
		case fieldLists:
			return addEntry(idx.lists, content)
		case fieldActions:
			return addAction(idx.actions, content)
		case fieldStateStores:
			return addEntry(idx.stateStores, content)
		case fieldFunctions:
			return addEntry(idx.functions, content)
		}
		return nil
	})
	return idx, err
}

// eachField calls f for every field of a message that has bytes as content, and skips the others.
func eachField(message []byte, f func(protowire.Number, []byte) error) error {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errBadSchema
		}
		message = message[n:]
		if typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(num, typ, message); n < 0 {
				return errBadSchema
			}
			message = message[n:]
			continue
		}
		content, n := protowire.ConsumeBytes(message)
		if n < 0 {
			return errBadSchema
		}
		if err := f(num, content); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// merge joins the parts of a message that was sent in several; the result is never nil, even if empty.
func merge(have, more []byte) []byte {
	if have == nil {
		return more[:len(more):len(more)]
	}
	return append(have, more...)
}

// addEntry adds an entry of a map from names to messages.
func addEntry(m map[string][]byte, entry []byte) error {
	var key string
	value := []byte{}
	err := eachField(entry, func(num protowire.Number, content []byte) error {
		switch num {
		case 1:
			key = string(content)
		case 2:
			value = content
		}
		return nil
	})
	m[key] = value
	return err
}
