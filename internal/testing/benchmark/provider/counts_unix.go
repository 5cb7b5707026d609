//go:build unix

package provider

import (
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped makes a file of n numbers and maps it into memory, shared with other readers of the file.
func mapped(file string, n int) ([]atomic.Int64, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(int64(8 * n)); err != nil {
		return nil, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, 8*n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*atomic.Int64)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// processorTime returns the processor time of this process so far, user and system.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
