package loopback

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"assay/internal/lazyregexp"
)

// Tunnel returns the ssh command that forwards a port of this machine to the user's machine, or "" if
// this is no SSH session. The port is the same on both machines, because the server checks the host
// name and port of each request.
func Tunnel(getenv func(string) string, port int) string {
	fields := strings.Fields(getenv("SSH_CONNECTION")) // client, its port, server, its port
	if len(fields) != 4 || net.ParseIP(fields[2]) == nil {
		return ""
	}
	host := fields[2]
	if user := getenv("USER"); userName().MatchString(user) {
		host = user + "@" + host
	}
	return fmt.Sprintf("ssh -N -L %d:127.0.0.1:%d %s", port, port, host)
}

var userName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9._-]*$`)

// browserCommand returns the command that opens an address in a browser, or nil: the first one of
// $BROWSER, or the system's. In an SSH session it uses only $BROWSER, because the system's browser
// would start on the wrong machine.
func browserCommand(getenv func(string) string, lookPath func(string) (string, error), system, url string) []string {
	if first, _, _ := strings.Cut(getenv("BROWSER"), ":"); strings.TrimSpace(first) != "" {
		args := strings.Fields(first)
		placed := false
		for i, arg := range args {
			if strings.Contains(arg, "%s") {
				args[i], placed = strings.ReplaceAll(arg, "%s", url), true
			}
		}
		if !placed {
			args = append(args, url)
		}
		return args
	}
	if getenv("SSH_CONNECTION") != "" {
		return nil
	}
	switch system {
	case "darwin":
		return []string{"open", url}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	path, err := lookPath("xdg-open")
	if err != nil {
		return nil
	}
	return []string{path, url}
}

// StartBrowser opens an address in a browser, if there is one. It does not wait for the browser.
func StartBrowser(url string) error {
	args := browserCommand(os.Getenv, exec.LookPath, runtime.GOOS, url)
	if args == nil {
		return nil
	}
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // only to reap the process; the status is meaningless
	return nil
}
