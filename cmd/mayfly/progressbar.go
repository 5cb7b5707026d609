package main

import (
	"os"
	"time"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/install"
)

const (
	barWidth   = 60
	barRefresh = 120 * time.Millisecond
)

// downloading returns what draws a bar for each download while it lasts; nil unless standard output is a terminal, where alone a bar can be
// taken away again.
func (a *app) downloading() func(addr.Provider, versions.Version) (install.Progress, func()) {
	out, ok := a.env.Stdout.(*os.File)
	if !ok || !term.IsTerminal(int(out.Fd())) || a.stream != nil || a.document {
		return nil
	}
	return func(p addr.Provider, v versions.Version) (install.Progress, func()) {
		container := mpb.New(mpb.WithOutput(out), mpb.WithWidth(barWidth), mpb.WithRefreshRate(barRefresh))
		bar := container.AddBar(0,
			mpb.PrependDecorators(decor.Name("  "+p.ForDisplay()+" v"+v.String()+" ")),
			mpb.AppendDecorators(decor.CountersKibiByte(" % .1f of % .1f")))
		progress := func(done, total int64) {
			if total > 0 {
				bar.SetTotal(total, false)
			}
			bar.SetCurrent(done)
		}
		return progress, func() {
			bar.Abort(true)
			container.Wait()
		}
	}
}
