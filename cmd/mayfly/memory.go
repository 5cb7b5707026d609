package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// floorSize is the size of memory that main makes and never touches, in bytes, so that the system never
// provides it. The garbage collector takes it for live, and so lets the heap grow by as much before it runs.
// Without it, the collections of a small heap that grows fast take a tenth of the processor time of planning
// 20,000 objects.
const floorSize = 32 << 20

// makeFloor makes the memory of floorSize. Making it starts no collection, which would take a fifth of the
// processor time of a short command: until the first one, only the size of the memory counts, and the limit
// is the one that a collection with the floor would have set. It must be a limit of memory. With one in
// percent, the heap could become many times larger before the cleanup runs, which the first collection only
// queues.
func makeFloor() []byte {
	const overhead = 8 << 20 // bytes, which the runtime takes beside the heap
	limit := debug.SetMemoryLimit(-1)
	percent := debug.SetGCPercent(-1)
	if first := floorSize + floorSize*int64(percent)/100 + overhead; percent >= 0 && first < limit {
		debug.SetMemoryLimit(first)
		runtime.AddCleanup(new([16]byte), func(limit int64) {
			debug.SetGCPercent(percent)
			debug.SetMemoryLimit(limit)
			pace(percent, percent)
		}, limit)
	} else {
		debug.SetGCPercent(percent)
	}
	return make([]byte, floorSize)
}

// pace lowers the percentage by which the heap may grow, which the user has set to percent, while much of the
// heap is live. Large states would otherwise need twice the memory that they fill. It adapts after each
// collection; now is the present setting.
func pace(percent, now int) {
	runtime.AddCleanup(new([16]byte), func(now int) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := growth(percent, live[0].Value.Uint64())
		if next != now {
			debug.SetGCPercent(next)
		}
		pace(percent, next)
	}, now)
}

// growth returns the percentage by which a heap may grow that has a number of live bytes: percent, or less if
// that is more than most bytes. It is not less than 50 for that reason, since collections take processor
// time.
func growth(percent int, live uint64) int {
	const most = 180 << 20
	if live*uint64(percent) <= most*100 {
		return percent
	}
	return max(int(most*100/live), min(percent, 50))
}
