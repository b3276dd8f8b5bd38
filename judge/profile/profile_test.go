package profile

import (
	"strings"
	"testing"
	"time"

	"assay/internal/test"
)

func TestFunctionNames(t *testing.T) {
	for name, want := range map[string]bool{
		"/usr/lib/python3.11/asyncio/tasks.py:627 sleep": true, "{built-in method time.sleep}": true, "{method 'acquire' of '_thread.lock' objects}": true,
		"{method 'recv_into' of '_socket.socket' objects}": true, "{method 'read' of '_ssl._SSLSocket' objects}": true, "..lib/python3.11/selectors.py:451 EpollSelector.select": true,
		"{method 'poll' of 'select.epoll' objects}": true, "runtime.futex": true, "/usr/lib/python3.11/threading.py:288 Condition.wait": true,
		"/sleep/select.py:3 work": false, "app.py:1 selected": false, "app.py:1 read": false, "{method 'read' of '_io.BufferedReader' objects}": false, "app.py:3 await_all": false,
	} {
		if got := isWait(name); got != want {
			t.Errorf("%s waits: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{
		"/usr/lib/python3.11/json/decoder.py:4 raw": true, "/venv/lib/python3.12/site-packages/sympy/core.py:1 f": true, "<frozen os>:674 _Environ.get": true,
		"{built-in method sum}": true, "..hon3.11/asyncio/runners.py:160 run": true, "torch/nn/modules/conv.py(462):_forward": true, "runtime.mallocgc": true,
		"/usr/local/go/src/net/http/server.go": true, "/app/judge.py:31 Judge.check": false, "/home/me/mython3/x.py:1 f": false, "main.main": false, "": false,
	} {
		if got := isLibrary(name); got != want {
			t.Errorf("%q is of a library: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"/a b/c.py:31 Judge.check": `"Judge.check" (c.py:31)`, "c.py:3 <lambda>": `"<lambda>" (c.py:3)`, "main.(*T).f": `"main.(*T).f"`, "{built-in method sum}": `"{built-in method sum}"`,
	} {
		if got := called(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

// TestLongNames: what a function is does not hang on how long its name is, and
// megabytes of names are not all looked at.
func TestLongNames(t *testing.T) {
	if !test.Long() {
		t.Skip("measures time: make long")
	}
	long := strings.Repeat("x", 16<<20)
	start := time.Now()
	for range 20 {
		if !isLibrary("/usr/lib/python3.12/json/"+long) || isLibrary("app.py:3 "+long) {
			t.Fatal("a long name is of another library")
		}
		if !isWait("{method 'acquire' of "+long) || isWait("app.py:3 "+long) {
			t.Fatal("a long name waits otherwise")
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
