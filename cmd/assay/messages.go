package main

import "sync"

// messages prints the messages of inputs that are read in parallel, in the order of the inputs. It
// prints messages of the first unfinished input at once, and messages of later inputs when all
// earlier inputs are finished.
type messages struct {
	say     func(line string)
	mu      sync.Mutex
	at      int // index of the first unfinished input
	waiting map[int][]string
	done    map[int]bool
}

func newMessages(say func(string)) *messages {
	return &messages{say: say, waiting: make(map[int][]string), done: make(map[int]bool)}
}

// line prints a line of an input, now or when the earlier inputs are finished.
func (t *messages) line(input int, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if input == t.at {
		t.say(text)
		return
	}
	t.waiting[input] = append(t.waiting[input], text)
}

// end marks an input as finished.
func (t *messages) end(input int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.done[input] = true; t.done[t.at]; {
		delete(t.done, t.at)
		t.at++
		for _, text := range t.waiting[t.at] {
			t.say(text)
		}
		delete(t.waiting, t.at)
	}
}
