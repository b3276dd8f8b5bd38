package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/analyze/efficiency/floor"
	"assay/analyze/efficiency/transformer"
	"assay/internal/settings"
	"assay/summary"

	"github.com/spf13/pflag"
)

// floorFlags has the flags that state the model of a server, for the floor of its decode steps.
type floorFlags struct {
	path     string
	batch    int64
	parallel string
}

func (f *floorFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "model", "", "compare decode steps and layers with the least time that the weights and the KV cache need: config.json of Hugging Face, as `FILE` (see \"assay help peaks\")")
	flags.Int64Var(&f.batch, "batch", 0, "with --model: requests of a decode step on each GPU, as `N`, where the steps do not state it")
	flags.StringVar(&f.parallel, "parallel", "", "with --model: GPUs that divide the work, as `tp=8,ep=8,pp=2` (default: as logs, process groups or the lack of communication say)")
}

// given reports whether one of the flags is given.
func (f *floorFlags) given() bool { return f.path != "" || f.batch != 0 || f.parallel != "" }

// check returns a message if the flags cannot be used, or "".
func (f *floorFlags) check() string {
	const most = 1 << 20
	switch _, err := parseParallel(f.parallel); {
	case f.path == "" && f.given():
		return "--batch and --parallel are for --model: add --model config.json"
	case f.batch < 0 || f.batch > most:
		return fmt.Sprintf("--batch is %d, want the requests of a decode step, up to %d", f.batch, most)
	case err != nil:
		return "--parallel: " + err.Error()
	}
	return ""
}

// parseParallel reads "tp=8,ep=8,pp=2". All is 0 if the text is empty.
func parseParallel(text string) (p transformer.Parallel, err error) {
	at := map[string]*int64{"tp": &p.Tensor, "ep": &p.Expert, "pp": &p.Pipeline}
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		to, n := at[strings.ToLower(name)], int64(0)
		if to != nil {
			n, err = strconv.ParseInt(value, 10, 64)
		}
		switch {
		case to == nil || err != nil || n < 1 || n > 1<<16:
			return p, fmt.Errorf("%q: want numbers of GPUs, as tp=8,ep=8,pp=2", part)
		case *to != 0:
			return p, fmt.Errorf("%s is given twice", name)
		}
		*to = n
	}
	return p, nil
}

// loadFloor reads the configuration of the model. It returns nil without --model.
func (p *peakFlags) loadFloor() (*floor.Settings, error) {
	f := &p.floor
	if f.path == "" {
		return nil, nil
	}
	text, err := settings.Read(f.path)
	if err != nil {
		return nil, err
	}
	tokens, err := p.step()
	if err != nil {
		return nil, err
	}
	out := &floor.Settings{Requests: f.batch, Tokens: int64(tokens.Count), Sequences: int64(tokens.Sequences)}
	if out.Model, err = transformer.Parse(text); err == nil {
		out.Stored, err = transformer.StoredOf(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	out.Parallel, err = parseParallel(f.parallel)
	return out, err
}

// withFloor adds the floor of decode steps to a summary, if --model is given.
func (r *reading) withFloor(s *summary.Summary) *summary.Summary {
	if r.floor != nil && s != nil {
		floor.Fill(s, *r.floor)
		if len(s.Efficiency.Decode) == 0 && !slices.ContainsFunc(s.Layers, func(l summary.Layer) bool { return hasModel(l.Floor) }) {
			r.e.say("assay: --model changes nothing: the inputs have no decode step that vLLM, SGLang or ATOM annotated; give --batch N if all steps decode, or --tokens if they train")
		}
	}
	return s
}

// hasModel reports whether parts of a layer have floors of the model.
func hasModel(list []summary.PartFloor) bool {
	return slices.ContainsFunc(list, func(f summary.PartFloor) bool { return f.From == summary.FloorOfModel })
}
