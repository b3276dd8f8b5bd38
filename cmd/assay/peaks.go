package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"assay/efficiency"
)

// A hardware holds the flags of the commands that compare work with the peaks of GPUs.
type hardware struct {
	peaks string
	set   []string
	model string
}

func (h *hardware) register(flags *pflag.FlagSet) {
	flags.StringVar(&h.peaks, "peaks", "", "YAML `FILE` with peaks of GPUs that replace the built-in ones (see \"assay help devices\")")
	flags.StringArrayVar(&h.set, "set-peak", nil, "set `FIGURE=NUMBER` of all GPUs: bf16=989.4 (10^12 FLOP/s, dense), hbm=3352 (10^9 bytes/s); repeatable, or with commas")
	flags.StringVar(&h.model, "model-flops", "", "`NUMBER` of FLOPs of the model per step on each GPU, for MFU: 4.2e14, or with its type 4.2e14,bf16 (default: counted from the operators)")
}

// given reports whether one of the flags is given.
func (h *hardware) given() bool { return h.peaks != "" || len(h.set) > 0 || h.model != "" }

// settings returns the file of the flags, or none.
func (h *hardware) settings() []string {
	if h.peaks == "" {
		return nil
	}
	return []string{h.peaks}
}

// check returns a message if a flag cannot be used, or "".
func (h *hardware) check() string {
	if _, err := h.figures(); err != nil {
		return "--set-peak: " + err.Error()
	}
	if _, err := h.flops(); err != nil {
		return "--model-flops: " + err.Error()
	}
	return ""
}

// figures returns what --set-peak sets.
func (h *hardware) figures() (out efficiency.Figures, err error) {
	for _, text := range h.set {
		set, err := efficiency.ParseFigures(text)
		if err != nil {
			return out, err
		}
		for f, v := range set {
			switch {
			case v == 0:
			case out[f] != 0:
				return out, fmt.Errorf("%s is given twice", efficiency.Figure(f))
			default:
				out[f] = v
			}
		}
	}
	return out, nil
}

func (h *hardware) flops() (efficiency.ModelFLOPs, error) {
	if h.model == "" {
		return efficiency.ModelFLOPs{}, nil
	}
	return efficiency.ParseModelFLOPs(h.model)
}

// load returns the peaks that the flags state, and the FLOPs of the model.
func (h *hardware) load() (peaks efficiency.Catalog, model efficiency.ModelFLOPs, err error) {
	set, err := h.figures()
	if err != nil {
		return peaks, model, err
	}
	if model, err = h.flops(); err != nil || h.peaks == "" {
		return peaks.With(nil, set), model, err
	}
	text, err := readSettings(h.peaks)
	if err != nil {
		return peaks, model, err
	}
	own, err := efficiency.ParseDevices(text)
	if err != nil {
		return peaks, model, withoutValues(text, fmt.Errorf("%s:%w", h.peaks, err))
	}
	return peaks.With(own, set), model, nil
}
