package words

// WaitedFor returns the name of a kind of thing that an activity waits for before it starts.
func WaitedFor(id string) string { return wordOr(waitedFor, id, 40) }

var waitedFor = map[string]string{
	"launch": "launch", "stream": "stream free", "event": "event", "collective": "last rank", "program": "thread free",
	"handoff": "other thread", "sync": "GPU work", "free": "idle GPU", "staged": "copy", "queue": "room in queue", "arrival": "other process",
}
