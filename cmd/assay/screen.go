package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// textWidth is the width of text output in columns where there is no terminal.
const textWidth = 80

// A screen is the standard output with its number of columns.
type screen struct {
	io.Writer
	columns int  // as --width gives them, or 0
	colored bool // titles are bold, and levels and results have colors

	describe func(*pflag.FlagSet) // takes the flags of a command, instead of the text of --help
}

// newScreen returns the screen of the standard output. Colors are used on terminals, unless NO_COLOR is set.
func newScreen(stdout io.Writer) *screen {
	name := os.Getenv("TERM")
	return &screen{Writer: stdout, colored: isTerminal(stdout) && os.Getenv("NO_COLOR") == "" && name != "dumb"}
}

// flag registers --width.
func (s *screen) flag(flags *pflag.FlagSet) {
	flags.IntVar(&s.columns, "width", 0, "`N` columns of text output (default: those of the terminal; 80 where there is none)")
}

// check returns a message if --width is wrong, or "".
func (s *screen) check(flags *pflag.FlagSet) string {
	if flags.Changed("width") && s.columns < minWidth {
		return fmt.Sprintf("--width is %d, want %d or more", s.columns, minWidth)
	}
	return ""
}

// minWidth is the smallest width that --width accepts.
const minWidth = textWidth

// width returns the number of columns: those that --width gives, those of the terminal by COLUMNS or by itself,
// or 80.
func (s *screen) width() int {
	if s.columns > 0 {
		return s.columns
	}
	if !isTerminal(s.Writer) {
		return textWidth
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= minWidth {
		return n
	}
	if n, _, err := term.GetSize(int(s.Writer.(*os.File).Fd())); err == nil && n >= minWidth {
		return n
	}
	return textWidth
}

// A onto is a writer of what a screen shows in the end.
type onto struct {
	io.Writer
	*screen
}

// Write writes to the buffer and not to the screen.
func (o onto) Write(p []byte) (int, error) { return o.Writer.Write(p) }

// shown returns the result as standard output shows it.
func (e env) shown(r result) result {
	s, ok := e.stdout.(*screen)
	if !ok {
		return r.inert()
	}
	fitted := r
	fitted.encode = func(w io.Writer) error { return r.encode(onto{w, s}) }
	return fitted.inert()
}

// onScreen makes a writer from a function that takes the number of columns.
func onScreen[T any](text func(T, io.Writer, int) error) func(T, io.Writer) error {
	return func(v T, w io.Writer) error {
		o, ok := w.(onto)
		switch {
		case !ok:
			return text(v, w, textWidth)
		case !o.colored:
			return text(v, w, o.width())
		}
		var plain bytes.Buffer
		if err := text(v, &plain, o.width()); err != nil {
			return err
		}
		_, err := io.WriteString(w, colors(plain.String()))
		return err
	}
}

// colorOf has the levels of findings and the results of gates and questions, which begin lines.
var colorOf = map[string]string{"critical": red, "fail": red, "error": red, "no": red, "warning": yellow, "warn": yellow,
	"inconclusive": yellow, "partly": yellow, "pass": green, "yes": green}

const red, green, yellow, bold, normal = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"

// colors makes titles bold, and gives levels and results their colors.
func colors(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		indent, word, rest := "", line, ""
		if at := strings.IndexAny(line, ":\n"); at >= 0 {
			word, rest = line[:at], line[at:]
		}
		code := bold
		if after, indented := strings.CutPrefix(line, "  "); indented {
			indent = "  "
			word, rest, _ = strings.Cut(after, " ")
			code, rest = colorOf[word], " "+rest
		}
		if code == "" || word == "" || word[0] == ' ' {
			b.WriteString(line)
		} else {
			b.WriteString(indent + code + word + normal + rest)
		}
	}
	return b.String()
}
