// Package loopback serves one file to a browser on this machine: a trace, with a page that passes
// it to Perfetto, or a complete page.
//
// Only those who know the address can read it. The server listens on the loopback interface, and
// the path has 128 random bits. A request must name the server as its host, so that a page of
// another site cannot reach it under another name (DNS rebinding). It serves nothing else.
package loopback

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A Content is the file to serve.
type Content struct {
	File io.ReaderAt
	Size int64
	Name string // of the file, as the viewer shows it
	Path string // as the user gave it
	Page bool   // the file is a page, not a trace

	// Only for a trace:
	Title string
	About string
	Show  *Range // nil for all
}

// tracePath is the name of the trace below the page.
const tracePath = "trace"

// A Server serves one content.
type Server struct {
	content  Content
	listener net.Listener
	root     string // the path, with slashes around it
	page     []byte
	policy   string

	mu     sync.Mutex
	active int       // number of requests being served
	last   time.Time // end of the last request
}

// Listen returns a server that listens on a port of the loopback interface; 0 is for any free port.
func Listen(c Content, port int) (*Server, error) {
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return nil, err
	}
	s := &Server{content: c, root: "/" + hex.EncodeToString(token) + "/", last: time.Now()}
	if !c.Page {
		var err error
		if s.page, s.policy, err = page(c); err != nil {
			return nil, err
		}
	}
	var err error
	s.listener, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return s, err
}

// Port returns the port that the server listens on.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// URL returns the address of the page.
func (s *Server) URL() string { return fmt.Sprintf("http://127.0.0.1:%d%s", s.Port(), s.root) }

// Close stops listening. It is for a server for which Serve was not called.
func (s *Server) Close() error { return s.listener.Close() }

// Serve answers requests until the context is done, or until there was no request for the duration
// most: then idle is true.
func (s *Server) Serve(ctx context.Context, most time.Duration) (idle bool, err error) {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(s.listener) }()
	s.touch(0)
	for {
		timer := time.NewTimer(s.left(most))
		select {
		case err := <-served:
			timer.Stop()
			return false, err
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
			if s.left(most) > 0 {
				continue
			}
			idle = true
		}
		break
	}
	srv.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return idle, err
	}
	return idle, nil
}

// touch records the start (1) or the end (-1) of a request.
func (s *Server) touch(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active += by
	s.last = time.Now()
}

// left returns the time until the server has been idle for too long.
func (s *Server) left(most time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active > 0 {
		return most
	}
	return max(0, most-time.Since(s.last))
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	switch {
	case !s.ours(r):
		http.Error(w, "wrong host", http.StatusForbidden)
		return
	case r.URL.Path != s.root && (s.content.Page || r.URL.Path != s.root+tracePath):
		http.Error(w, "not found", http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	s.touch(1) // requests that were refused above do not keep the server alive
	defer s.touch(-1)
	file := io.NewSectionReader(s.content.File, 0, s.content.Size)
	switch {
	case r.URL.Path != s.root:
		h.Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, file)
	case s.content.Page: // the page states its own policy
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'")
		http.ServeContent(w, r, "", time.Time{}, file)
	default:
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", s.policy)
		h.Set("Content-Length", strconv.Itoa(len(s.page)))
		if r.Method != http.MethodHead {
			w.Write(s.page) // an error means that the browser has closed the connection
		}
	}
}

// ours reports whether a request names this server as its host and does not come from another site.
func (s *Server) ours(r *http.Request) bool {
	port := strconv.Itoa(s.Port())
	names := []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("localhost", port)}
	host, from := false, r.Header.Get("Origin") == ""
	for _, name := range names {
		host = host || r.Host == name
		from = from || r.Header.Get("Origin") == "http://"+name
	}
	return host && from
}
