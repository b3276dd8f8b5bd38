package label

import "testing"

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		line       int
		function   string
	}{
		{"demo/train.py(52): train_step", "demo/train.py", 52, "train_step"},
		{"torch/nn/modules/module.py(1751): _call_impl", "torch/nn/modules/module.py", 1751, "_call_impl"},
		{"<built-in method mm of type object at 0x7d6b>", "", 0, "<built-in method mm of type object at 0x7d6b>"},
		{"a(b): c", "", 0, "a(b): c"},
		{"nn.Module: Linear_0", "", 0, "nn.Module: Linear_0"},
	} {
		if file, line, function := Split(tt.name); file != tt.file || line != tt.line || function != tt.function {
			t.Errorf("%s: %q, %d, %q", tt.name, file, line, function)
		}
	}
	if got := WithoutAddress("<built-in method mm of type object at 0x7d6b>"); got != "<built-in method mm of type object>" {
		t.Errorf("without its address: %s", got)
	}
}

func TestIsUserCode(t *testing.T) {
	for name, want := range map[string]bool{
		"demo/train.py(52): train_step": true, "/usr/lib/python3.11/dist-packages/vllm/engine.py(3): step": true,
		"nn.Module: Linear_0": false, "torch/nn/functional.py(1): linear": false, "threading.py(1012): run": false,
		"/usr/lib/python3.11/asyncio/events.py(80): _run": false, "<built-in function len>": false,
	} {
		if got := IsUserCode(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
