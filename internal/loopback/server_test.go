package loopback

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A running server and what it serves.
type running struct {
	*Server
	text []byte
	stop context.CancelFunc
	done chan error
	idle bool
}

// start serves so many random bytes.
func start(t *testing.T, c Content, most time.Duration) *running {
	t.Helper()
	r := &running{text: make([]byte, 200_000), done: make(chan error, 1)}
	rnd := rand.NewChaCha8([32]byte{1})
	rnd.Read(r.text)
	c.File, c.Size = bytes.NewReader(r.text), int64(len(r.text))
	var err error
	if r.Server, err = Listen(c, 0); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go func() {
		var err error
		r.idle, err = r.Serve(ctx, most)
		r.done <- err
	}()
	t.Cleanup(r.stop)
	return r
}

// send sends a request as it is written, which a client of the standard library would tidy.
func (r *running) send(t *testing.T, request string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Port())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return resp
}

func TestServed(t *testing.T) {
	r := start(t, Content{Name: "t.json.gz", Title: "t"}, time.Minute)
	resp, err := http.Get(r.URL() + tracePath)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil || sha256.Sum256(got) != sha256.Sum256(r.text) || resp.ContentLength != int64(len(r.text)) {
		t.Errorf("%d bytes differ from the file: %v", len(got), err)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" {
		t.Errorf("the trace is sent as %s, and the browser would unpack it", enc)
	}
	head, err := http.Head(r.URL() + tracePath)
	if err != nil || head.StatusCode != http.StatusOK || head.ContentLength != int64(len(r.text)) {
		t.Errorf("HEAD: %v %v", head, err)
	}
	if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$`).MatchString(r.URL()) {
		t.Errorf("the address is %s", r.URL())
	}
	if host, _, _ := net.SplitHostPort(r.listener.Addr().String()); host != "127.0.0.1" {
		t.Errorf("the server listens on %s", host)
	}
}

// TestRefused sends what must not be answered.
func TestRefused(t *testing.T) {
	r := start(t, Content{Name: "t.json.gz", Title: "t"}, time.Minute)
	host := net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Port()))
	for _, tt := range []struct {
		request string
		want    int
	}{
		{"GET " + r.root + " HTTP/1.1\nHost: " + host + "\n\n", 200},
		{"GET " + r.root + "trace HTTP/1.1\nHost: localhost:" + strconv.Itoa(r.Port()) + "\nOrigin: http://" + host + "\n\n", 200},
		{"GET " + r.root + " HTTP/1.1\nHost: evil.example\n\n", 403},
		{"GET " + r.root + " HTTP/1.1\nHost: evil.example:" + strconv.Itoa(r.Port()) + "\n\n", 403},
		{"GET " + r.root + " HTTP/1.1\nHost: 127.0.0.1\n\n", 403},
		{"GET " + r.root + "trace HTTP/1.1\nHost: 127.0.0.1.evil.example:" + strconv.Itoa(r.Port()) + "\n\n", 403},
		{"GET http://evil.example" + r.root + "trace HTTP/1.1\nHost: " + host + "\n\n", 403},
		{"GET " + r.root + "trace HTTP/1.1\nHost: " + host + "\nOrigin: https://evil.example\n\n", 403},
		{"GET " + r.root + "trace HTTP/1.1\nHost: " + host + "\nOrigin: null\n\n", 403},
		{"GET / HTTP/1.1\nHost: " + host + "\n\n", 404},
		{"GET /" + strings.Repeat("0", 32) + "/ HTTP/1.1\nHost: " + host + "\n\n", 404},
		{"GET " + r.root + "../../etc/passwd HTTP/1.1\nHost: " + host + "\n\n", 404},
		{"GET " + r.root + "..%2f..%2fetc%2fpasswd HTTP/1.1\nHost: " + host + "\n\n", 404},
		{"GET " + r.root + "trace/ HTTP/1.1\nHost: " + host + "\n\n", 404},
		{"GET " + r.root + ".%00trace HTTP/1.1\nHost: " + host + "\n\n", 404},
		{"GET " + strings.TrimSuffix(r.root, "/") + " HTTP/1.1\nHost: " + host + "\n\n", 404},
		{"POST " + r.root + " HTTP/1.1\nHost: " + host + "\nContent-Length: 0\n\n", 405},
		{"PUT " + r.root + "trace HTTP/1.1\nHost: " + host + "\nContent-Length: 0\n\n", 405},
		{"OPTIONS " + r.root + "trace HTTP/1.1\nHost: " + host + "\n\n", 405},
		{"GET " + r.root + " HTTP/1.1\nHost: " + host + "\nX: " + strings.Repeat("x", 64<<10) + "\n\n", 431},
	} {
		resp := r.send(t, tt.request)
		if resp.StatusCode != tt.want {
			t.Errorf("%.80q: status %d, want %d", tt.request, resp.StatusCode, tt.want)
		}
		if allowed := resp.Header.Get("Access-Control-Allow-Origin"); allowed != "" {
			t.Errorf("%.80q: other sites may read it: %s", tt.request, allowed)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode >= 300 && (bytes.Contains(body, r.text[:16]) || strings.Contains(string(body), r.root)) {
			t.Errorf("%.80q: the refusal tells the content or its path", tt.request)
		}
	}
}

// TestPage checks the page's policy: its script and style run, and nothing else.
func TestPage(t *testing.T) {
	const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(1)>`
	r := start(t, Content{Name: hostile, Title: hostile, Path: hostile, About: hostile, Show: &Range{12, 34}}, time.Minute)
	resp, err := http.Get(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	text, policy := string(body), resp.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	for _, bad := range []string{"unsafe", "http:", "https:", "*", "data:"} {
		if strings.Contains(policy, bad) {
			t.Errorf("the policy %q has %q", policy, bad)
		}
	}
	for element, pattern := range map[string]string{"script-src": `(?s)<script>(.*?)</script>`, "style-src": `(?s)<style>(.*?)</style>`} {
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
		if len(found) != 1 || !strings.Contains(policy, element+" '"+hash(found[0][1])+"'") {
			t.Errorf("%s: %d elements, which the policy %q does not allow", element, len(found), policy)
		}
	}
	if strings.Contains(text, "<img") || strings.Contains(text, "alert(1)</script>") {
		t.Errorf("a name is markup:\n%s", text)
	}
	if regexp.MustCompile(`(?i)(src|href|action)\s*=|url\(|@import`).MatchString(pageHTML + pageCSS) {
		t.Error("the page fetches something")
	}
	_, rest, _ := strings.Cut(text, `<script type="application/json" id="page">`)
	rest, _, _ = strings.Cut(rest, "</script>")
	var d data
	if err := json.Unmarshal([]byte(rest), &d); err != nil {
		t.Fatal(err)
	}
	if d.FileName != hostile || d.Address != Perfetto+"/#!/?visStart=12&visEnd=34" || d.Trace != tracePath {
		t.Errorf("the data are %+v", d)
	}
}

// TestScriptNames checks that the script hides no member of the window: what it declares at its
// top is global.
func TestScriptNames(t *testing.T) {
	taken := strings.Fields("alert blur close closed confirm event fetch find focus frames history length location name open opener origin parent postMessage print prompt screen scroll self status stop top window")
	names := regexp.MustCompile(`(?m)^(?:async )?(?:function|const|let|var) (\w+)`).FindAllStringSubmatch(pageJS, -1)
	for _, m := range names {
		if slices.Contains(taken, m[1]) {
			t.Errorf("the script declares %s, which is the window's", m[1])
		}
	}
	if len(names) < 5 {
		t.Errorf("%d names were found", len(names))
	}
}

// TestAddress checks the unit of the range. Perfetto shows the ts of an event, in µs, as that
// many thousand ns: it adds nothing. 1,419,247,345,272.313 µs is 1,419,247,345,272,313 ns, which no
// float64 of µs holds.
func TestAddress(t *testing.T) {
	for _, tt := range []struct {
		show *Range
		want string
	}{
		{nil, "https://ui.perfetto.dev"},
		{&Range{0, 4_000_000}, "https://ui.perfetto.dev/#!/?visStart=0&visEnd=4000000"},
		{&Range{1_419_247_345_272_313, 1_419_247_349_272_313}, "https://ui.perfetto.dev/#!/?visStart=1419247345272313&visEnd=1419247349272313"},
		{&Range{1_706_850_123_424_756_001, 1_706_850_123_424_756_002}, "https://ui.perfetto.dev/#!/?visStart=1706850123424756001&visEnd=1706850123424756002"},
	} {
		if got := Address(tt.show); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.show, got, tt.want)
		}
		if u, err := url.Parse(tt.want); err != nil || u.Scheme+"://"+u.Host != Perfetto {
			t.Errorf("%s is at %v: %v", tt.want, u, err)
		}
	}
}

// TestPageAsItIs serves a page of its own, which has its own policy.
func TestPageAsItIs(t *testing.T) {
	r := start(t, Content{Page: true}, time.Minute)
	resp, err := http.Get(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(resp.Body)
	if !bytes.Equal(got, r.text) || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%d bytes of %s", len(got), resp.Header.Get("Content-Type"))
	}
	if policy := resp.Header.Get("Content-Security-Policy"); policy != "frame-ancestors 'none'" {
		t.Errorf("the policy %q limits the page's own", policy)
	}
	if resp, err := http.Get(r.URL() + tracePath); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("a page has no trace: %v %v", resp, err)
	}
}

func TestIdle(t *testing.T) {
	const most = 300 * time.Millisecond
	begin := time.Now()
	r := start(t, Content{Name: "t.json", Title: "t"}, most)
	for range 4 {
		time.Sleep(most / 2)
		if _, err := http.Get(r.URL()); err != nil {
			t.Fatal("the server stopped although there were requests: ", err)
		}
	}
	select {
	case err := <-r.done:
		if err != nil || !r.idle || time.Since(begin) < 2*most {
			t.Errorf("stopped after %s, idle %v: %v", time.Since(begin), r.idle, err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server does not stop")
	}
	if _, err := http.Get(r.URL()); err == nil {
		t.Error("the server answers after it has stopped")
	}
}

// TestRefusedIsIdle sends requests that do not know the path. They must not keep the server alive.
func TestRefusedIsIdle(t *testing.T) {
	r := start(t, Content{Name: "t.json", Title: "t"}, 300*time.Millisecond)
	late := time.After(10 * time.Second)
	for {
		http.Get("http://127.0.0.1:" + strconv.Itoa(r.Port()) + "/")
		select {
		case <-r.done:
			return
		case <-late:
			t.Fatal("the server does not stop")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestStop(t *testing.T) {
	r := start(t, Content{Name: "t.json", Title: "t"}, time.Minute)
	r.stop()
	select {
	case err := <-r.done:
		if err != nil || r.idle {
			t.Errorf("idle %v: %v", r.idle, err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server does not stop")
	}
}

func TestPortTaken(t *testing.T) {
	r := start(t, Content{Name: "t.json", Title: "t"}, time.Minute)
	if _, err := Listen(Content{File: bytes.NewReader(nil)}, r.Port()); err == nil || !errors.Is(err, syscall.EADDRINUSE) && runtime.GOOS != "windows" {
		t.Errorf("the port is taken, but the error is %v", err)
	}
	other, err := Listen(Content{File: bytes.NewReader(nil)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if strings.Contains(r.URL(), other.root) {
		t.Error("two servers have one path")
	}
}
