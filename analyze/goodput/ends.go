package goodput

import (
	"assay/logs"
	"assay/summary"
)

// aftermath is the number of lines after an exception within which a program that did not handle it ends: those of
// the traces of all its ranks.
const aftermath = 2000

// end sets what ended a run: the first line after its last step that is about a cause, else about a consequence.
func (r *run) end(a *summary.Attempt) {
	last := r.lastLine()
	var of [4]*logs.Mark // finished or failed, stopped, raised, followed
	var where []logs.Mark
	for i := range r.marks {
		m := &r.marks[i]
		if m.Line <= last {
			continue
		}
		k := -1
		switch m.Kind {
		case logs.MarkFinished:
			a.End, a.Line = summary.EndFinished, m.Line
			return
		case logs.MarkFailed:
			k = 0
		case logs.MarkStopped:
			k = 1
		case logs.MarkRaised:
			k = 2
		case logs.MarkFollowed:
			k = 3
		case logs.MarkWhere:
			where = append(where, *m)
		}
		if k >= 0 && of[k] == nil {
			of[k] = m
		}
	}
	if m := of[2]; m != nil && len(where) == 0 && r.marks[len(r.marks)-1].Line > m.Line+aftermath {
		of[2] = nil
	}
	if m, n := of[2], of[3]; m != nil && n != nil && m.Line == n.Line {
		of[2] = nil // what the exception is about says more than its type
	}
	for k, m := range of {
		if m == nil {
			continue
		}
		a.End, a.Reason, a.Line, a.Error = summary.EndFailed, m.Class, m.Line, m.Text
		if k == 1 {
			a.End = summary.EndStopped
		}
		if k != 3 && m.Rank >= 0 { // of a collective the rank that waited is known, not the one that did not come
			rank := m.Rank
			a.Rank = &rank
		}
		if k != 3 {
			a.Node = m.Node
		}
		break
	}
	r.launcher(a, where)
}

// exits has what the exit codes of the launcher tell: minus the signal.
var exits = map[string]string{"-9": "killed (SIGKILL)", "-11": "segmentation fault", "-7": "bus error", "-6": "aborted (SIGABRT)"}

// launcher takes the rank, the node and the exit code of the process that failed first from the report of the launcher.
func (r *run) launcher(a *summary.Attempt, where []logs.Mark) {
	root := false
	for _, m := range where {
		switch {
		case m.Class == "root":
			if root {
				return
			}
			root = true
		case !root:
		case m.Node != "" && a.Node == "":
			a.Node = m.Node
		case m.Rank >= 0 && a.Rank == nil:
			rank := m.Rank
			a.Rank = &rank
		case exits[m.Class] != "" && (a.End == "" || a.Reason == ""):
			a.End, a.Reason, a.Line, a.Error = summary.EndFailed, exits[m.Class], m.Line, m.Text
		case m.Class != "" && m.Class != "root" && a.End == "":
			a.End, a.Reason, a.Line, a.Error = summary.EndFailed, "exit code "+m.Class, m.Line, m.Text
		}
	}
}
