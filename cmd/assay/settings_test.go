package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSettingsEncoding: a file in UTF-16, as some editors save it, is refused with what
// to do.
func TestSettingsEncoding(t *testing.T) {
	dir := t.TempDir()
	input, file := filepath.Join(dir, "small.json"), filepath.Join(dir, "settings.yaml")
	if err := os.WriteFile(input, []byte(`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}]`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"\xff\xfeg\x00:\x00", "\xfe\xff\x00g\x00:", "g\x00:\x00"} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"check", input, "--gates", file}, {"summary", input, "--rules", file}} {
			var stdout, stderr bytes.Buffer
			status := run(env{strings.NewReader(""), &stdout, &stderr}, args)
			want := "assay " + args[0] + ": " + file + ": the file is not UTF-8 text (it looks like UTF-16); save it as UTF-8\n"
			if status != exitTrouble || stderr.String() != want {
				t.Errorf("%s, %q: exit status %d, %q", args[0], text, status, stderr.String())
			}
		}
	}
}

// TestSettingsBombs: hostile files of settings, which pull requests bring, are
// refused in one line with the place, whichever option names them.
func TestSettingsBombs(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "small.json")
	if err := os.WriteFile(input, []byte(`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}]`), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"lists of 40 KB":       strings.Repeat("[", 40_000),
		"lists of 80 KB":       strings.Repeat("[", 80_000),
		"lists of 200 KB":      strings.Repeat("[", 200_000),
		"block lists of 60 KB": strings.Repeat("- ", 30_000),
		"laughs":               "a: &a [x]\nb: &b [*a, *a]\nrules: [*b, *b]\n",
	} {
		file := filepath.Join(dir, "settings.yaml")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"check", input, "--gates", file}, {"summary", input, "--rules", file},
			{"summary", input, "--phases", file}, {"summary", input, "--thresholds", file}, {"explain", "--thresholds", file},
		} {
			if args[0] == "summary" && args[2] == "--thresholds" {
				args[0] = "report"
				args = append(args, "-o", filepath.Join(dir, "out"))
			}
			var stdout, stderr bytes.Buffer
			status := run(env{strings.NewReader(""), &stdout, &stderr}, args)
			said := stderr.String()
			if status != exitTrouble || strings.Count(said, "\n") != 1 || !strings.Contains(said, file) || !strings.Contains(said, "settings") || stdout.Len() > 0 {
				t.Errorf("%s, %s: exit status %d, %q", name, args[0], status, said)
			}
		}
	}
}

// TestSettingsErrorsHideSecrets: no error of a settings file shows a value that the file
// gives to a name of a secret, wherever the name is and however the value is written.
func TestSettingsErrorsHideSecrets(t *testing.T) {
	dir := t.TempDir()
	input := write(t, filepath.Join(dir, "small.json"), oneKernel, 0o666)
	const secret = "hunter2xyz"
	for _, c := range []struct{ option, text string }{
		{"--gates", `phase.mean{phase=PASSWORD}: "%s"`},
		{"--gates", `phase.mean{phase=PASSWORD}: "<%s>"`},
		{"--gates", `phase.mean{phase=PASSWORD}: "<= %s"`},
		{"--gates", `phase.mean{phase=PASSWORD}: '%s'`},
		{"--gates", `phase.mean{phase=PASSWORD}: > %s`},
		{"--gates", `phase.mean{phase=PASSWORD}: {max: %s}`},
		{"--gates", `phase.mean{phase=PASSWORD}: {max_increase: %s}`},
		{"--gates", `phase.mean{phase=PASSWORD}: {min_abs: "%s"}`},
		{"--gates", "phase.mean{phase=db_password}:\n  warn:\n    max: %s"},
		{"--gates", `phase.mean{phase=PASSWORD}: {level: %s}`},
		{"--gates", `phase.mean{phase=PASSWORD}: {noise: %s}`},
		{"--gates", `phase.mean{phase=PASSWORD}: {if_measured: %s}`},
		{"--gates", `phase.mean{phase=PASSWORD}: {%s: 3}`},
		{"--gates", `phase.mean{phase=PASSWORD, rank=%s}: 3`},
		{"--gates", `phase.mean{phase=PASSWORD, steps=%s}: 3`},
		{"--gates", `phase.mean{phase=PASSWORD, %s}: 3`},
		{"--gates", `PASSWORD: %s`},
		{"--thresholds", "gpu-idle: {warn: 5%%, PASSWORD: %s}"},
		{"--thresholds", "PASSWORD:\n  warn: %s"},
		{"--rules", "PASSWORD: %s"},
		{"--rules", "- {category: PASSWORD, match: '[%s'}"},
		{"--phases", "PASSWORD: [%s]"},
	} {
		file := write(t, filepath.Join(dir, "settings.yaml"), fmt.Sprintf(c.text, secret)+"\n", 0o666)
		command := "summary"
		if c.option == "--gates" {
			command = "check"
		}
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{command, input, c.option, file})
		if status != exitTrouble || strings.Contains(stdout.String()+stderr.String(), secret) {
			t.Errorf("%s: exit status %d, %s", c.text, status, stderr.String())
		}
	}
	// A value after another name is shown, because it helps to find the mistake.
	file := write(t, filepath.Join(dir, "settings.yaml"), `phase.mean{phase=decode}: {max: `+secret+"}\n", 0o666)
	var stdout, stderr bytes.Buffer
	run(env{strings.NewReader(""), &stdout, &stderr}, []string{"check", input, "--gates", file})
	if !strings.Contains(stderr.String(), secret) {
		t.Errorf("the value of no secret is hidden: %s", stderr.String())
	}
}
