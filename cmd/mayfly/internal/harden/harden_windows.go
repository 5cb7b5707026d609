package harden

import "golang.org/x/sys/windows"

// noHeap is WER_FAULT_REPORTING_FLAG_NOHEAP: error reports about this process don't include its heap.
const noHeap = 1

func protect() {
	windows.SetErrorMode(windows.SEM_FAILCRITICALERRORS | windows.SEM_NOGPFAULTERRORBOX)
	set := windows.NewLazySystemDLL("kernel32.dll").NewProc("WerSetFlags")
	if set.Find() == nil {
		_, _, _ = set.Call(noHeap)
	}
}
