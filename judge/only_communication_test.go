package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
)

// TestOnlyCommunication: a recorder that writes nothing but collectives does not show that GPUs wait for them. A
// trace of PyTorch with the same work does.
func TestOnlyCommunication(t *testing.T) {
	plugin, kineto := []string{}, []string{}
	for i := range 20 {
		at := i * 100
		mark := func(ph, cat, name string, ts int) string {
			return fmt.Sprintf(`{"ph":%q,"cat":%q,"name":%q,"id":%d,"pid":1,"tid":1,"ts":%d,"args":{"Rank":0}}`, ph, cat, name, i, ts)
		}
		plugin = append(plugin, mark("b", "COLL", "AllReduce", at), mark("b", "GPU", "KernelCh", at+5), mark("e", "GPU", "KernelCh", at+65), mark("e", "COLL", "AllReduce", at+1))
		kineto = append(kineto, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","pid":0,"tid":7,"ts":%d,"dur":60,"args":{"device":0,"stream":7}}`, at+5))
	}
	th, err := rule.ParseThresholds(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	r := Judge(given("["+strings.Join(plugin, ",")+"]")(t), th)
	if r.Verdict.Bound != finding.BoundUnknown || r.Verdict.Rule != rule.RecordsMissing || !strings.Contains(r.Verdict.Sentence, "1.2 ms on 1 GPU") {
		t.Errorf("the verdict is %v by %s: %s", r.Verdict.Bound, r.Verdict.Rule, r.Verdict.Sentence)
	}
	if r := Judge(given("["+strings.Join(kineto, ",")+"]")(t), th); r.Verdict.Bound != finding.BoundCommunication {
		t.Errorf("of a trace of PyTorch it is %v: %s", r.Verdict.Bound, r.Verdict.Sentence)
	}
}
