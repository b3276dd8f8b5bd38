package logs

import (
	"assay/report/plot"
	"assay/summary"
)

// Server shows the requests, the token throughput and the KV cache of a server over time.
func Server(s *summary.Summary) (plot.Chart, bool) {
	c, ok := linesOf(s, []lineMetric{
		{"requests.running", "Requests in the running batch"}, {"requests.queued", "Requests that wait"},
		{"throughput.output_tokens", "Tokens generated per second"}, {"throughput.input_tokens", "Prompt tokens per second"},
		{"kv_cache.usage", "KV cache in use"},
	}, "place")
	c.Title = "Server over time"
	return c, ok
}
