// Package safefile reads files that may be anything: a pipe that no one writes to, a device without an end, a
// file larger than the memory.
//
// It may import nothing of this module. It must not know what the files hold.
package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrTooLarge is wrapped by errors about files that are larger than their limit.
var ErrTooLarge = errors.New("the file is too large")

// ErrUnsuitable is wrapped by errors about what is no file in the sense of the function.
var ErrUnsuitable = errors.New("not a regular file")

// Read returns the content of a regular file of at most limit bytes, or of a character device that ends,
// such as /dev/null. It never waits for another process: pipes and sockets fail with ErrUnsuitable. Other
// errors are those of os.ReadFile.
func Read(path string, limit int64) ([]byte, error) {
	// Without O_NONBLOCK, opening a pipe waits for a writer.
	return read(path, syscall.O_NONBLOCK, limit, fs.ModeDir|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeIrregular)
}

// ReadStream is Read for a path that a person gave, which may also be a pipe, as the shell's <(command)
// is. It waits for the writer then.
func ReadStream(path string, limit int64) ([]byte, error) {
	return read(path, 0, limit, fs.ModeDir|fs.ModeSocket|fs.ModeIrregular)
}

func read(path string, flag int, limit int64, refused fs.FileMode) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|flag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// A block device is a disk: it has the mode of a device, but not that of a character device.
	if mode := info.Mode(); mode&refused != 0 || mode&(fs.ModeDevice|fs.ModeCharDevice) == fs.ModeDevice {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is %s, %w", Kind(mode), ErrUnsuitable)}
	}
	size := info.Size()
	if size > limit {
		return nil, tooLarge(path, limit)
	}
	var buf bytes.Buffer
	if size < 1<<30 {
		buf.Grow(int(size) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > limit {
		return nil, tooLarge(path, limit)
	}
	return buf.Bytes(), nil
}

func tooLarge(path string, limit int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: at most %d bytes are accepted", ErrTooLarge, limit)}
}

// Kind returns the name of a kind of file with its article, such as "a named pipe".
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	default:
		return "no regular file"
	}
}
