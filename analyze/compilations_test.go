package analyze

import "testing"

// TestGuardKinds: texts of failed checks as PyTorch 2.4 to 2.11 writes them.
func TestGuardKinds(t *testing.T) {
	for text, want := range map[string]string{
		"tensor 'x' size mismatch at index 0. expected 256, actual 512":    "size",
		"tensor 'L['y']' stride mismatch at index 1. expected 4, actual 8": "size",
		"len(L['list']) == 3":                       "size",
		"L['n'] == 4":                               "value",
		"L['mode'] == 'train'":                      "value",
		"tensor 'x' dtype mismatch. expected float": "other",
		"___check_obj_id(L['fn'], 9431)":            "other",
		"GLOBAL_STATE changed: grad_mode":           "other",
	} {
		if got := guardKind(text); got != want {
			t.Errorf("%q is about %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{
		"Data-dependent branching": true, "generic_jump TensorVariable()": true, "Tensor.item": true,
		"dynamic shape operator: aten.nonzero.default": true, "call to print": false, "Skip calling `torch.compiler.disable()`d function": false,
	} {
		if got := dataBreak().MatchString(text); got != want {
			t.Errorf("%q depends on data: %v, want %v", text, got, want)
		}
	}
}
