package agent

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSift: lines that are no messages are answered, each with its code and id, and the messages between them are
// passed on.
func TestSift(t *testing.T) {
	good := []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`}
	bad := []struct {
		line string
		id   string
		code int
	}{
		{`hello`, "null", notJSON}, {"\x00\x00", "null", notJSON}, {`{"jsonrpc":"2.0","id":7,"method":"ping"`, "null", notJSON},
		{strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "null", notJSON},
		{`[]`, "null", noRequest}, {`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, "null", noRequest}, {`3`, "null", noRequest},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", noRequest}, {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", noRequest},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", noRequest}, {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, "7", noRequest},
		{`{"jsonrpc":"2.0","id":8}`, "8", noRequest}, {`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":"x"}`, `"q"`, noParams},
		{`{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat("m", mostLine) + `"}`, "null", noRequest},
	}
	var in []string
	for i := range max(len(good), len(bad)) {
		if i < len(bad) {
			in = append(in, bad[i].line, "")
		}
		if i < len(good) {
			in = append(in, good[i])
		}
	}
	var passed, answers strings.Builder
	if err := sift(strings.NewReader(strings.Join(in, "\r\n")), &passed, &answers); err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(passed.String()), "\n"); strings.Join(got, "|") != strings.Join(good, "|") {
		t.Errorf("passed on %q", got)
	}
	got := strings.Split(strings.TrimSpace(answers.String()), "\n")
	if len(got) != len(bad) {
		t.Fatalf("%d answers to %d lines", len(got), len(bad))
	}
	for i, line := range got {
		var a struct {
			ID    json.RawMessage
			Error struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || string(a.ID) != bad[i].id || a.Error.Code != bad[i].code {
			t.Errorf("%.60q is answered with %s", bad[i].line, line)
		}
	}
}

// TestServeBadLines: after lines that are no messages, the server still answers.
func TestServeBadLines(t *testing.T) {
	s, _ := serving(t, nil)
	in, to := io.Pipe()
	from, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), in, out); out.Close() }()
	answers := json.NewDecoder(from)
	for _, line := range []string{"hello", "[]", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`} {
		if _, err := io.WriteString(to, line+"\n"); err != nil {
			t.Fatal(err)
		}
		var a struct {
			Result, Error any
		}
		if err := answers.Decode(&a); err != nil || (a.Result == nil) != !strings.Contains(line, "initialize") {
			t.Errorf("%s: %v, %+v", line, err, a)
		}
	}
	to.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestLinksBeyondLimit: a folder with more files than are looked at counts as one with a link that leads out.
func TestLinksBeyondLimit(t *testing.T) {
	s, dir := serving(t, nil)
	many := filepath.Join(dir, "many")
	if err := os.Mkdir(many, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a.json")
	for i := range mostFiles + 1 {
		name := filepath.Join(many, "f"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+"_"+itoa(i))
		if err := os.Link(file, name); err != nil {
			t.Skip(err)
		}
		if i == mostFiles-10 {
			if x, err := s.folders.find("many"); err != nil || x.linksOut() {
				t.Fatalf("%d files are too many: %v", i, err)
			}
		}
	}
	if x, err := s.folders.find("many"); err != nil || !x.linksOut() {
		t.Errorf("%d files are not too many: %v", mostFiles+1, err)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestServeToTheEnd: a client that closes its output after its requests gets an answer to each, also to one that takes
// long, and to one that the library refuses. No error of the library has a secret of the request.
func TestServeToTheEnd(t *testing.T) {
	const token = "ghp_" + "Zk3Vb9Qw2Lm7Xc5Np8Rt1Ys6Hd4Gf0Jj9AaB"
	s, _ := serving(t, func(context.Context, []string) (Output, error) {
		time.Sleep(100 * time.Millisecond)
		return Output{JSON: []byte(`{"verdict":1}`)}, nil
	})
	requests := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"summarize","arguments":{"path":"a.json"}}}`,
		`{"jsonrpc":"2.0","id":"r-3","method":"resources/read","params":{"uri":"file:///` + token + `"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"` + token + `"}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"` + token + `","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"x","arguments":{"path":5,"t":"` + token + `"}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`,
	}
	var out strings.Builder
	start := time.Now()
	if err := s.Serve(t.Context(), strings.NewReader(strings.Join(requests, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), token[:12]) {
		t.Errorf("a token is answered:\n%s", out.String())
	}
	answered := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var m struct {
			ID            json.RawMessage
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Result == nil == (m.Error == nil) {
			t.Errorf("%v: %s", err, line)
		}
		answered[string(m.ID)] = m.Error != nil
	}
	for id, failed := range map[string]bool{"1": false, "2": false, `"r-3"`: true, "4": true, "5": true, "6": true, "7": false} {
		if got, ok := answered[id]; !ok || got != failed {
			t.Errorf("request %s: answered %t, with an error %t", id, ok, got)
		}
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the server ended after %v, its time limit", took)
	}
}
