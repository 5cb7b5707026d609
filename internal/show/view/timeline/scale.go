package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// scale maps times to positions on the axis, in percent. Long waits between phases, for a person's approval,
// are shortened; otherwise they would leave no room for the operations. A run without a duration has an axis
// too, on which everything is at the beginning.
type scale struct {
	begin, end time.Time
	pieces     []piece // of the axis, in order; neighbours touch
	active     time.Duration
}

// piece is a part of the axis with a constant scale. In a shortened wait, more time fits into the same
// width.
type piece struct {
	from, to time.Time
	x0, x1   float64
	cut      bool
}

const (
	// When and how much waits are shortened.
	cutWidth = 4.0 // percent of the axis for a shortened wait
	cutShare = 0.1 // share of the rest of the run from which a wait is shortened
)

// newScale returns the axis of a run from begin to end. Only the waits between phases are shortened, since
// waits within a phase are the subject of the page.
func newScale(begin, end time.Time, phases []span) scale {
	s := scale{begin: begin, end: end}
	at := begin
	for i := 0; i+1 < len(phases); i++ {
		wait, resume := phases[i].to, phases[i+1].from
		if phases[i].outcome == running || !wait.After(at) || !resume.After(wait) || resume.After(end) {
			continue
		}
		if float64(resume.Sub(wait)) > cutShare*float64(end.Sub(begin)-resume.Sub(wait)) {
			s.pieces = append(s.pieces, piece{from: at, to: wait}, piece{from: wait, to: resume, cut: true})
			at = resume
		}
	}
	s.pieces = append(s.pieces, piece{from: at, to: end})
	room := 100.0
	for _, p := range s.pieces {
		if p.cut {
			room -= cutWidth
		} else {
			s.active += p.to.Sub(p.from)
		}
	}
	x := 0.0
	for i := range s.pieces {
		p := &s.pieces[i]
		width := cutWidth
		if !p.cut {
			width = room
			if s.active > 0 {
				width = room * float64(p.to.Sub(p.from)) / float64(s.active)
			}
		}
		p.x0, p.x1 = x, min(x+width, 100)
		x = p.x1
	}
	return s
}

// x returns the position of a time in percent. Times outside the run lie at its ends.
func (s *scale) x(t time.Time) float64 {
	i := slices.IndexFunc(s.pieces, func(p piece) bool { return !t.After(p.to) })
	if i < 0 {
		return 100
	}
	p := s.pieces[i]
	length := p.to.Sub(p.from)
	if length <= 0 || !t.After(p.from) {
		return p.x0
	}
	return p.x0 + (p.x1-p.x0)*float64(t.Sub(p.from))/float64(length)
}

// tick is a mark on the axis.
type tick struct {
	x     float64
	label string
}

// tickSteps are the distances of ticks that people read easily, ascending.
var tickSteps = func() []time.Duration {
	var out []time.Duration
	for unit := time.Microsecond; unit <= time.Second; unit *= 10 {
		out = append(out, unit, 2*unit, 5*unit)
	}
	for _, s := range []int{10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400} {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}()

const (
	// How close ticks may be. A label that would touch the one before it is left out with its tick.
	mostTicks  = 10  // in a run without cuts
	tickMargin = 6.5 // percent of the axis that a label needs
)

// ticks returns the marks of the axis, ascending, at least one. Labels give the time since the beginning of
// the run, even after a shortened wait.
func (s *scale) ticks() []tick {
	if s.active <= 0 {
		return []tick{{0, "0"}}
	}
	step := tickSteps[len(tickSteps)-1]
	for step < s.active/mostTicks {
		step *= 2 // for runs of weeks
	}
	if i := slices.IndexFunc(tickSteps, func(d time.Duration) bool { return d >= s.active/mostTicks }); i >= 0 {
		step = tickSteps[i]
	}
	var out []tick
	for i, p := range s.pieces {
		if p.cut {
			continue
		}
		last := 100 - tickMargin/2
		if i+1 < len(s.pieces) {
			last = p.x1 + cutWidth - tickMargin // leaves room for the first label behind the cut
		}
		first := p.from.Sub(s.begin)
		n := (first + step - 1) / step // the first multiple that is not before the piece
		for d := n * step; d <= p.to.Sub(s.begin); d += step {
			x := s.x(s.begin.Add(d))
			if x <= last && (len(out) == 0 || x-out[len(out)-1].x >= tickMargin) {
				out = append(out, tick{x, clock(d, step)})
			}
		}
	}
	if len(out) == 0 { // the run is shorter than any step
		return []tick{{0, "0"}}
	}
	return out
}

// clock returns a time since the beginning, as precise as steps of the given length need: 250 ms, 3.5 s,
// 2:05, 1:00:00.
func clock(d, step time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d < time.Second && step < time.Millisecond:
		return number(float64(d)/float64(time.Millisecond), 3) + " ms"
	case d < time.Second && step < 100*time.Millisecond:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return number(d.Seconds(), decimals(step)) + " s"
	}
	h, m := int(d/time.Hour), int(d/time.Minute)%60
	sec := number((d % time.Minute).Seconds(), decimals(step))
	if i := slices.Index([]byte(sec), '.'); i == 1 || i < 0 && len(sec) == 1 {
		sec = "0" + sec
	}
	if h == 0 {
		return fmt.Sprintf("%d:%s", m, sec)
	}
	return fmt.Sprintf("%d:%02d:%s", h, m, sec)
}

// decimals returns how many digits after the point a number of seconds needs, so that two ticks which are a
// step apart differ.
func decimals(step time.Duration) int {
	n := 0
	for unit := time.Second; step < unit && n < 6; unit /= 10 {
		n++
	}
	return n
}

// number returns a number with at most the given digits after the point, without zeros at its end.
func number(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	for digits > 0 && (s[len(s)-1] == '0' || s[len(s)-1] == '.') {
		point := s[len(s)-1] == '.'
		s = s[:len(s)-1]
		if point {
			break
		}
	}
	return s
}

// Duration returns a duration with about three significant digits, from hundredths of a millisecond to hours.
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < 10*time.Millisecond:
		return number(max(float64(d)/float64(time.Millisecond), 0.01), 2) + " ms"
	case d < time.Second:
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return number(d.Seconds(), 2) + " s"
	case d < time.Minute:
		return number(d.Seconds(), 1) + " s"
	}
	d = d.Round(time.Second)
	h, m, s := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	switch {
	case h == 0 && s == 0:
		return fmt.Sprintf("%d min", m)
	case h == 0:
		return fmt.Sprintf("%d min %d s", m, s)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	default:
		return fmt.Sprintf("%d h %d min", h, m)
	}
}

// at returns a time as the time since the beginning, as precise as the length of the run warrants.
func (m *model) at(t time.Time) string {
	return clock(t.Sub(m.scale.begin), min(max(m.scale.active/5000, time.Microsecond), time.Second))
}
