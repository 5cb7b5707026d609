package timeline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/event"
)

func labels(s scale) []string {
	var out []string
	for _, t := range s.ticks() {
		out = append(out, t.label)
	}
	return out
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		length time.Duration
		want   []string
	}{
		{0, []string{"0"}},
		{700 * time.Microsecond, []string{"0", "0.1 ms", "0.2 ms", "0.3 ms", "0.4 ms", "0.5 ms", "0.6 ms"}},
		{ms(9), []string{"0", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms", "6 ms", "7 ms", "8 ms"}},
		{ms(130), []string{"0", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms", "120 ms"}},
		{ms(2600), []string{"0", "0.5 s", "1 s", "1.5 s", "2 s", "2.5 s"}},
		{100 * time.Second, []string{"0", "10 s", "20 s", "30 s", "40 s", "50 s", "1:00", "1:10", "1:20", "1:30"}},
		{55 * time.Minute, []string{"0", "10:00", "20:00", "30:00", "40:00", "50:00"}},
		{5 * time.Hour, []string{"0", "30:00", "1:00:00", "1:30:00", "2:00:00", "2:30:00", "3:00:00", "3:30:00", "4:00:00", "4:30:00"}},
		{30 * 24 * time.Hour, []string{"0", "96:00:00", "192:00:00", "288:00:00", "384:00:00", "480:00:00", "576:00:00", "672:00:00"}},
	} {
		if diff := cmp.Diff(c.want, labels(newScale(zero, zero.Add(c.length), nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.length, diff)
		}
	}
}

func phase(from, to time.Duration) span {
	return span{op: event.OpPlanning, from: zero.Add(from), to: zero.Add(to), outcome: done}
}

func TestWaitsAreCut(t *testing.T) {
	s := newScale(zero, zero.Add(ms(60_002_000)), []span{phase(0, ms(1000)), phase(ms(60_001_000), ms(60_002_000))})
	if len(s.pieces) != 3 || !s.pieces[1].cut || s.active != ms(2000) {
		t.Fatalf("pieces: got %+v, want 3, the second one cut, active for %s", s.pieces, ms(2000))
	}
	for at, want := range map[time.Duration]float64{0: 0, ms(500): 24, ms(1000): 48, ms(30_001_000): 50, ms(60_001_000): 52, ms(60_002_000): 100} {
		if got := s.x(zero.Add(at)); got != want {
			t.Errorf("%s is at %v, want %v", at, got, want)
		}
	}
	want := []string{"0", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "16:40:01", "16:40:01.2", "16:40:01.4", "16:40:01.6", "16:40:01.8"}
	if d := cmp.Diff(want, labels(s)); d != "" {
		t.Error(d)
	}
	if s = newScale(zero, zero.Add(ms(2050)), []span{phase(0, ms(1000)), phase(ms(1050), ms(2050))}); len(s.pieces) != 1 {
		t.Errorf("pieces with a short wait: got %+v, want 1, not cut", s.pieces)
	}
}

func TestTicksOfNanoseconds(t *testing.T) {
	s := newScale(zero, zero.Add(44), []span{phase(0, 1), phase(6, 44)})
	if d := cmp.Diff([]string{"0"}, labels(s)); d != "" {
		t.Error(d)
	}
}

// Later is never further left, and everything is on the axis.
func TestScaleIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.Int64Range(0, int64(100*time.Hour))
		end := time.Duration(length.Draw(t, "end"))
		var phases []span
		for range rapid.IntRange(0, 3).Draw(t, "phases") {
			phases = append(phases, phase(time.Duration(length.Draw(t, "from")), time.Duration(length.Draw(t, "to"))))
		}
		s := newScale(zero, zero.Add(end), phases)
		a, b := time.Duration(length.Draw(t, "a")), time.Duration(length.Draw(t, "b"))
		x, y := s.x(zero.Add(min(a, b))), s.x(zero.Add(max(a, b)))
		if x > y || x < 0 || y > 100 {
			t.Fatalf("%s is at %v, %s at %v", min(a, b), x, max(a, b), y)
		}
		if ticks := s.ticks(); len(ticks) == 0 || len(ticks) > 16 {
			t.Fatalf("%d ticks", len(ticks))
		}
	})
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", time.Nanosecond: "0.01 ms", 400 * time.Microsecond: "0.4 ms", ms(7): "7 ms", ms(999): "999 ms", ms(1240): "1.24 s", ms(9000): "9 s",
		ms(12_340): "12.3 s", time.Minute: "1 min", 200 * time.Second: "3 min 20 s", 2 * time.Hour: "2 h", 125 * time.Minute: "2 h 5 min",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestPack(t *testing.T) {
	spans := [][2]int{{0, 10}, {5, 8}, {8, 12}, {10, 11}, {0, 20}, {0, 20}}
	at := func(i int) (time.Time, time.Time) { return zero.Add(ms(spans[i][0])), zero.Add(ms(spans[i][1])) }
	lanes, n := pack(len(spans), 4, at)
	if d := cmp.Diff([]int{0, 3, 3, 0, 1, 2}, lanes); d != "" || n != 4 {
		t.Errorf("got %d lanes, want 4 (-want +got):\n%s", n, d)
	}
	if lanes, n = pack(len(spans), 2, at); n != 2 || lanes[5] != 1 {
		t.Errorf("got %d lanes: %v, want 2, the last span in the second", n, lanes)
	}
}
