package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/analyze/efficiency/hardware"
	"assay/ingest/partial"
	"assay/internal/label"
	"assay/internal/settings"

	"github.com/spf13/pflag"
)

// peakFlags has the flags that state peaks of GPUs and FLOPs of the model.
type peakFlags struct {
	file  string
	set   []string
	model string
	// tokens per step and GPU, for --model-flops that are given per token
	tokens string
	floor  floorFlags
	used   peakUse // collected over all inputs of the command
}

// peakUse records which GPUs and summaries the inputs had, to warn about flags without effect.
type peakUse struct {
	catalog hardware.Catalog
	devices int      // number of devices in the file of --peaks
	counted string   // how the FLOPs were computed from a model's configuration
	gpus    []string // distinct names
	saved   []string // paths of summaries; they keep the peaks of their measurement
}

func (f *peakFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "peaks", "", "YAML `FILE` with peaks of GPUs that replace the built-in ones (see \"assay help devices\")")
	flags.StringArrayVar(&f.set, "set-peak", nil, "set `FIGURE=NUMBER` of all GPUs: bf16=989.4 (10^12 FLOP/s, dense), hbm=3352 (10^9 bytes/s); repeatable, or with commas")
	flags.StringVar(&f.model, "model-flops", "", "`FLOPS` of the model for MFU (default: counted from the operators): of a step on each GPU (4.2e14,bf16), of a token (6e9/token), or config.json of Hugging Face (see \"assay help peaks\")")
	f.floor.register(flags)
	flags.StringVar(&f.tokens, "tokens", "", "`TOKENS` of a step / number of GPUs, for --model-flops and --model: 8192, or sequences x length (2x4096), which --model-flops config.json needs")
}

// given reports whether one of the flags is given.
func (f *peakFlags) given() bool {
	return f.file != "" || len(f.set) > 0 || f.model+f.tokens != "" || f.floor.given()
}

// settings returns the paths of the files that the flags name.
func (f *peakFlags) settings() (files []string) {
	if f.file != "" {
		files = append(files, f.file)
	}
	if path, ok := f.config(); ok {
		files = append(files, path)
	}
	if f.floor.path != "" {
		files = append(files, f.floor.path)
	}
	return files
}

// check returns a message if a flag cannot be used, or "".
func (f *peakFlags) check() string {
	if _, err := f.figures(); err != nil {
		return "--set-peak: " + err.Error()
	}
	return cmp.Or(f.floor.check(), f.checkModel())
}

// figures parses the values of --set-peak.
func (f *peakFlags) figures() (out hardware.Figures, err error) {
	for _, text := range f.set {
		set, err := hardware.ParseFigures(text)
		if err != nil {
			return out, err
		}
		for at, v := range set {
			switch {
			case v == 0:
			case out[at] != 0:
				return out, fmt.Errorf("%s is given twice", hardware.Figure(at))
			default:
				out[at] = v
			}
		}
	}
	return out, nil
}

// load returns the peaks and the FLOPs of the model that result from the flags.
func (f *peakFlags) load() (peaks hardware.Catalog, model hardware.ModelFLOPs, err error) {
	set, err := f.figures()
	if err != nil {
		return peaks, model, err
	}
	if model, err = f.loadModel(); err != nil || f.file == "" {
		return peaks.With(nil, set), model, err
	}
	own, err := settings.Load(f.file, hardware.ParseDevices)
	if err != nil {
		return peaks, model, err
	}
	f.used.catalog, f.used.devices = peaks.With(own, set), len(own)
	return f.used.catalog, model, nil
}

// note records the GPUs of partials, and the paths of the saved summaries among the inputs.
func (f *peakFlags) note(all []partial.Part, saved []string) {
	for i := range all {
		for _, d := range all[i].Summary.Devices {
			if !slices.Contains(f.used.gpus, d.Name) {
				f.used.gpus = append(f.used.gpus, d.Name)
			}
		}
	}
	f.used.saved = append(f.used.saved, saved...)
}

// warn names the flags that had no effect on the inputs. A file may list the GPUs of several
// machines, so unused devices are reported only if a GPU of the inputs is missing from the file.
func (f *peakFlags) warn(e env, c *command) {
	if !f.given() {
		return
	}
	if f.used.counted != "" {
		e.say("assay %s: %s", c.name, f.used.counted)
	}
	if n := len(f.used.saved); n > 0 {
		which := f.used.saved[0]
		if n > 1 {
			which = fmt.Sprintf("%d saved summaries, the first %s", n, which)
		}
		e.say("assay %s: --peaks, --set-peak and --model-flops apply to traces; saved summaries keep the rooflines and MFU of their measurement: %s", c.name, which)
	}
	alone := func(gpu string) bool { return len(f.used.catalog.Unmatched([]string{gpu})) == f.used.devices }
	if unmatched := f.used.catalog.Unmatched(f.used.gpus); len(unmatched) > 0 && (len(f.used.gpus) == 0 || slices.ContainsFunc(f.used.gpus, alone)) {
		e.say("assay %s: %s: no GPU of the inputs is named %s; %s", c.name, f.file, quoted(unmatched), gpuNames(f.used.gpus))
	}
}

// gpuNames lists the GPUs of the inputs for a message.
func gpuNames(names []string) string {
	switch {
	case len(names) == 0:
		return "they have no GPU"
	case len(names) == 1 && names[0] == "":
		return "they do not name their GPU; use --set-peak"
	}
	return "they have " + quoted(names)
}

// quoted lists the first few names of GPUs.
func quoted(names []string) string {
	const shown = 3
	var parts []string
	for _, name := range names[:min(shown, len(names))] {
		parts = append(parts, strconv.Quote(label.Clip(label.Clean(name), 60)))
	}
	if more := len(names) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}
