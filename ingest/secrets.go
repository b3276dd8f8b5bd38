package ingest

import "assay/internal/redact"

// mask masks the secrets of all models of the input. It comes before any analysis, because those
// split, shorten and join texts, and a part of a secret is not recognized.
func (in *Input) mask() {
	in.Secrets = redact.New(false)
	for _, model := range []any{in.Trace, in.Tables, in.Profile, in.Counters, in.Memory, in.Timeline, in.Series, in.Compiled, in.Summary} {
		in.Secrets.Strings(model)
	}
}
