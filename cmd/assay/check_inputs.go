package main

import (
	"errors"
	"os"

	"assay/gate"
	"assay/gate/baseline"
	"assay/ingest"
	"assay/summary"
)

// loadRuns reads the arguments as runs of the program. It returns the runs that could be
// read, and the joined errors of the others.
func loadRuns(e env, c *command, s *source, args []string) (gate.Group, error) {
	list, err := loadSummaries(e, c, s, args, true)
	return gate.Grouped(list), err
}

// loadSummaries returns summaries of all inputs: see reading.runs. A directory of baselines means
// its latest entry. Rolled-up summaries are refused unless sums is true: the caller then needs only
// totals over the ranks.
func loadSummaries(e env, c *command, s *source, args []string, sums bool) ([]*summary.Summary, error) {
	names, failed := latest(e, c, args)
	if len(names) == 0 {
		return nil, errors.Join(failed...)
	}
	r, err := s.open(e, c, names)
	if err != nil {
		return nil, errors.Join(append(failed, err)...)
	}
	r.sums = sums
	list, unread := r.runs()
	failed = append(failed, unread...)
	s.hideUsers(&list)
	return list, errors.Join(failed...)
}

// latest replaces each directory of baselines among the arguments by its latest entry.
func latest(e env, c *command, args []string) (names []string, failed []error) {
	for _, arg := range args {
		accepted, cut, err := acceptedIn(arg)
		if cut != "" {
			e.say("assay %s: %s", c.name, cut)
		}
		switch {
		case err != nil:
			failed = append(failed, err)
		case accepted != "":
			names = append(names, accepted)
		default:
			names = append(names, arg)
		}
	}
	return names, failed
}

// acceptedIn returns the latest summary in a directory of baselines, or "" if arg is not
// such a directory, and a message if the record is cut.
func acceptedIn(arg string) (path, cut string, err error) {
	if info, err := os.Stat(arg); arg == ingest.Stdin || err != nil || !info.IsDir() {
		return "", "", nil
	}
	return baseline.Latest(arg)
}
