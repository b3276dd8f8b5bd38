package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/internal/excerpt"
	"assay/internal/redact"
)

// scheme begins the addresses of resources.
const scheme = "assay://"

// resourceBytes limits the length of a resource.
const resourceBytes = 140_000

// addResources adds the lists of rules and issue codes, and the schemas of the documents.
func (s *Server) addResources(p *mcp.Server) {
	add := func(name, does string, args []string, fields ...string) {
		p.AddResource(&mcp.Resource{URI: scheme + name, Name: name, Description: does, MIMEType: "application/json"}, s.resource(args, fields))
	}
	explain := []string{"explain", "--format=json"}
	add("rules", "the rules by which findings are made: id, what they are about, limits; the tool explain has all of one", explain, "rules.id", "rules.line", "rules.warn", "rules.critical")
	add("codes", "the codes of problems of inputs: meaning, and what to do", explain, "codes")
	for _, d := range s.Documents {
		add("schema/"+d.Name, "JSON Schema of: "+d.Does, []string{"schema", d.Name})
	}
}

// resource returns the handler of a resource, which is the output of a command.
func (s *Server) resource(args, fields []string) mcp.ResourceHandler {
	return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		k, err := s.read(ctx, &call{tool: &tool{command: args[:1], plain: true}, flags: args[1:]})
		if err != nil {
			return nil, err
		}
		if k.doc == nil {
			return nil, errors.New(k.messages)
		}
		text := k.doc.Take(excerpt.Options{Fields: fields, MaxBytes: resourceBytes, More: func(string, int, bool) string {
			return "assay " + strings.Join(args, " ")
		}})
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(text)}}}, nil
	}
}

// A prompt is a question that a user can choose from a menu.
type prompt struct {
	name, title, does string
	arguments         []*mcp.PromptArgument
	text              string // with %s for each argument
}

var prompts = []prompt{
	{
		name: "why_is_this_run_slow", title: "Why is this run slow?", does: "What limits a run, with evidence, and what to do first",
		arguments: []*mcp.PromptArgument{{Name: "path", Description: "trace, log or folder", Required: true}},
		text: `Find out why the run in %s is slow.
1. Call summarize. If the verdict is withheld (abstained), say so and why, call doctor, and tell how to record a better capture. Do not name a cause then.
2. Call findings with find set to the first finding's rule, for its evidence. Look at the events it names with inspect or table.
3. Call whatif for what a fix would gain, if the input is a trace. Give no number for a forecast that is withheld.
4. Answer in a few sentences: the limit with its share and denominator, the cause with its evidence, at most three steps in order of gain, and what is not known.`,
	},
	{
		name: "did_this_change_help", title: "Did this change help?", does: "Whether a second run is faster than a first, and why",
		arguments: []*mcp.PromptArgument{{Name: "base", Description: "the run before", Required: true}, {Name: "new", Description: "the run after", Required: true}},
		text: `Find out whether the change between %s and %s helped.
1. Call diff. If the runs are not comparable, say why and stop.
2. Read headline and reasons. One run on each side leaves run-to-run noise unknown: say so.
3. Call diff with by=["kernel"] or by=["category"] for where the time went.
4. Answer: faster or slower by how much per step, which parts changed, and how sure that is.`,
	},
}

func addPrompts(p *mcp.Server) {
	for _, q := range prompts {
		p.AddPrompt(&mcp.Prompt{Name: q.name, Title: q.title, Description: q.does, Arguments: q.arguments},
			func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				var values []any
				for _, a := range q.arguments {
					v := r.Params.Arguments[a.Name]
					if v == "" || len(v) > mostText {
						return nil, fmt.Errorf("the argument %s is missing or too long", a.Name)
					}
					values = append(values, fmt.Sprintf("%q", redact.Mask(v)))
				}
				return &mcp.GetPromptResult{Description: q.does, Messages: []*mcp.PromptMessage{
					{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprintf(q.text, values...)}},
				}}, nil
			})
	}
}
