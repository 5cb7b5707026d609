package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// table prints figures in Markdown, a row per command and engine, as soon as they are known.
type table struct {
	w     io.Writer
	names []string
	err   error
}

var head = []string{"work", "n", "with", "command", "engine", "CPU s", "own CPU s", "wall s", "MB", "calls", "wire kB", "written kB", "processes", "open s", "times"}

func newTable(w io.Writer, binaries []string) *table {
	t := &table{w: w}
	for _, b := range binaries {
		t.names = append(t.names, filepath.Base(b))
	}
	t.line(head)
	t.line(strings.Split(strings.Repeat("---,", len(head)-1)+"---", ","))
	return t
}

func (t *table) line(cells []string) {
	if _, err := fmt.Fprintf(t.w, "| %s |\n", strings.Join(cells, " | ")); err != nil && t.err == nil {
		t.err = err
	}
}

// row shows what a command has cost. "times" is how many times as much processor time it took the engine as the first one.
func (t *table) row(j job, command string, row []figures) {
	for e, f := range row {
		cells := []string{j.name, number(int64(j.n)), j.kind, command, t.names[e]}
		switch {
		case !f.tried:
			cells = append(cells, strings.Split(strings.Repeat(",", len(head)-len(cells)-1), ",")...)
		default:
			calls := f.Total()
			cells = append(cells,
				seconds(f.Cost.CPU, f.TimedOut), seconds(f.own(), f.TimedOut), seconds(f.Wall, f.TimedOut), fmt.Sprint(f.Memory>>20), number(calls.Calls),
				number((calls.In+calls.Out)>>10), number(f.Written>>10), number(int64(f.Processes)), open(f), ratio(f, row[0], e))
		}
		t.line(cells)
	}
}

func seconds(d time.Duration, over bool) string {
	if over {
		return fmt.Sprintf("over %.2f", d.Seconds())
	}
	return fmt.Sprintf("%.2f", d.Seconds())
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func open(f figures) string {
	if f.Opens == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", f.Open.Seconds()/float64(f.Opens))
}

func ratio(f, first figures, e int) string {
	if e == 0 || !first.tried || first.Cost.CPU == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(f.Cost.CPU)/float64(first.Cost.CPU))
}

func (t *table) end() error { return t.err }
