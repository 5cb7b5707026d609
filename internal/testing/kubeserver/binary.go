package kubeserver

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// binaryMark begins the binary form of objects, which generated clients send.
const binaryMark = "k8s\x00"

// field is called with a field of a message: its number, and its value as bytes or as a number.
type field func(number protowire.Number, data []byte, value uint64) error

// scan calls next with each field of a message.
func scan(message []byte, next field) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var data []byte
		var value uint64
		switch kind {
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := next(number, data, value); err != nil {
			return err
		}
	}
	return nil
}

// decodeLease decodes the binary form of a Lease, without the mark: an envelope with the types and the
// object.
func decodeLease(envelope []byte) (o Object, err error) {
	err = scan(envelope, func(number protowire.Number, data []byte, _ uint64) error {
		switch number {
		case 1:
			return scan(data, texts(map[protowire.Number]*string{1: &o.APIVersion, 2: &o.Kind}))
		case 2:
			return scan(data, func(number protowire.Number, data []byte, _ uint64) error {
				switch number {
				case 1:
					return decodeMetadata(data, &o.Metadata)
				case 2:
					o.Spec = map[string]any{}
					return decodeSpec(data, o.Spec)
				}
				return nil
			})
		}
		return nil
	})
	return o, err
}

// texts returns a function for scan that takes some fields for texts.
func texts(into map[protowire.Number]*string) field {
	return func(number protowire.Number, data []byte, _ uint64) error {
		if to := into[number]; to != nil {
			*to = string(data)
		}
		return nil
	}
}

func decodeMetadata(message []byte, m *Metadata) error {
	plain := texts(map[protowire.Number]*string{1: &m.Name, 3: &m.Namespace, 5: &m.UID, 6: &m.ResourceVersion})
	return scan(message, func(number protowire.Number, data []byte, value uint64) error {
		switch number {
		case 11:
			return decodeEntry(data, &m.Labels)
		case 12:
			return decodeEntry(data, &m.Annotations)
		}
		return plain(number, data, value)
	})
}

// decodeEntry adds an entry to a map.
func decodeEntry(message []byte, to *map[string]string) error {
	var key, value string
	if err := scan(message, texts(map[protowire.Number]*string{1: &key, 2: &value})); err != nil {
		return err
	}
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[key] = value
	return nil
}

// decodeSpec adds the fields of the specification of a Lease, as they are in JSON.
func decodeSpec(message []byte, spec map[string]any) error {
	names := []string{1: "holderIdentity", 2: "leaseDurationSeconds", 3: "acquireTime", 4: "renewTime", 5: "leaseTransitions", 6: "strategy", 7: "preferredHolder"}
	return scan(message, func(number protowire.Number, data []byte, value uint64) (err error) {
		switch number {
		case 1, 6, 7:
			spec[names[number]] = string(data)
		case 2, 5:
			spec[names[number]] = float64(int32(value))
		case 3, 4:
			spec[names[number]], err = decodeTime(data)
		}
		return err
	})
}

// decodeTime returns the text of a time, which has microseconds.
func decodeTime(message []byte) (string, error) {
	var parts [3]uint64 // seconds and nanoseconds, by number
	err := scan(message, func(number protowire.Number, _ []byte, value uint64) error {
		if int(number) < len(parts) {
			parts[number] = value
		}
		return nil
	})
	return time.Unix(int64(parts[1]), int64(parts[2])).UTC().Format("2006-01-02T15:04:05.000000Z07:00"), err
}
