package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/internal/redact"
)

// A Word is a name with what it means.
type Word struct{ Name, Does string }

// Config is what the server needs of the program.
type Config struct {
	Folders []string // that may be read
	Version string
	// Run runs a command of assay in a folder. It must not write files, and must end when the context does.
	Run     func(ctx context.Context, dir string, args []string) (Output, error)
	Limits  []string      // flags of memory for commands that read files
	Timeout time.Duration // of one call
	Jobs    int           // commands at a time
	Cache   int64         // bytes of memory for what was read before

	Keys        func(path string, texts func(string) []string) []string // see excerpt.Options
	First       []string                                                // likewise
	Whole       []string                                                // likewise
	CheckFields func(fields []string, document string) string           // returns what is wrong, or ""
	Names       []string                                                // fields that search_names prints
	Changes     []Word                                                  // of whatif
	Guides      []string                                                // built-in gates
	Documents   []Word                                                  // with schemas
}

// A Server answers calls. It may be used by several goroutines.
type Server struct {
	Config
	folders folders
	cache   cache[*kept]
	slots   chan struct{}
}

// New opens the folders.
func New(c Config) (*Server, error) {
	f, err := openFolders(c.Folders)
	if err != nil {
		return nil, err
	}
	return &Server{Config: c, folders: f, cache: cache[*kept]{most: c.Cache}, slots: make(chan struct{}, max(1, c.Jobs))}, nil
}

// instructions tell a model how to begin.
const instructions = `assay measures GPU traces, profiles, logs and benchmark results, and says what limits a run and what to do.
Start with summarize. Then use findings for evidence, table for sums by any key, inspect for single events, whatif for forecasts, diff for two runs.
Report numbers with what they are a share of. Times ending in ns are nanoseconds. If verdict.abstained or the verdict of a forecast says abstain, say so and give its reason instead of a cause.
Answers are parts of a JSON document: the member "excerpt" counts what was left out, and its "more" is the call that gets it. Files are named relative to: `

// Protocol returns the server of the protocol, with all tools, resources and prompts.
func (s *Server) Protocol() *mcp.Server {
	p := mcp.NewServer(&mcp.Implementation{Name: "assay", Title: "assay: where the time of a GPU job went", Version: s.Version},
		&mcp.ServerOptions{Instructions: instructions + s.folders.contents(), Capabilities: &mcp.ServerCapabilities{}})
	no := false
	for i := range tools {
		t := &tools[i]
		p.AddTool(&mcp.Tool{
			Name: t.name, Title: t.title, Description: strings.Join(t.does, " "), InputSchema: s.inputSchema(t),
			Annotations: &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.answer(ctx, t, r.Params.Arguments), nil
		})
	}
	s.addResources(p)
	addPrompts(p)
	return p
}

// Serve answers one client until it goes. What it asked before the end of its input is answered.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	to := &client{to: out, open: map[string]asked{}}
	lines, sink := io.Pipe()
	go func() {
		err := sift(in, to.asks(sink), to)
		last, cancel := context.WithTimeout(ctx, s.Timeout+time.Second)
		defer cancel()
		to.wait(last)
		sink.CloseWithError(err)
	}()
	err := s.Protocol().Run(ctx, &mcp.IOTransport{Reader: lines, Writer: to})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// mostMessages is the number of bytes of messages of a command that an answer has.
const mostMessages = 600

// answer answers one call. What is wrong with it is an answer too, which a model reads.
func (s *Server) answer(ctx context.Context, t *tool, arguments []byte) *mcp.CallToolResult {
	c, err := s.call(t, arguments)
	if err != nil {
		return failure(err.Error())
	}
	limited, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	k, err := s.read(limited, c)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return failure(fmt.Sprintf("no answer within %s, the limit of the server (--timeout); ask about a part: step, rank or one file", s.Timeout))
	case err != nil:
		return failure(err.Error())
	case k.doc == nil:
		return failure(k.messages)
	}
	messages := redact.Cut(strings.TrimSpace(k.messages), min(mostMessages, c.part.MaxBytes/4))
	c.part.More = c.more
	if messages != "" {
		c.part.MaxBytes -= len(messages)
	}
	content := []mcp.Content{&mcp.TextContent{Text: string(k.doc.Take(c.part))}}
	if messages != "" {
		content = append(content, &mcp.TextContent{Text: messages})
	}
	return &mcp.CallToolResult{Content: content}
}

// more words the call that gets what was left out.
func (c *call) more(path string, shown int, rows bool) string {
	switch {
	case path == "":
		return "the same call with a larger max_bytes"
	case rows:
		return fmt.Sprintf("%s again with fields=[%q], skip=%d", c.tool.name, path, shown)
	}
	return fmt.Sprintf("%s again with fields=[%q], or a larger max_bytes", c.tool.name, path)
}

// failure is an answer that says what is wrong.
func failure(text string) *mcp.CallToolResult {
	text = redact.Cut(redact.Mask(strings.TrimSpace(text)), mostMessages+200)
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
