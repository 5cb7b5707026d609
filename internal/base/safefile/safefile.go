// Package safefile reads files that may be anything: a pipe without a writer, an endless device, a file
// larger than memory. It also creates files that only their owner may read, and replaces files atomically.
//
// It may import nothing of this module. It must not know the content of the files.
package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrTooLarge is wrapped by errors about files that exceed their limit.
var ErrTooLarge = errors.New("the file is too large")

// ErrUnsuitable is wrapped by errors about paths that are not the kind of file that a function reads.
var ErrUnsuitable = errors.New("not a regular file")

// maxEndless bounds how much is read from a pipe or a device, in bytes, because its size is not known
// beforehand.
var maxEndless int64 = 256 << 20

// Read returns the content of a regular file of at most limit bytes, or of a character device that ends, such
// as /dev/null. It never waits for another process: pipes and sockets fail with ErrUnsuitable. Other errors
// are as in os.ReadFile.
func Read(path string, limit int64) ([]byte, error) {
	return read(path, limit, fs.ModeDir|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeIrregular)
}

// ReadStream is Read for a path given by the user, which may also be a pipe, such as the shell's
// <(command). It waits for the writer, and up to patience for a process to open the pipe for writing.
func ReadStream(path string, limit int64) ([]byte, error) {
	return read(path, limit, fs.ModeDir|fs.ModeSocket|fs.ModeIrregular)
}

// Open opens a regular file or the null device for reading piece by piece. A directory is opened as well, but
// reading it fails. Anything else fails with ErrUnsuitable. Other errors are as in os.Open.
func Open(path string) (*os.File, error) {
	f, info, err := open(path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return f, err
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return f, nil
	}
	return nil, errors.Join(unsuitable(path, info.Mode()), f.Close())
}

func open(path string) (*os.File, fs.FileInfo, error) {
	// Without O_NONBLOCK, opening a pipe would wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func unsuitable(path string, mode fs.FileMode) error {
	return &fs.PathError{Op: "read", Path: path, Err: unsuitableError(Kind(mode))}
}

// unsuitableError is ErrUnsuitable with the kind of file found.
type unsuitableError string

func (e unsuitableError) Error() string {
	if e == unsuitableError(Kind(fs.ModeDir)) {
		return "it is " + string(e)
	}
	return fmt.Sprintf("it is %s, %s", string(e), ErrUnsuitable)
}

func (unsuitableError) Unwrap() error { return ErrUnsuitable }

// read reads a file of at most limit bytes. Files of the refused modes are an error, and those without a
// known end, such as pipes and terminals, are read up to a smaller limit.
func read(path string, limit int64, refused fs.FileMode) ([]byte, error) {
	f, info, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// A block device has the mode of a device, but not of a character device.
	if mode := info.Mode(); mode&refused != 0 || mode&(fs.ModeDevice|fs.ModeCharDevice) == fs.ModeDevice {
		return nil, unsuitable(path, mode)
	}
	if !info.Mode().IsRegular() {
		limit = min(limit, maxEndless)
	}
	size := info.Size()
	if size > limit {
		return nil, tooLarge(path, limit)
	}
	var r io.Reader = f
	if info.Mode()&fs.ModeNamedPipe != 0 {
		if r, err = awaitWriter(f); err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
	}
	var buf bytes.Buffer
	if size < 1<<30 {
		buf.Grow(int(size) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > limit {
		return nil, tooLarge(path, limit)
	}
	return buf.Bytes(), nil
}

// ErrNoWriter is wrapped by errors about pipes without a writer.
var ErrNoWriter = errors.New("it is a named pipe that nothing writes to")

// patience is how long functions wait for a process to open the other end of a named pipe.
var patience = 10 * time.Second

// awaitWriter returns a reader of the pipe f once some data is there. Until a process has opened a named
// pipe for writing, reading returns the end of the file. Unnamed pipes have had their writers from the
// start.
func awaitWriter(f *os.File) (io.Reader, error) {
	if err := block(f); err != nil {
		return nil, err
	}
	first := make([]byte, 1)
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		n, err := f.Read(first)
		switch {
		case n > 0:
			return io.MultiReader(bytes.NewReader(first), f), nil
		case !errors.Is(err, io.EOF):
			return nil, err
		case !named(f.Name()):
			return bytes.NewReader(nil), nil
		case time.Since(begin) > patience:
			return nil, ErrNoWriter
		}
	}
}

// named reports whether path leads to a directory entry, which the descriptors of processes do not.
func named(path string) bool {
	_, err := filepath.EvalSymlinks(path)
	return err == nil
}

func tooLarge(path string, limit int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: at most %d bytes are accepted", ErrTooLarge, limit)}
}

// Kind returns the kind of a file with its article, such as "a named pipe".
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
