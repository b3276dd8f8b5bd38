package hardware

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ModelFLOPs are the FLOPs of a step as the user counts them, on each GPU.
type ModelFLOPs struct {
	PerStep int64
	Type    Figure // the rate to compare with; NoFigure for that of most matrix FLOPs
}

// Tokens are those of a step on each GPU: the tokens of its batch over the number of GPUs.
type Tokens struct {
	Sequences float64
	Length    int64 // tokens of each sequence
	Count     float64
}

// mostFLOPs is the largest number of FLOPs of a step on one GPU: seconds on a thousand GPUs of today.
const mostFLOPs = 1e18

// CutType returns what is before the type in "4.2e14,bf16", and the type, or NoFigure without one. A text
// with a comma may be the path of a file.
func CutType(text string) (rest string, of Figure) {
	at := strings.LastIndexByte(text, ',')
	if at < 0 {
		return text, NoFigure
	}
	if of = FigureOf(strings.ToLower(strings.TrimSpace(text[at+1:]))); !of.IsRate() {
		return text, NoFigure
	}
	return text[:at], of
}

// perToken ends a number of FLOPs for each token.
const perToken = "/token"

// ParseModelFLOPs reads "4.2e14" or "4.2e14,bf16", which are the FLOPs of a step, or "6e9/token",
// which is for each of the tokens of a step.
func ParseModelFLOPs(text string, tokens Tokens) (m ModelFLOPs, err error) {
	number, of := CutType(text)
	if rest, name, typed := strings.Cut(number, ","); typed && isNumber(rest) {
		return m, fmt.Errorf("unknown type %q, want one of %s", strings.TrimSpace(name), strings.Join(figureNames[FP64:HBM], ", "))
	}
	number, each := strings.CutSuffix(strings.TrimSpace(number), perToken)
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || math.IsNaN(v) || v < 1 || v > mostFLOPs:
		return m, fmt.Errorf("%q: want the FLOPs of a step on each GPU, a number up to 1e18, as 4.2e14; FLOPs of a token, as 6e9/token; or config.json of the model", number)
	case each && tokens.Count == 0:
		return m, errors.New("FLOPs of a token need the tokens of a step on each GPU: add --tokens NUMBER")
	case each:
		v *= tokens.Count
	case tokens.Count != 0:
		return m, errors.New("these FLOPs are of a step, so --tokens changes nothing; for FLOPs of a token write 6e9/token")
	}
	return ModelOf(v, of)
}

// isNumber reports whether a text is a number of FLOPs.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), perToken)), 64)
	return err == nil
}

// ModelOf returns the FLOPs of a step, if it is possible to do them.
func ModelOf(flops float64, of Figure) (m ModelFLOPs, err error) {
	if !(flops >= 1 && flops <= mostFLOPs) {
		return m, fmt.Errorf("%.3g FLOPs of a step on each GPU, want a number from 1 to 1e18", flops)
	}
	return ModelFLOPs{PerStep: int64(flops), Type: of}, nil
}

// ParseTokens reads "8192", or "16x559": 16 sequences of 559 tokens. The number of sequences may have a
// fraction, where GPUs share the work of one.
func ParseTokens(text string) (t Tokens, err error) {
	const most = 1e12
	sequences, length, ok := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "x")
	t.Sequences, err = strconv.ParseFloat(sequences, 64)
	if ok && err == nil {
		t.Length, err = strconv.ParseInt(length, 10, 64)
		t.Count = t.Sequences * float64(t.Length)
	} else {
		t.Count = t.Sequences
	}
	if err != nil || math.IsNaN(t.Count) || t.Sequences <= 0 || t.Length < 0 || t.Count < 1 || t.Count > most {
		return Tokens{}, fmt.Errorf("%q: want the tokens of a step on each GPU, as 8192, or sequences and their length, as 2x4096", text)
	}
	if !ok {
		t.Sequences = 0
	}
	return t, nil
}

// Tally returns the FLOPs of some steps by the rate that bounds them, which is that of most
// executed FLOPs if m has no type. It is the largest number if they do not fit.
func (m ModelFLOPs) Tally(steps int64, executed Tally) (t Tally) {
	of := m.Type
	for f := range executed {
		if m.Type == NoFigure && executed[f] > executed[of] {
			of = Figure(f)
		}
	}
	if t[of] = m.PerStep * steps; m.PerStep > 0 && steps >= math.MaxInt64/m.PerStep {
		t[of] = math.MaxInt64
	}
	return t
}
