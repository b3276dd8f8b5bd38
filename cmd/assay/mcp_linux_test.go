package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPKilled: a client that is killed kills its server, which can then end nothing. The command that answers a
// question ends nevertheless. It is stopped first, so it cannot have come to its own end.
func TestMCPKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(self, "mcp")
	server.Args[0], server.Dir = "assay", dataFolder(t)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	asked, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		for i := 0; asked.Err() == nil; i++ { // a new question each time, which no cache answers
			_, _ = session.CallTool(asked, &mcp.CallToolParams{Name: "summarize", Arguments: map[string]any{"path": "gen/llm_train_step.json.gz", "from": fmt.Sprintf("%dus", i)}})
		}
	}()
	child := answering(t, server.Process.Pid)
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	stop()
	for range 1000 {
		if _, state := process(child); state == "" || state == "Z" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(child, syscall.SIGKILL)
	t.Error("the command outlives its server by ten seconds")
}

// answering stops a child of a process that runs "assay summary", and returns its id.
func answering(t *testing.T, parent int) int {
	t.Helper()
	for range 10_000 {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			id, _ := strconv.Atoi(e.Name())
			if of, _ := process(id); of != parent {
				continue
			}
			// Before it runs the command, a child has the arguments of its parent.
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id)); err != nil || !bytes.HasPrefix(line, []byte("assay\x00summary\x00")) {
				continue
			}
			if syscall.Kill(id, syscall.SIGSTOP) == nil {
				if of, state := process(id); of == parent && state != "Z" {
					return id
				}
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no command was started")
	return 0
}

// process returns the parent of a process and its state, "" if there is no such process.
func process(id int) (parent int, state string) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return 0, ""
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if len(fields) < 2 {
		return 0, ""
	}
	parent, _ = strconv.Atoi(fields[1])
	return parent, fields[0]
}
