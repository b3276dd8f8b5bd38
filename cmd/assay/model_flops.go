package main

import (
	"fmt"
	"os"
	"strings"

	"assay/analyze/efficiency/hardware"
	"assay/analyze/efficiency/transformer"
	"assay/internal/settings"
	"assay/internal/unit"
)

// config returns the path if --model-flops names the configuration file of a model.
func (f *peakFlags) config() (path string, ok bool) {
	path, _ = hardware.CutType(f.model)
	if strings.HasSuffix(path, ".json") {
		return path, true
	}
	info, err := os.Stat(path)
	return path, path != "" && err == nil && !info.IsDir()
}

// checkModel returns a message if --model-flops or --tokens cannot be used, or "".
func (f *peakFlags) checkModel() string {
	tokens, err := f.step()
	if err != nil {
		return "--tokens: " + err.Error()
	}
	switch _, config := f.config(); {
	case f.model == "" && f.tokens != "" && f.floor.path == "":
		return "--tokens is for --model-flops and --model: give FLOPs of a token or config.json with it"
	case f.model == "":
		return ""
	case config && tokens.Length == 0:
		return "--model-flops: config.json needs the number of sequences and their length, which decides the FLOPs of attention: add --tokens 2x4096, those of a step / number of GPUs"
	case config:
		return ""
	}
	if _, err := hardware.ParseModelFLOPs(f.model, tokens); err != nil {
		return "--model-flops: " + err.Error()
	}
	return ""
}

// step returns the tokens per step and GPU, or the zero value if --tokens is not given.
func (f *peakFlags) step() (hardware.Tokens, error) {
	if f.tokens == "" {
		return hardware.Tokens{}, nil
	}
	return hardware.ParseTokens(f.tokens)
}

// loadModel returns the model FLOPs per step and GPU, or the zero value if --model-flops is not
// given.
func (f *peakFlags) loadModel() (m hardware.ModelFLOPs, err error) {
	tokens, err := f.step()
	if err != nil || f.model == "" {
		return m, err
	}
	path, config := f.config()
	if !config {
		return hardware.ParseModelFLOPs(f.model, tokens)
	}
	text, err := settings.Read(path)
	if err != nil {
		return m, err
	}
	model, err := transformer.Parse(text)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	forward, err := model.Forward(tokens.Length)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	_, of := hardware.CutType(f.model)
	step := transformer.Training * forward * tokens.Sequences
	if m, err = hardware.ModelOf(step, of); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	f.used.counted = fmt.Sprintf("model FLOPs of %s (%s): %s per step and GPU, %s per token. This is %d forward passes of a model with %s elements in matrices, and causal attention over %s tokens",
		path, model.Type, flopsText(step), flopsText(step/tokens.Count), transformer.Training, unit.Count(int64(model.Matrices())), unit.Count(tokens.Length))
	return m, nil
}

// flopsText prints a number of FLOPs.
func flopsText(n float64) string { return strings.TrimSuffix(unit.FLOPRate(n), "/s") }
