package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"assay/internal/redact"
)

// mostLine is the number of bytes of a message. It has room for the largest arguments.
const mostLine = 4 << 20

// The codes of JSON-RPC for messages that are no requests.
const (
	notJSON   = -32700
	noRequest = -32600
	noParams  = -32602
)

// A client is the other side of a connection. It takes a whole message with each call.
type client struct {
	lock sync.Mutex
	to   io.Writer
	open map[string]asked // requests that are not answered, by id
}

type asked struct {
	n       int // several requests may have one id
	secrets []string
}

const quiet = "the request is refused; it has a secret, so what is wrong with it is not quoted"

// A message has what tells a request from its answer.
type message struct {
	ID     json.RawMessage
	Method string
	Error  json.RawMessage
	Params struct{ RequestID json.RawMessage }
}

func (m *message) key() string {
	var v any
	json.Unmarshal(m.ID, &v) // no id is one, too
	return fmt.Sprintf("%T %v", v, v)
}

// Write sends a message. Errors of the library quote the request, which may have a secret.
func (w *client) Write(text []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	var m message
	json.Unmarshal(text, &m)
	sent := text
	if m.Error != nil {
		var whole map[string]any
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.UseNumber()
		if err := dec.Decode(&whole); err != nil {
			return 0, err
		}
		refused, _ := whole["error"].(map[string]any)
		redact.New(false).Strings(refused)
		for _, secret := range w.open[m.key()].secrets {
			if left, _ := json.Marshal(refused); strings.Contains(string(left), secret[:min(len(secret), 6)]) {
				refused = map[string]any{"code": refused["code"], "message": quiet} // the library cuts what it quotes
			}
		}
		whole["error"] = refused
		out, err := json.Marshal(whole)
		if err != nil {
			return 0, err
		}
		sent = append(out, '\n')
	}
	if _, err := w.to.Write(sent); err != nil {
		return 0, err
	}
	if key := m.key(); m.Method == "" {
		if r := w.open[key]; r.n > 1 {
			w.open[key] = asked{r.n - 1, r.secrets}
		} else {
			delete(w.open, key)
		}
	}
	return len(text), nil
}

func (w *client) Close() error { return nil }

// asks returns a writer of requests of the client, which passes them on.
func (w *client) asks(to io.Writer) io.Writer {
	return writer(func(text []byte) (int, error) {
		var m message
		json.Unmarshal(text, &m)
		w.lock.Lock()
		switch {
		case m.Method == "notifications/cancelled":
			m.ID = m.Params.RequestID
			delete(w.open, m.key())
		case m.Method != "" && m.ID != nil:
			r := w.open[m.key()]
			w.open[m.key()] = asked{r.n + 1, append(r.secrets, redact.Secrets(string(text))...)}
		}
		w.lock.Unlock()
		return to.Write(text)
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(text []byte) (int, error) { return w(text) }

// wait returns when all requests are answered, or the context ends.
func (w *client) wait(ctx context.Context) {
	for ctx.Err() == nil {
		w.lock.Lock()
		left := len(w.open)
		w.lock.Unlock()
		if left == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// sift passes on the lines that are messages and answers the others with an error, because the library ends the
// connection at a line that it cannot read.
func sift(in io.Reader, to, answers io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, long, err := nextLine(lines)
		if clean := strings.TrimSpace(string(line)); clean != "" || long {
			message, refused := checked([]byte(clean), long)
			if refused != nil {
				if _, err := answers.Write(append(refused, '\n')); err != nil {
					return err
				}
			} else if _, err := to.Write(append(message, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// nextLine reads a line. Of one that is too long it returns nothing.
func nextLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > mostLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// checked returns a message as the library reads it, or the answer to a line that is none.
func checked(line []byte, long bool) (message, refused []byte) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Method  string          `json:"method,omitempty"`
		Params  json.RawMessage `json:"params,omitempty"`
		Result  json.RawMessage `json:"result,omitempty"`
		Error   json.RawMessage `json:"error,omitempty"`
	}
	switch {
	case long:
		return nil, refusal(nil, noRequest, fmt.Sprintf("the message is longer than %d bytes", mostLine))
	case !json.Valid(line):
		return nil, refusal(nil, notJSON, "the line is no JSON")
	case line[0] == '[':
		return nil, refusal(nil, noRequest, "want one message in a line, not a batch")
	}
	err := json.Unmarshal(line, &m)
	if m.ID != nil && !isID(m.ID) {
		return nil, refusal(nil, noRequest, "the id is neither a text nor a whole number")
	}
	switch {
	case err != nil || m.Version != "2.0":
		return nil, refusal(m.ID, noRequest, "want a message of JSON-RPC 2.0")
	case m.Method == "" && (m.ID == nil || m.Result == nil && m.Error == nil):
		return nil, refusal(m.ID, noRequest, "the message has no method")
	case m.Params != nil && m.Params[0] != '{':
		if string(m.Params) != "null" {
			return nil, refusal(m.ID, noParams, "params is no object")
		}
		m.Params = nil
	}
	message, err = json.Marshal(m)
	if err != nil {
		return nil, refusal(m.ID, noRequest, "the message cannot be read")
	}
	return message, nil
}

// isID reports whether a value is a text or a whole number.
func isID(id json.RawMessage) bool {
	var n int64
	return id[0] == '"' || string(id) != "null" && json.Unmarshal(id, &n) == nil
}

func refusal(id json.RawMessage, code int, says string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	type failed struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	out, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failed          `json:"error"`
	}{"2.0", id, failed{code, says}})
	return out
}
