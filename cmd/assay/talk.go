package main

import "sync"

// A talk prints the messages of inputs that are read in parallel, in the order of the
// inputs. It prints messages of the first unfinished input at once, and messages of later
// inputs when all earlier inputs are finished.
type talk struct {
	say  func(line string)
	mu   sync.Mutex
	at   int // the first input that is not done
	held map[int][]string
	done map[int]bool
}

func newTalk(say func(string)) *talk {
	return &talk{say: say, held: make(map[int][]string), done: make(map[int]bool)}
}

// line prints a line of an input, now or later.
func (t *talk) line(input int, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if input == t.at {
		t.say(text)
		return
	}
	t.held[input] = append(t.held[input], text)
}

// end notes that an input has no more lines.
func (t *talk) end(input int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.done[input] = true; t.done[t.at]; {
		delete(t.done, t.at)
		t.at++
		for _, text := range t.held[t.at] {
			t.say(text)
		}
		delete(t.held, t.at)
	}
}
