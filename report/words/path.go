package words

// PathClass returns the name of a class of time on a critical path.
func PathClass(id string) string { return wordOr(pathClasses, id, 40) }

var pathClasses = map[string]string{
	"host_op": "operator on the CPU", "python": "Python or annotation", "host_gap": "CPU, nothing recorded", "runtime": "CUDA/HIP call",
	"dataloader": "data loader", "launch_delay": "launch delay", "kernel_gap": "gap between kernels", "sync_return": "return of a waiting call",
	"compute": "compute", "comm": "communication", "copy": "copy", "unexplained": "not explained",
}

// WaitedFor returns the name of a kind of thing that an activity waits for before it starts.
func WaitedFor(id string) string { return wordOr(waitedFor, id, 40) }

var waitedFor = map[string]string{
	"launch": "launch", "stream": "stream free", "event": "event", "collective": "last rank", "program": "thread free",
	"handoff": "other thread", "sync": "GPU work", "free": "idle GPU", "queue": "room in queue", "arrival": "other process",
}
