package unary

import "fmt"

// This file has the constants of RFC 9113.

// clientPreface precedes everything else that a client sends.
const clientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frameKind is the type of a frame.
type frameKind uint8

// The types of frames that matter to a client.
const (
	frameData         frameKind = 0x0
	frameHeaders      frameKind = 0x1
	frameReset        frameKind = 0x3
	frameSettings     frameKind = 0x4
	framePush         frameKind = 0x5
	framePing         frameKind = 0x6
	frameGoAway       frameKind = 0x7
	frameWindow       frameKind = 0x8
	frameContinuation frameKind = 0x9
)

// frameFlags are the flags of a frame. Their meaning depends on its type.
type frameFlags uint8

// The flags.
const (
	flagEndStream  frameFlags = 0x1  // of data and headers
	flagAck        frameFlags = 0x1  // of settings and pings
	flagEndHeaders frameFlags = 0x4  // of headers and continuations
	flagPadded     frameFlags = 0x8  // of data and headers
	flagPriority   frameFlags = 0x20 // of headers
)

// Has reports whether all of these flags are set.
func (f frameFlags) Has(flags frameFlags) bool { return f&flags == flags }

// The settings that matter to a client.
const (
	settingHeaderTable uint16 = 0x1
	settingPush        uint16 = 0x2
	settingStreams     uint16 = 0x3
	settingWindow      uint16 = 0x4
	settingFrame       uint16 = 0x5
	settingHeaders     uint16 = 0x6
)

// errorCode says why a stream or a connection ends.
type errorCode uint32

// The error codes that have a meaning for calls.
const (
	resetProtocol        errorCode = 0x1
	resetInternal        errorCode = 0x2
	resetFlowControl     errorCode = 0x3
	resetFrameSize       errorCode = 0x6
	resetRefusedStream   errorCode = 0x7
	resetCancel          errorCode = 0x8
	resetCompression     errorCode = 0x9
	resetEnhanceYourCalm errorCode = 0xb
)

// String returns the name of the code.
func (c errorCode) String() string {
	switch c {
	case resetProtocol:
		return "PROTOCOL_ERROR"
	case resetInternal:
		return "INTERNAL_ERROR"
	case resetFlowControl:
		return "FLOW_CONTROL_ERROR"
	case resetFrameSize:
		return "FRAME_SIZE_ERROR"
	case resetRefusedStream:
		return "REFUSED_STREAM"
	case resetCancel:
		return "CANCEL"
	case resetCompression:
		return "COMPRESSION_ERROR"
	case resetEnhanceYourCalm:
		return "ENHANCE_YOUR_CALM"
	}
	return fmt.Sprintf("error code 0x%x", uint32(c))
}
