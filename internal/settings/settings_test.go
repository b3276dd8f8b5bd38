package settings

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRead: text up to the limit is read; a longer file and other encodings are refused by
// name.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		text    []byte
		message string
	}{
		"limit.yaml": {bytes.Repeat([]byte("#"), MaxBytes), ""},
		"over.yaml":  {bytes.Repeat([]byte("#"), MaxBytes+1), "the limit for settings"},
		"utf16.yaml": {[]byte("\xff\xfea\x00"), "not UTF-8"},
		"zero.yaml":  {[]byte("a: \x00"), "not UTF-8"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, tc.text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if tc.message == "" && (err != nil || !bytes.Equal(got, tc.text)) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if tc.message != "" && (err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), tc.message)) {
			t.Errorf("%s: %v, want %q", name, err, tc.message)
		}
	}
}

// TestWithoutValues: an error keeps its position and its cause, and loses only the values
// of secrets.
func TestWithoutValues(t *testing.T) {
	const file = "limits:\n  idle: Kq7vR2xWm9LtZp4s\napi_key: Kq7vR2xWm9LtZp4d\n"
	for value, hidden := range map[string]bool{"Kq7vR2xWm9LtZp4s": false, "Kq7vR2xWm9LtZp4d": true} {
		cause := errors.New(`f.yaml:3: "` + value + `" is not a number`)
		err := WithoutValues([]byte(file), cause)
		if strings.Contains(err.Error(), value) == hidden || !strings.HasPrefix(err.Error(), "f.yaml:3: ") || !errors.Is(err, cause) {
			t.Errorf("%s: %v, want it hidden: %v", value, err, hidden)
		}
	}
	if err := WithoutValues([]byte(file), nil); err != nil {
		t.Error(err)
	}
}
