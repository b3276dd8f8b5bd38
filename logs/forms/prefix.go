package forms

import (
	"regexp"
	"strings"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// maxPrefix is the number of bytes before a record that are searched for a time and labels.
const maxPrefix = 256

// The labels in prefixes. They distinguish processes that print to one terminal.
var (
	rankPrefix = lazyregexp.New(`\[[Rr]ank[ _-]?(\d{1,6})\]|\brank[-=](\d{1,6})\b|\[\d+,(\d{1,6})\]<std(?:out|err)>`)
	gpuPrefix  = lazyregexp.New(`\[gpu(?:_id)?=(\d{1,4})\]`)
	tagPrefix  = lazyregexp.New(`(?:^|[ \[])(DP|TP|PP|EP|ATTN_DP|ATTN_TP|ATTN_CP|MOE_EP|MOE_TP|MOE_DP)(\d{1,5})\b`)
	engine     = lazyregexp.New(`\bEngine (\d{1,5}):`)
	actor      = lazyregexp.New(`\((?:[A-Za-z_][\w.\[\]=-]*(?:\([^()]*\))?) pid=(\d{1,9})(?:, ip=([0-9a-fA-F.:]{1,45}))?\)`)
	lineStart  = lazyregexp.New(`^(?:(\d{1,6})|([A-Za-z][A-Za-z0-9_.-]*\d[A-Za-z0-9_.-]*)): `)
)

// labelsOf returns the labels in the text before a record on its line: the labels of ranks,
// and those of processes (see [processLabels]).
func labelsOf(prefix []byte) (labels []logs.Label) {
	text := string(prefix)
	add := func(name, value string) {
		if value != "" {
			labels = append(labels, logs.Label{Name: name, Value: value})
		}
	}
	first := func(re *regexp.Regexp) string {
		m := re.FindStringSubmatch(text)
		if m == nil {
			return ""
		}
		return strings.Join(m[1:], "")
	}
	if strings.Contains(text, "ank") || strings.Contains(text, "<std") {
		add("rank", first(rankPrefix()))
	}
	if strings.Contains(text, "[gpu") {
		add("gpu", first(gpuPrefix()))
	}
	if strings.Contains(text, "P") {
		for _, m := range tagPrefix().FindAllStringSubmatch(text, -1) {
			add(strings.ToLower(m[1]), m[2])
		}
	}
	if strings.Contains(text, "Engine ") {
		if n := strings.TrimLeft(first(engine()), "0"); n != "" || strings.Contains(text, "Engine 0") {
			add("engine", orZero(n))
		}
	}
	if strings.Contains(text, "pid=") {
		if m := actor().FindStringSubmatch(text); m != nil {
			if m[2] != "" {
				m[1] += "@" + m[2]
			}
			add("replica", m[1])
		}
	}
	if m := lineStart().FindStringSubmatch(text); m != nil {
		add("task", m[1])
		add("host", m[2])
	}
	return labels
}

func orZero(n string) string {
	if n == "" {
		return "0"
	}
	return n
}

// processLabels reports whether a label only distinguishes processes. Records of
// trainers do not have these labels, because one process logs for all.
func processLabels(name string) bool { return name == "replica" || name == "task" || name == "host" }

// without returns b without a part of it.
func without(b []byte, from, to int, into []byte) []byte {
	return append(append(into[:0], b[:from]...), b[to:]...)
}
