package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/install"
)

const (
	barWidth   = 60
	barRefresh = 120 * time.Millisecond
)

// bars are those of the downloads that are under way, below what else is written. It is safe for concurrent
// use.
type bars struct {
	out *os.File

	mu        sync.Mutex
	container *mpb.Progress // nil while there are none
	under     int
}

// downloading returns what draws a bar for each download while it lasts; nil unless standard output is a
// terminal, where alone a bar can be taken away again.
func (a *app) downloading() func(addr.Provider, versions.Version) (install.Progress, func()) {
	out := terminalOf(a.env.Stdout)
	if out == nil || a.stream != nil || a.document {
		return nil
	}
	a.bars = &bars{out: out}
	return a.bars.begin
}

// begin adds a bar. The function that it returns second takes it away.
func (b *bars) begin(p addr.Provider, v versions.Version) (install.Progress, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.container == nil {
		b.container = mpb.New(mpb.WithOutput(b.out), mpb.WithWidth(barWidth), mpb.WithRefreshRate(barRefresh))
	}
	b.under++
	bar := b.container.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name("  "+p.ForDisplay()+" v"+v.String()+" ", decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.CountersKibiByte(" % .1f of % .1f")))
	progress := func(done, total int64) {
		if total > 0 {
			bar.SetTotal(total, false)
		}
		bar.SetCurrent(done)
	}
	return progress, func() {
		bar.Abort(true)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.under--; b.under == 0 {
			b.container.Wait()
			b.container = nil
		}
	}
}

// Write writes whole lines above the bars. It implements io.Writer.
func (b *bars) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.container != nil {
		return b.container.Write(text)
	}
	return b.out.Write(text)
}

// lineOutput is where lines for people go.
func (a *app) lineOutput() io.Writer {
	switch {
	case a.bars != nil:
		return a.bars
	default:
		return a.env.Stdout
	}
}
