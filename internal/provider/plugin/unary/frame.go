package unary

import (
	"encoding/binary"
)

// Limits that this side declares. Windows are as large as they can be: the peer is on the same machine, and a
// response that does not fit into memory fails in any case.
const (
	frameHead     = 9
	maxFrame      = 16 << 10 // bytes of the content of a frame, the least that the protocol allows
	maxWindow     = 1<<31 - 1
	maxStreamID   = 1<<31 - 1
	defaultWindow = 1<<16 - 1
	// maxHeaders limits the bytes of headers, which have a status and perhaps a message.
	maxHeaders = 1 << 20
)

// frame is a frame as received. Its content is valid until the next one is read.
//
//	length, 3 bytes | kind, 1 | flags, 1 | stream, 4 | content
type frame struct {
	kind    frameKind
	flags   frameFlags
	stream  uint32
	content []byte
}

// parseFrame returns the frame at the start of data and its length, which is 0 if data has only a part of it.
func parseFrame(data []byte) (f frame, n int, err error) {
	if len(data) < frameHead {
		return frame{}, 0, nil
	}
	size := int(data[0])<<16 | int(data[1])<<8 | int(data[2])
	if size > maxFrame {
		return frame{}, 0, violation(resetFrameSize)
	}
	if len(data) < frameHead+size {
		return frame{}, 0, nil
	}
	return frame{
		kind: frameKind(data[3]), flags: frameFlags(data[4]),
		stream: binary.BigEndian.Uint32(data[5:]) & (1<<31 - 1), content: data[frameHead : frameHead+size],
	}, frameHead + size, nil
}

// unpadded returns the content of a DATA or HEADERS frame without padding and priority.
func (f frame) unpadded() ([]byte, error) {
	content, pad := f.content, 0
	if f.flags.Has(flagPadded) { // the same bit for headers
		if len(content) < 1 {
			return nil, violation(resetFrameSize)
		}
		pad, content = int(content[0]), content[1:]
	}
	if f.kind == frameHeaders && f.flags.Has(flagPriority) {
		if len(content) < 5 {
			return nil, violation(resetFrameSize)
		}
		content = content[5:]
	}
	if pad > len(content) {
		return nil, violation(resetProtocol)
	}
	return content[:len(content)-pad], nil
}

// appendFrame appends the head of a frame whose content has the given size.
func appendFrame(b []byte, kind frameKind, flags frameFlags, stream uint32, size int) []byte {
	b = append(b, byte(size>>16), byte(size>>8), byte(size), byte(kind), byte(flags))
	return binary.BigEndian.AppendUint32(b, stream)
}

// appendReset appends a RST_STREAM frame.
func appendReset(b []byte, stream uint32, code errorCode) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, frameReset, 0, stream, 4), uint32(code))
}

// appendWindow appends a WINDOW_UPDATE frame, for the whole connection if stream is 0.
func appendWindow(b []byte, stream, increment uint32) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, frameWindow, 0, stream, 4), increment)
}

// appendGreeting appends the first bytes of a client.
func appendGreeting(b []byte) []byte {
	settings := []struct {
		id    uint16
		value uint32
	}{{settingPush, 0}, {settingWindow, maxWindow}, {settingHeaders, maxHeaders}}
	b = append(b, clientPreface...)
	b = appendFrame(b, frameSettings, 0, 0, 6*len(settings))
	for _, s := range settings {
		b = binary.BigEndian.AppendUint16(b, s.id)
		b = binary.BigEndian.AppendUint32(b, s.value)
	}
	return appendWindow(b, 0, maxWindow-defaultWindow)
}
