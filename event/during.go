package event

import "iter"

// During returns the events of a run as an iterator. Each loop over it makes the run once: run is called on a
// goroutine of its own, with the observer that the events come from, and the loop ends when run has returned.
// To miss no event, run must end its operations, which waits for their events.
//
// Breaking out of the loop does not end the run. The rest of its events is dropped, and the loop is left when
// run has returned; to end it earlier, cancel its context first. A panic of run is not caught.
func During(run func(Observer)) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		events, done := make(chan Event), make(chan struct{})
		go func() {
			defer close(done)
			run(ObserverFunc(func(e Event) {
				select {
				case events <- e:
				case <-done:
				}
			}))
		}()
		defer drain(events, done) // also if the body of the loop panics
		for {
			select {
			case e := <-events:
				if !yield(e) {
					return
				}
			case <-done:
				return
			}
		}
	}
}

// drain drops events until the run is done.
func drain(events <-chan Event, done <-chan struct{}) {
	for {
		select {
		case <-events:
		case <-done:
			return
		}
	}
}
