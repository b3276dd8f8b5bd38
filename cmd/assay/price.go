package main

import (
	"fmt"
	"strconv"
	"strings"

	"assay/summary"

	"github.com/spf13/pflag"
)

// priceFlags has what the user states about the cost of a job.
type priceFlags struct {
	text string
	hour float64
	gpus int64
}

func (p *priceFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&p.text, "price", "", "price of one GPU for one hour, as `PRICE`: logs of jobs then show what steps and losses cost")
	flags.Int64Var(&p.gpus, "gpus", 0, "number `N` of GPUs of the job, for costs and energy (default: as settings and monitors say)")
}

// check returns a message if the flags cannot be used, or "".
func (p *priceFlags) check() string {
	var err error
	if p.text != "" {
		p.hour, err = strconv.ParseFloat(p.text, 64)
	}
	switch {
	case err != nil && strings.Count(p.text, ",") == 1:
		return fmt.Sprintf("--price wants a decimal point instead of a comma: %s", strings.Replace(p.text, ",", ".", 1))
	case err != nil || !(p.hour >= 0 && p.hour < 1e9):
		return "--price wants the price of one GPU for one hour, such as 2.10"
	case p.gpus < 0 || p.gpus > 1<<20:
		return "--gpus wants the number of GPUs of the job, such as 64"
	}
	return ""
}

// add sets the price in a summary.
func (p *priceFlags) add(s *summary.Summary) {
	if s != nil && (p.hour > 0 || p.gpus > 0) {
		s.Price = &summary.Price{GPUHour: p.hour, GPUs: p.gpus}
	}
}
