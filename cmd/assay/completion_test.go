package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// completionScript returns what "assay completion" prints.
func completionScript(t *testing.T, shell string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(env{nil, &stdout, &stderr}, []string{"completion", shell}); got != exitOK {
		t.Fatalf("status %d: %s", got, stderr.String())
	}
	return stdout.String()
}

// TestCompletionInBash types words as a user and presses tab.
func TestCompletionInBash(t *testing.T) {
	bash := needsProgram(t, "bash")
	script := filepath.Join(t.TempDir(), "assay.bash")
	if err := os.WriteFile(script, []byte(completionScript(t, "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"assay conv":                 "convert",
		"assay report --pict":        "--picture-format",
		"assay summary x -f ":        "text md json csv",
		"assay check --format = j":   "json junit", // bash splits words at "="
		"assay whatif --format md a": "",           // then a file, by the shell
		"assay help forec":           "forecasts",
		"assay --f":                  "",
	} {
		words := strings.Fields(typed)
		if strings.HasSuffix(typed, " ") {
			words = append(words, "''")
		}
		out, err := exec.Command(bash, "-c", `source "$0"; COMP_WORDS=(`+strings.Join(words, " ")+
			`); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _assay; echo "${COMPREPLY[*]}"`, script).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q completes to %q, want %q (%v)", typed, got, want, err)
		}
	}
}

// TestCompletionIsComplete: each script has each flag of each command, and its shell can read it.
func TestCompletionIsComplete(t *testing.T) {
	for shell, check := range map[string][]string{
		"bash": {"-n"}, "zsh": {"-n"}, "fish": {"-n"}, "man": {"--warnings", "-l", "-Tutf8", "-Z"},
	} {
		script := completionScript(t, shell)
		plain := strings.NewReplacer(`\-`, "-", "' -l ", "' --").Replace(script) // as man and fish write them
		for _, c := range commands() {
			var stdout bytes.Buffer
			run(env{nil, &stdout, &stdout}, []string{"help", c.name})
			for line := range strings.Lines(stdout.String()) {
				_, flag, found := strings.Cut(line, "--")
				if !found || strings.TrimSpace(line)[0] != '-' {
					continue
				}
				if flag = strings.Fields(flag)[0]; flag != "help" && !strings.Contains(plain, "--"+flag) {
					t.Errorf("%s: no --%s of %s", shell, flag, c.name)
				}
			}
		}
		program, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := exec.Command(program, append(check, path)...)
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v: %s", shell, err, stderr.String())
		}
	}
}

func needsProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(name + " is not installed")
	}
	return path
}
