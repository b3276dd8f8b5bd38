package monitor

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// leastTopCPU is the %CPU from which on the rows of a process are read. Most processes of a
// host are idle.
const leastTopCPU = 5

var (
	reTop    = lazyregexp.New(`^top - (\d\d:\d\d:\d\d) up .*load average: (\d+[.,]\d+)`)
	reTopCPU = lazyregexp.New(`(\d+[.,]\d+)[ %]?(us|sy|id|wa)\b`)
	reTopMem = lazyregexp.New(`^(?:[KMGT]iB )?Mem ?: +([\d.,]+?)k? ?\+?total, .*?([\d.,]+?)k? ?\+?used`)
)

// topHeader begins a report of "top -b" if a line is its first one.
func (f *Finder) topHeader(text string) bool {
	m := reTop().FindStringSubmatch(text)
	if m == nil {
		return false
	}
	f.kind, f.cols, f.time = top, nil, logs.NoTime
	f.topRound++
	if s, ok := secondsOf(m[1]); ok {
		f.setTime(s, false)
	}
	f.b.Record("top", false)
	f.add("top", "sar", "ldavg-1", m[2])
	return true
}

// topRow reads a line of a report. Its first report has the means since the start.
func (f *Finder) topRow(line string) bool {
	text := strings.TrimSpace(line)
	words := strings.Fields(text)
	isFirst := f.topRound == 1
	switch {
	case len(words) == 0, strings.HasPrefix(text, "Tasks:"), strings.HasPrefix(text, "Threads:"), strings.Contains(words[0], "Swap"):
		return true
	case strings.HasPrefix(text, "%Cpu(s)"), strings.HasPrefix(text, "Cpu(s)"):
		for _, m := range reTopCPU().FindAllStringSubmatch(text, -1) {
			switch m[2] {
			case "id":
				if idle, ok := parse(m[1]); ok {
					f.use("top", idle, "top", isFirst)
				}
			case "wa":
				f.addAfterFirst("top", "cpu", "%iowait", m[1], "top", isFirst)
			}
		}
		return true
	case slices.Contains(words, "PID") && slices.Contains(words, "%CPU"):
		f.cols = words
		return true
	}
	if m := reTopMem().FindStringSubmatch(text); m != nil {
		total, ok := parse(m[1])
		if used, isUsed := parse(m[2]); ok && isUsed && total > 0 && used <= total {
			f.add("top", "sar", "%memused", strconv.FormatFloat(100*used/total, 'g', -1, 64))
		}
		return true
	}
	return f.topProcess(words, isFirst)
}

// topProcess reads the row of a process. Its command is the last column, and may have spaces.
func (f *Finder) topProcess(words []string, isFirst bool) bool {
	n := len(f.cols) - 1
	if n < 2 || len(words) < n {
		return false
	}
	var pid, cpu, memory string
	for i, c := range f.cols[:n] {
		switch c {
		case "PID":
			pid = words[i]
		case "%CPU":
			cpu = words[i]
		case "RES":
			memory = words[i]
		}
	}
	if _, err := strconv.Atoi(pid); err != nil {
		return false
	}
	v, ok := parse(cpu)
	key := pid + " " + strings.Join(words[n:], " ")
	if !ok || v < leastTopCPU && !f.first["top "+key] || len(f.first) > 1<<12 {
		return true
	}
	f.first["top "+key] = true // from now on also if it is idle
	label := logs.Label{Name: "process", Value: strings.TrimSpace(strings.Join(words[n:], " ") + " " + pid)}
	f.addAfterFirst("top", "pidstat", "%CPU", cpu, "top process "+key, isFirst, label)
	if kib, ok := topMemory(memory); ok {
		f.add("top", "pidstat", "RSS", kib, label)
	}
	return true
}

// topMemory returns an amount of memory in KiB. Large ones have a letter: "1.2g".
func topMemory(s string) (kib string, ok bool) {
	factor := 1.0
	if i := strings.IndexAny("mgt", s[max(0, len(s)-1):]); i >= 0 && s != "" {
		factor = []float64{1 << 10, 1 << 20, 1 << 30}[i]
		s = s[:len(s)-1]
	}
	v, ok := parse(s)
	return strconv.FormatFloat(v*factor, 'f', -1, 64), ok
}
