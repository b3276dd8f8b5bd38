package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/summary"
)

// wordings are members whose values are sentences, or lists of them: they may be reworded.
// The others keep their values.
var wordings = []string{"title", "sentence", "evidence", "next", "next_sources", "help", "to_be_sure", "gain_of", "words"}

// capped are rules about kernels. The level of their findings is lowered if the kernels
// have a small share of the window, which changes the order of findings, too.
var capped = []string{"dominant-kernel", "memory-bandwidth", "tiny-kernels"}

// byRule returns findings by the ids of their rules.
func byRule(findings []any) []any {
	rule := func(f any) string { return fmt.Sprint(f.(map[string]any)["rule"]) }
	return slices.SortedStableFunc(slices.Values(findings), func(a, b any) int { return strings.Compare(rule(a), rule(b)) })
}

// TestContract compares summaries that an earlier version wrote with what is written now
// of the same inputs: each member is still there with its value. Members may be added.
func TestContract(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "testdata"))
	for saved, input := range map[string]string{
		"llm_train_step": "gen/llm_train_step.json.gz",
		"host_bound":     "gen/host_bound.json.gz",
		"rocm":           "gen/rocm.json.gz",
		"cpu_only":       "gen/cpu_only.json.gz",
		"leak_oom":       "memory/leak_oom.pickle.gz",
		"timeline":       "memory/timeline.json",
		"cuda":           "torchprof/cuda.txt",
		"cprofile":       "profilers/cprofile.prof",
		"yappi_cpu":      "profilers/yappi_cpu.callgrind",
	} {
		old := test.Unpacked(t, filepath.Join("summaries", saved+".json.gz"))
		if _, err := summary.Read(strings.NewReader(string(old)), saved); err != nil {
			t.Errorf("%s cannot be read: %v", saved, err)
		}
		var before, now any
		if err := json.Unmarshal(old, &before); err != nil {
			t.Fatal(err)
		}
		jsonOf(t, &now, "summary", input, "--format", "json")
		var lost []string
		compareMembers(before, now, "", &lost)
		for _, line := range lost[:min(5, len(lost))] {
			t.Errorf("%s: %s", saved, line)
		}
	}
}

// compareMembers adds to lost what of before is missing in now, or has another value.
func compareMembers(before, now any, path string, lost *[]string) {
	switch was := before.(type) {
	case map[string]any:
		is, _ := now.(map[string]any)
		for name, value := range was {
			if was["rule"] == "dominant-kernel" && strings.HasPrefix(name, "gain") {
				continue // how much of its work a kernel can save is not known
			}
			if was["rule"] == "synchronizing-calls" && name != "rule" {
				continue // it measures the idle time after the calls since, not the time of the calls
			}
			if slices.Contains(wordings, name) || name == "level" && slices.Contains(capped, fmt.Sprint(was["rule"])) {
				continue
			}
			if _, ok := is[name]; !ok {
				*lost = append(*lost, path+"."+name+" is missing")
				continue
			}
			compareMembers(value, is[name], path+"."+name, lost)
		}
	case []any:
		is, _ := now.([]any)
		if len(is) != len(was) {
			*lost = append(*lost, fmt.Sprintf("%s has %d elements, had %d", path, len(is), len(was)))
			return
		}
		if path == ".findings" {
			was, is = byRule(was), byRule(is)
		}
		for i := range was {
			compareMembers(was[i], is[i], fmt.Sprintf("%s[%d]", path, i), lost)
		}
	default:
		if !reflect.DeepEqual(before, now) {
			*lost = append(*lost, fmt.Sprintf("%s is %v, was %v", path, now, before))
		}
	}
}

// TestCompareMembers: what is missing or differs is found, what is added is not.
func TestCompareMembers(t *testing.T) {
	var before, now any
	for text, v := range map[string]*any{`{"a":[{"b":1,"title":"x"},2],"c":"d"}`: &before, `{"a":[{"b":2,"title":"y","new":1},2]}`: &now} {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatal(err)
		}
	}
	var lost []string
	compareMembers(before, now, "", &lost)
	slices.Sort(lost)
	if want := []string{".a[0].b is 2, was 1", ".c is missing"}; !slices.Equal(lost, want) {
		t.Errorf("got %q, want %q", lost, want)
	}
}
