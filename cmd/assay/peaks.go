package main

import (
	"assay/efficiency/hardware"
	"fmt"

	"github.com/spf13/pflag"
)

// A peakFlags holds the flags of the commands that compare work with the peaks of GPUs.
type peakFlags struct {
	file  string
	set   []string
	model string
}

func (f *peakFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "peaks", "", "YAML `FILE` with peaks of GPUs that replace the built-in ones (see \"assay help devices\")")
	flags.StringArrayVar(&f.set, "set-peak", nil, "set `FIGURE=NUMBER` of all GPUs: bf16=989.4 (10^12 FLOP/s, dense), hbm=3352 (10^9 bytes/s); repeatable, or with commas")
	flags.StringVar(&f.model, "model-flops", "", "`NUMBER` of FLOPs of the model per step on each GPU, for MFU: 4.2e14, or with its type 4.2e14,bf16 (default: counted from the operators)")
}

// given reports whether one of the flags is given.
func (f *peakFlags) given() bool { return f.file != "" || len(f.set) > 0 || f.model != "" }

// settings returns the file of the flags, or none.
func (f *peakFlags) settings() []string {
	if f.file == "" {
		return nil
	}
	return []string{f.file}
}

// check returns a message if a flag cannot be used, or "".
func (f *peakFlags) check() string {
	if _, err := f.figures(); err != nil {
		return "--set-peak: " + err.Error()
	}
	if _, err := f.flops(); err != nil {
		return "--model-flops: " + err.Error()
	}
	return ""
}

// figures returns what --set-peak sets.
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

func (f *peakFlags) flops() (hardware.ModelFLOPs, error) {
	if f.model == "" {
		return hardware.ModelFLOPs{}, nil
	}
	return hardware.ParseModelFLOPs(f.model)
}

// load returns the peaks that the flags state, and the FLOPs of the model.
func (f *peakFlags) load() (peaks hardware.Catalog, model hardware.ModelFLOPs, err error) {
	set, err := f.figures()
	if err != nil {
		return peaks, model, err
	}
	if model, err = f.flops(); err != nil || f.file == "" {
		return peaks.With(nil, set), model, err
	}
	text, err := readSettings(f.file)
	if err != nil {
		return peaks, model, err
	}
	own, err := hardware.ParseDevices(text)
	if err != nil {
		return peaks, model, withoutValues(text, fmt.Errorf("%s:%w", f.file, err))
	}
	return peaks.With(own, set), model, nil
}
