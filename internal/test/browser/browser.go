// Package browser drives a headless Chromium in tests, over the pipe of its DevTools
// protocol. It records what a page asks for and complains about.
//
// A library for the protocol would bring six modules and take longer to compile than all
// of assay; tests need a dozen commands.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience is how long a page may take for one command. Machines that test are busy.
const patience = 60 * time.Second

// A Browser is the process that all tests of a package share, as one test sees it.
type Browser struct {
	t testing.TB
	*process
}

type process struct {
	write io.Writer
	end   func()

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	tabs    map[string]*Tab
	gone    error
}

// shared is the process, which the first test starts and [Run] ends.
var shared struct {
	once sync.Once
	*process
	err error
}

// Run runs the tests of a package and ends the browser if one of them started it: TestMain
// of each package with tests of pages calls it.
func Run(m *testing.M) int {
	defer func() {
		if shared.process != nil {
			shared.end()
		}
	}()
	return m.Run()
}

type reply struct {
	result json.RawMessage
	err    error
}

// message is what the browser sends: a reply with an ID, or an event with a method.
type message struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Find returns the path of a Chromium, or "" if there is none.
func Find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Start returns the browser, whose tabs are closed after the test. Without a Chromium the
// test is skipped, except in CI, which installs one or sets ASSAY_BROWSER to "none". A
// Chromium that does not answer says nothing of a page, so the test is skipped, too.
func Start(t testing.TB) *Browser {
	t.Helper()
	path := Find()
	if path == "" {
		if os.Getenv("CI") != "" && os.Getenv("ASSAY_BROWSER") != "none" {
			t.Fatal("there is no Chromium; CI installs the package chromium")
		}
		t.Skip("there is no Chromium; install the package chromium to test pages in a browser")
	}
	shared.once.Do(func() { shared.process, shared.err = start(path) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	b := &Browser{t, shared.process}
	if _, err := b.call("", "Browser.getVersion", nil); err != nil {
		t.Skipf("%s does not answer: %v", path, err)
	}
	return b
}

// start starts a process with a profile of its own.
func start(path string) (*process, error) {
	toBrowser, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	read, fromBrowser, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "assay-browser")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(profile))
	}
	_, _ = toBrowser.Close(), fromBrowser.Close() // the browser has its own
	p := &process{write: write, waiting: map[int]chan reply{}, tabs: map[string]*Tab{}}
	done := make(chan struct{})
	go func() { defer close(done); p.listen(read) }()
	p.end = func() {
		_, _ = p.call("", "Browser.close", nil) // it writes its profile, which is removed next
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		_, _ = write.Close(), read.Close()
		<-done
		_ = os.RemoveAll(profile)
	}
	return p, nil
}

// listen distributes what the browser sends until it ends.
func (b *process) listen(r io.Reader) {
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := in.ReadBytes(0)
		var m message
		if err == nil {
			err = json.Unmarshal(line[:len(line)-1], &m)
		}
		b.mu.Lock()
		if err != nil {
			b.gone = fmt.Errorf("the browser ended: %w", err)
			for id, ch := range b.waiting {
				ch <- reply{err: b.gone}
				delete(b.waiting, id)
			}
			b.mu.Unlock()
			return
		}
		if ch := b.waiting[m.ID]; ch != nil {
			delete(b.waiting, m.ID)
			answer := reply{result: m.Result}
			if m.Error != nil {
				answer.err = fmt.Errorf("%s", m.Error.Message)
			}
			ch <- answer
		} else if tab := b.tabs[m.Session]; tab != nil {
			tab.event(m)
		}
		b.mu.Unlock()
	}
}

// call sends a command and waits for its result.
func (b *process) call(session, method string, params any) (json.RawMessage, error) {
	if params == nil {
		params = struct{}{}
	}
	b.mu.Lock()
	if b.gone != nil {
		b.mu.Unlock()
		return nil, b.gone
	}
	b.next++
	id, ch := b.next, make(chan reply, 1)
	b.waiting[id] = ch
	text, err := json.Marshal(struct {
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
		Session string `json:"sessionId,omitempty"`
	}{id, method, params, session})
	if err == nil {
		_, err = b.write.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case r := <-ch:
		return r.result, r.err
	case <-time.After(patience):
		return nil, fmt.Errorf("%s: no answer in %s", method, patience)
	}
}

// A View is how large a page is shown, and in which theme.
type View struct {
	Width, Height int
	Dark          bool
	NoScript      bool
}

// A Tab is one page.
type Tab struct {
	b       *Browser
	session string

	// What the page asked for and complained about so far; read them with Requests and
	// Complaints.
	requests, complaints []string
}

// Open opens the page at a URL and waits until it is loaded.
func (b *Browser) Open(url string, v View) *Tab {
	b.t.Helper()
	var target struct {
		ID string `json:"targetId"`
	}
	b.must("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		Session string `json:"sessionId"`
	}
	b.must("", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached)
	tab := &Tab{b: b, session: attached.Session}
	b.mu.Lock()
	b.tabs[tab.session] = tab
	b.mu.Unlock()
	b.t.Cleanup(tab.Close)
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		tab.do(domain+".enable", nil, nil)
	}
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	tab.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	tab.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": v.Width, "height": v.Height, "deviceScaleFactor": 1, "mobile": false}, nil)
	if v.NoScript {
		tab.do("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	}
	tab.do("Page.navigate", map[string]any{"url": url}, nil)
	return tab
}

func (b *Browser) must(session, method string, params, result any) {
	b.t.Helper()
	text, err := b.call(session, method, params)
	if err == nil && result != nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

func (tab *Tab) do(method string, params, result any) {
	tab.b.t.Helper()
	tab.b.must(tab.session, method, params, result)
}

// event records what tests ask for. The caller holds the lock.
func (tab *Tab) event(m message) {
	var p struct {
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
		Type             string `json:"type"`
		ExceptionDetails struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
		Args []struct {
			Value       any    `json:"value"`
			Description string `json:"description"`
		} `json:"args"`
		Entry struct {
			Level string `json:"level"`
			Text  string `json:"text"`
		} `json:"entry"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	switch m.Method {
	case "Network.requestWillBeSent":
		tab.requests = append(tab.requests, p.Request.URL)
	case "Runtime.exceptionThrown":
		tab.complaints = append(tab.complaints, p.ExceptionDetails.Text+" "+p.ExceptionDetails.Exception.Description)
	case "Runtime.consoleAPICalled":
		if p.Type == "error" || p.Type == "warning" || p.Type == "assert" {
			tab.complaints = append(tab.complaints, fmt.Sprint(p.Args))
		}
	case "Log.entryAdded":
		if p.Entry.Level == "error" || p.Entry.Level == "warning" {
			tab.complaints = append(tab.complaints, p.Entry.Text)
		}
	}
}

// Requests returns the addresses that the page asked for, with its own.
func (tab *Tab) Requests() []string { return tab.copied(&tab.requests) }

// Complaints returns errors and warnings of the console, and exceptions.
func (tab *Tab) Complaints() []string { return tab.copied(&tab.complaints) }

func (tab *Tab) copied(list *[]string) []string {
	tab.b.mu.Lock()
	defer tab.b.mu.Unlock()
	return append([]string(nil), *list...)
}

// Eval evaluates an expression, waits for its promise if it is one, and decodes the value
// into result, which may be nil.
func (tab *Tab) Eval(expression string, result any) {
	tab.b.t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	tab.do("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.Exception != nil {
		tab.b.t.Fatalf("%s: %s %s", expression, answer.Exception.Text, answer.Exception.Exception.Description)
	}
	if result != nil && answer.Result.Value != nil {
		if err := json.Unmarshal(answer.Result.Value, result); err != nil {
			tab.b.t.Fatalf("%s: %v in %.200s", expression, err, answer.Result.Value)
		}
	}
}

// Wait waits until an expression is true.
func (tab *Tab) Wait(expression string) {
	tab.b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		tab.Eval("!!("+expression+")", &ok)
		if ok {
			return
		}
		if time.Now().After(end) {
			tab.b.t.Fatalf("%s is not true after %s; complaints: %q", expression, patience, tab.Complaints())
		}
	}
}

// Key presses and releases a key: "w", "Escape", "ArrowLeft", "Tab", "?".
func (tab *Tab) Key(key string) {
	tab.b.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
	press := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
	if len(key) == 1 {
		press["text"] = key
	} else if key == "Enter" {
		press["text"] = "\r"
	}
	tab.do("Input.dispatchKeyEvent", press, nil)
	tab.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]}, nil)
}

// Modifiers of [Tab.Mouse] and [Tab.Scroll].
const (
	Control = 2
	Shift   = 8
)

// Mouse sends an event of the pointer: "mousePressed", "mouseMoved" or "mouseReleased".
func (tab *Tab) Mouse(kind string, x, y float64, modifiers int) {
	tab.b.t.Helper()
	p := map[string]any{"type": kind, "x": x, "y": y, "modifiers": modifiers}
	if kind != "mouseMoved" {
		p["button"], p["clickCount"] = "left", 1
	}
	tab.do("Input.dispatchMouseEvent", p, nil)
}

// Drag presses at one point, moves to another and releases.
func (tab *Tab) Drag(x0, y0, x1, y1 float64, modifiers int) {
	tab.Mouse("mouseMoved", x0, y0, modifiers)
	tab.Mouse("mousePressed", x0, y0, modifiers)
	for i := 1; i <= 4; i++ {
		p := map[string]any{"type": "mouseMoved", "x": x0 + (x1-x0)*float64(i)/4, "y": y0 + (y1-y0)*float64(i)/4, "modifiers": modifiers, "button": "left", "buttons": 1}
		tab.do("Input.dispatchMouseEvent", p, nil)
	}
	tab.Mouse("mouseReleased", x1, y1, modifiers)
}

// Scroll turns the wheel.
func (tab *Tab) Scroll(x, y, dx, dy float64, modifiers int) {
	tab.do("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy, "modifiers": modifiers}, nil)
}

// Screenshot returns the whole page, also what is out of view, as PNG.
func (tab *Tab) Screenshot() []byte {
	var answer struct {
		Data string `json:"data"`
	}
	tab.do("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &answer)
	return tab.decoded(answer.Data)
}

// PDF prints the page.
func (tab *Tab) PDF() []byte {
	var answer struct {
		Data string `json:"data"`
	}
	tab.do("Page.printToPDF", map[string]any{"printBackground": true}, &answer)
	return tab.decoded(answer.Data)
}

func (tab *Tab) decoded(data string) []byte {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		tab.b.t.Fatal(err)
	}
	return b
}

// Close closes the tab, unless it is closed.
func (tab *Tab) Close() {
	tab.b.mu.Lock()
	_, open := tab.b.tabs[tab.session]
	delete(tab.b.tabs, tab.session)
	tab.b.mu.Unlock()
	if open {
		_, _ = tab.b.call(tab.session, "Page.close", nil)
	}
}
