package loopback

import (
	"errors"
	"slices"
	"testing"
)

// TestBrowser chooses the browser from the environment. Nothing of it goes through a shell.
func TestBrowser(t *testing.T) {
	const url = "http://127.0.0.1:1/x/"
	has := func(string) (string, error) { return "/usr/bin/xdg-open", nil }
	none := func(string) (string, error) { return "", errors.New("not found") }
	for _, tt := range []struct {
		env    map[string]string
		look   func(string) (string, error)
		system string
		want   []string
	}{
		{map[string]string{"BROWSER": "firefox"}, none, "linux", []string{"firefox", url}},
		{map[string]string{"BROWSER": "firefox --new-tab %s:lynx"}, none, "linux", []string{"firefox", "--new-tab", url}},
		{map[string]string{"BROWSER": "a; rm -rf /"}, none, "linux", []string{"a;", "rm", "-rf", "/", url}},
		{map[string]string{"DISPLAY": ":0"}, has, "linux", []string{"/usr/bin/xdg-open", url}},
		{map[string]string{"WAYLAND_DISPLAY": "w"}, has, "linux", []string{"/usr/bin/xdg-open", url}},
		{map[string]string{"DISPLAY": ":0"}, none, "linux", nil},
		{map[string]string{}, has, "linux", nil},
		{map[string]string{"DISPLAY": ":0", "SSH_CONNECTION": "a"}, has, "linux", nil},
		{map[string]string{"SSH_CONNECTION": "a"}, has, "darwin", nil},
		{map[string]string{}, none, "darwin", []string{"open", url}},
		{map[string]string{}, none, "windows", []string{"rundll32", "url.dll,FileProtocolHandler", url}},
	} {
		got := browserCommand(func(k string) string { return tt.env[k] }, tt.look, tt.system, url)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v on %s: %q, want %q", tt.env, tt.system, got, tt.want)
		}
	}
}
