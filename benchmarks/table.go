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
	// last has the figures of the same command at the size before, by engine.
	last map[string]sized
}

type sized struct {
	figures
	n int
}

var head = []string{
	"work", "n", "with", "command", "engine", "CPU s", "own CPU s", "wall s", "bound s", "wall/bound", "MB", "calls", "calls s", "wire kB", "written kB", "processes", "open s", "times", "times wall",
	"times MB", "growth", "target",
}

func newTable(w io.Writer, binaries []string) *table {
	t := &table{w: w, last: map[string]sized{}}
	times := map[string]int{}
	for _, b := range binaries {
		times[filepath.Base(b)]++
	}
	for _, b := range binaries {
		if name := filepath.Base(b); times[name] == 1 {
			b = name
		}
		t.names = append(t.names, b)
	}
	t.line(head)
	t.line(strings.Split(strings.Repeat("---,", len(head)-1)+"---", ","))
	return t
}

func (t *table) line(cells []string) {
	cells = append(cells, make([]string, len(head)-len(cells))...)
	if _, err := fmt.Fprintf(t.w, "| %s |\n", strings.Join(cells, " | ")); err != nil && t.err == nil {
		t.err = err
	}
}

// row shows the cost of a command. "times" is how many times as much processor time it took the engine as the
// first one, and so on.
func (t *table) row(j job, s step, row []figures) {
	command := s.name
	for e, f := range row {
		cells := []string{j.name, number(int64(j.n)), j.kind, command, t.names[e]}
		switch {
		case !f.tried:
		case f.failed:
			cells = append(cells, "failed")
		default:
			calls := f.Total()
			growth, shown := t.growth(j, command, e, f)
			cells = append(cells,
				seconds(f.Cost.CPU, f.TimedOut), seconds(f.own(), f.TimedOut), seconds(f.Wall, f.TimedOut), some(s.bound), fraction(f.Wall, s.bound), fmt.Sprint(f.Memory>>20), number(calls.Calls),
				some(f.Busy), number((calls.In+calls.Out)>>10), number(f.Written>>10), number(int64(f.Processes)), some(f.Open),
				"", "", "", shown, "")
			at := len(head) - 5
			if first := row[0]; e == 0 {
				cells[len(head)-1] = verdict(j, command, f, growth)
			} else if first.measured() {
				cells[at], cells[at+1] = ratio(int64(f.Cost.CPU), int64(first.Cost.CPU)), ratio(int64(f.Wall), int64(first.Wall))
				cells[at+2] = ratio(f.Memory, first.Memory)
			}
		}
		t.line(cells)
	}
}

// growth compares the processor time of a command with its time at the size before: how many times as much
// for how many times the work.
func (t *table) growth(j job, command string, engine int, f figures) (float64, string) {
	key := fmt.Sprint(j.name, " ", j.kind, " ", command, " ", engine)
	last, ok := t.last[key]
	t.last[key] = sized{f, j.n}
	if !ok || last.n == 0 || last.Cost.CPU == 0 || j.n <= last.n {
		return 0, ""
	}
	growth := float64(f.Cost.CPU) / float64(last.Cost.CPU)
	return growth, fmt.Sprintf("%.1f for %.3g", growth, float64(j.n)/float64(last.n))
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

// fraction is how many times as long as its bound a run took, "" without a bound.
func fraction(wall, bound time.Duration) string {
	if bound == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", wall.Seconds()/bound.Seconds())
}

func some(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return seconds(d, false)
}

func ratio(n, first int64) string {
	if first == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(n)/float64(first))
}

func (t *table) end() error { return t.err }
