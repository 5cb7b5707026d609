package term

import (
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	barWidth   = 60
	barRefresh = 120 * time.Millisecond
)

// Bars shows a progress bar for each download below the other output on a terminal. It is safe for
// concurrent use.
type Bars struct {
	out    *os.File
	bottom *Bottom // nil for none

	mu        sync.Mutex
	container *mpb.Progress // nil while no bar is shown: it redraws by the clock
	shown     int
	unhide    func() // of the status
}

// NewBars returns bars on out, which must be a terminal: only there can a bar be erased. They take the place
// of the status at its bottom, if it is given.
func NewBars(out *os.File, bottom *Bottom) *Bars { return &Bars{out: out, bottom: bottom} }

// Begin adds a bar after a label. progress sets the bytes done and in total; a total of 0 or less means
// unknown. end removes the bar and must be called exactly once.
func (b *Bars) Begin(label string) (progress func(done, total int64), end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.container == nil {
		if b.bottom != nil {
			b.unhide = b.bottom.Hide()
		}
		b.container = mpb.New(mpb.WithOutput(b.out), mpb.WithWidth(barWidth), mpb.WithRefreshRate(barRefresh))
	}
	b.shown++
	bar := b.container.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name("  "+label+" ", decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.CountersKibiByte(" % .1f of % .1f")))
	progress = func(done, total int64) {
		if total > 0 {
			bar.SetTotal(total, false)
		}
		bar.SetCurrent(done)
	}
	return progress, func() {
		bar.Abort(true)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.shown--; b.shown == 0 {
			b.container.Wait()
			b.container = nil
			if b.unhide != nil {
				b.unhide()
			}
		}
	}
}

// Write writes whole lines above the bars. It implements io.Writer.
func (b *Bars) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.container != nil {
		return b.container.Write(text)
	}
	if b.bottom != nil {
		return b.bottom.pass(b.out, text)
	}
	return b.out.Write(text)
}
