package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"assay/judge"
	"assay/report"
	"assay/summary"
)

func acceptCommand() *command {
	return &command{
		name: "accept", args: "INPUT... --baseline DIR",
		does: "make a run the baseline in DIR, and record why",
		example: `  assay accept new/ --baseline perf-baseline/ --reason "fused optimizer, 3 % faster"
  assay check next/ --baseline perf-baseline/
`,
		run: runAccept,
	}
}

// A decision is one line of the record that stands beside baselines.
type decision struct {
	Time     string   `json:"time"` // UTC
	Accepted string   `json:"accepted"`
	Previous string   `json:"previous,omitempty"`
	Reason   string   `json:"reason"`
	Assay    string   `json:"assay"`  // its version
	Inputs   []string `json:"inputs"` // SHA-256 of what was measured
}

// decisions is the name of the record, of which each line is a decision.
const decisions = "accepted.jsonl"

func runAccept(e env, c *command, args []string) error {
	var s source
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	dir := flags.StringP("baseline", "b", "", "`DIR` of baselines; made if it is not there")
	reason := flags.String("reason", "", "`TEXT` that says why this run is the baseline from now on")
	s.register(flags)
	args, err := parse(e, c, flags, args)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return usageError(e, c, "no input: name a trace, a directory of traces, or a summary that assay wrote")
	case *dir == "":
		return usageError(e, c, "no --baseline: name the directory of baselines")
	case strings.TrimSpace(*reason) == "":
		return usageError(e, c, "no --reason: say why this run is the baseline from now on")
	}
	if err := checkDir(*dir); err != nil {
		return fmt.Errorf("cannot write the baseline: %w", pathOnly(err))
	}
	list, err := loadSummaries(e, c, &s, args)
	if err != nil {
		return err // half a run is no baseline
	}
	sum := summary.Merge(list...)
	previous, err := lastAccepted(*dir)
	if err != nil {
		return err
	}
	name, err := saveSummary(*dir, mask(report.Overview(sum, judge.Judge(sum, judge.DefaultThresholds()))))
	if err != nil {
		return fmt.Errorf("cannot write the baseline: %w", pathOnly(err))
	}
	d := decision{Time: time.Now().UTC().Format(time.RFC3339), Accepted: name, Reason: *reason, Assay: version(), Inputs: []string{}}
	if previous != "" {
		d.Previous = filepath.Base(previous)
	}
	for _, in := range sum.Inputs {
		d.Inputs = append(d.Inputs, in.SHA256)
	}
	if err := record(*dir, d); err != nil {
		return fmt.Errorf("cannot write the baseline: %w", pathOnly(err))
	}
	e.say("%s is the baseline of %s from now on", name, *dir)
	return nil
}

// saveSummary writes a summary to a file in dir that is named by its content,
// with the version of assay that made it, and returns the name.
func saveSummary(dir string, doc masked[report.Doc]) (string, error) {
	var text bytes.Buffer
	if err := doc.value.JSON(&text); err != nil {
		return "", err
	}
	by, err := json.Marshal(version())
	if err != nil {
		return "", err
	}
	// The summary says what was measured; a field behind its schema says by whom.
	head, rest, _ := bytes.Cut(text.Bytes(), []byte("\n  \"inputs\":"))
	saved := slices.Concat(head, []byte("\n  \"assay\": "), by, []byte(",\n  \"inputs\":"), rest)
	sum := sha256.Sum256(saved)
	name := hex.EncodeToString(sum[:8]) + ".json"
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	out := newWriter()
	defer out.stop()
	return name, out.file(filepath.Join(dir, name), doc.as(func(_ report.Doc, w io.Writer) error {
		_, err := w.Write(saved)
		return err
	}))
}

// record adds a decision to those of dir.
func record(dir string, d decision) error {
	path := filepath.Join(dir, decisions)
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out := newWriter()
	defer out.stop()
	return out.file(path, mask(d).as(func(d decision, w io.Writer) error {
		line, err := report.JSONLine(d)
		if err != nil {
			return err
		}
		if len(old) > 0 && old[len(old)-1] != '\n' {
			old = append(old, '\n')
		}
		_, err = w.Write(append(append(old, line...), '\n'))
		return err
	}))
}

// lastAccepted returns the file that was accepted last in dir, or "" if there is
// no record.
func lastAccepted(dir string) (string, error) {
	path := filepath.Join(dir, decisions)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", pathOnly(err)
	}
	defer f.Close()
	var last decision
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var d decision
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return "", fmt.Errorf("%s:%d: malformed decision: %w; restore the file from its history", path, n, err)
		}
		// A name of another directory would reach beyond this one.
		if d.Accepted == "" || filepath.Base(d.Accepted) != d.Accepted {
			return "", fmt.Errorf("%s:%d: accepted is %q, want the name of a file beside it", path, n, d.Accepted)
		}
		last = d
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if last.Accepted == "" {
		return "", nil
	}
	return filepath.Join(dir, last.Accepted), nil
}
