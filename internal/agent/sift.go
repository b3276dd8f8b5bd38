package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// mostLine is the number of bytes of a message. It has room for the largest arguments.
const mostLine = 4 << 20

// The codes of JSON-RPC for messages that are no requests.
const (
	notJSON   = -32700
	noRequest = -32600
	noParams  = -32602
)

// A lockedWriter takes a whole message with each call.
type lockedWriter struct {
	lock sync.Mutex
	to   io.Writer
}

func (w *lockedWriter) Write(text []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.to.Write(text)
}

func (w *lockedWriter) Close() error { return nil }

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
