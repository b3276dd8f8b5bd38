package export

import (
	"strings"
	"testing"

	"assay/internal/redact"
)

// TestNamedSecrets: a secret whose name is in another text of the same object or list is
// masked, and what is not secret stays.
func TestNamedSecrets(t *testing.T) {
	const secret = "correct-Horse-battery"
	for args, kept := range map[string]string{
		`{"cmd": ["python", "--api-key", "correct-Horse-battery", "train.py"]}`:       `"train.py"`,
		`{"cmd": {"argv": ["--password", "correct-Horse-battery", "x.py"]}}`:          `"x.py"`,
		`{"env": [{"name": "HF_TOKEN", "value": "correct-Horse-battery", "n": 1}]}`:   `"n": 1`,
		`{"name": "HF_TOKEN", "value": "correct-Horse-battery", "n": 2}`:              `"n": 2`,
		`{"env": {"key": "WANDB_API_KEY", "value": "correct-Horse-battery", "n": 3}}`: `"n": 3`,
		`{"Input type": ["float", "long"], "name": "x", "value": "plain"}`:            `"plain"`,
	} {
		text := `[{"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 1, "args": ` + args + `}]`
		out, events, err := join(t, 1<<20, redact.Mask, text)
		switch {
		case err != nil || len(events) == 0:
			t.Errorf("%s: %d events, %v", args, len(events), err)
		case strings.Contains(string(out), secret):
			t.Errorf("%s is written as %s", args, out)
		case !strings.Contains(string(out), kept):
			t.Errorf("%s: %s is lost in %s", args, kept, out)
		}
	}
}
