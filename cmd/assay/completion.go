package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/docs"
)

func completionCommand() *command {
	return &command{
		name: "completion", args: "bash|zsh|fish|man",
		does: "print a script that completes commands and flags in a shell, or the man page",
		example: `  source <(assay completion bash)
  assay completion man > /usr/local/share/man/man1/assay.1
`,
		run: runCompletion,
	}
}

// shells are what runCompletion writes.
var shells = []struct {
	name  string
	write func(io.Writer, []described)
}{{"bash", bashCompletion}, {"zsh", zshCompletion}, {"fish", fishCompletion}, {"man", manPage}}

func runCompletion(e env, c *command, args []string) error {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	for _, s := range shells {
		if len(args) == 1 && args[0] == s.name {
			return e.print(mask(s.write).as(func(write func(io.Writer, []described), w io.Writer) error {
				write(w, describeCommands())
				return nil
			}))
		}
	}
	return usageError(e, c, "want one of "+strings.ReplaceAll(c.args, "|", ", "))
}

// described is a command with its flags.
type described struct {
	*command
	flags *pflag.FlagSet
}

func describeCommands() (list []described) {
	for _, c := range commands() {
		s := newScreen(io.Discard)
		s.describe = func(flags *pflag.FlagSet) { list = append(list, described{c, flags}) }
		_ = c.run(env{strings.NewReader(""), s, io.Discard}, c, []string{"--help"}) // only describes its flags
	}
	return list
}

// each calls visit for the flags of a command in their order, with the words that a flag accepts, if it
// is one of a few.
func (d described) each(visit func(f *pflag.Flag, words []string)) {
	d.flags.VisitAll(func(f *pflag.Flag) {
		var words []string
		if e, ok := f.Value.(*enum); ok {
			words = names(e.words)
		}
		if !f.Hidden {
			visit(f, words)
		}
	})
}

// spellings returns a flag as it is typed.
func spellings(f *pflag.Flag) []string {
	if f.Shorthand == "" {
		return []string{"--" + f.Name}
	}
	return []string{"--" + f.Name, "-" + f.Shorthand}
}

// takesValue reports whether a value must follow a flag.
func takesValue(f *pflag.Flag) bool { return f.NoOptDefVal == "" }

// helpNames are what "assay help" explains.
func helpNames() (list []string) {
	for _, t := range topics() {
		list = append(list, t.name)
	}
	for _, p := range docs.Pages() {
		list = append(list, p.Name)
	}
	return list
}

// others are the words that are no commands with flags.
var others = []struct{ name, does string }{{"help", "explain a command, or print a page of the manual"}, {"version", "print the version"}}

func verbs(list []described) (out []string) {
	for _, d := range list {
		out = append(out, d.name)
	}
	for _, o := range others {
		out = append(out, o.name)
	}
	return out
}

func bashCompletion(w io.Writer, list []described) {
	fmt.Fprintf(w, `# Completion of assay in bash.
_assay() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=
	if [[ $cur == "=" ]]; then cur=
	elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		words="%s"
	else
		case "${COMP_WORDS[1]} $prev" in
`, strings.Join(verbs(list), " "))
	for _, d := range list {
		d.each(func(f *pflag.Flag, words []string) {
			if len(words) == 0 {
				return
			}
			for i, s := range spellings(f) {
				if i > 0 {
					fmt.Fprint(w, "|")
				} else {
					fmt.Fprint(w, "\t\t")
				}
				fmt.Fprintf(w, "%q", d.name+" "+s)
			}
			fmt.Fprintf(w, ") words=%q ;;\n", strings.Join(words, " "))
		})
	}
	fmt.Fprintf(w, "\t\t\"help help\") words=%q ;;\n\t\tesac\n", strings.Join(append(verbs(list), helpNames()...), " "))
	fmt.Fprint(w, "\t\tif [[ -z $words && $cur == -* ]]; then\n\t\t\tcase ${COMP_WORDS[1]} in\n")
	for _, d := range list {
		var flags []string
		d.each(func(f *pflag.Flag, _ []string) { flags = append(flags, "--"+f.Name) })
		fmt.Fprintf(w, "\t\t\t%s) words=%q ;;\n", d.name, strings.Join(flags, " "))
	}
	fmt.Fprint(w, `			esac
		fi
	fi
	if [[ -n $words ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o bashdefault -o default -F _assay assay
`)
}

func zshCompletion(w io.Writer, list []described) {
	fmt.Fprint(w, "#compdef assay\n# Completion of assay in zsh.\n_assay() {\n\tlocal -a verbs\n\tverbs=(\n")
	for _, d := range list {
		fmt.Fprintf(w, "\t\t%s\n", shellQuote(d.name+":"+d.does))
	}
	for _, o := range others {
		fmt.Fprintf(w, "\t\t%s\n", shellQuote(o.name+":"+o.does))
	}
	fmt.Fprintf(w, "\t)\n\tif ((CURRENT == 2)); then\n\t\t_describe command verbs\n\t\treturn\n\tfi\n\tlocal verb=$words[2]\n\tshift words\n\t((CURRENT--))\n\tcase $verb in\n\thelp) compadd %s ;;\n",
		strings.Join(append(verbs(list), helpNames()...), " "))
	plain := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`)
	for _, d := range list {
		fmt.Fprintf(w, "\t%s)\n\t\t_arguments", d.name)
		d.each(func(f *pflag.Flag, words []string) {
			value, usage := pflag.UnquoteUsage(f)
			for _, s := range spellings(f) {
				spec := s + "[" + plain.Replace(short(usage)) + "]"
				switch {
				case len(words) > 0:
					spec += ":" + value + ":(" + strings.Join(words, " ") + ")"
				case takesValue(f):
					spec += ":" + plain.Replace(cmp.Or(value, "value")) + ":_files"
				}
				fmt.Fprintf(w, " \\\n\t\t\t%s", shellQuote(spec))
			}
		})
		fmt.Fprint(w, " \\\n\t\t\t'*:file:_files'\n\t\t;;\n")
	}
	fmt.Fprint(w, "\tesac\n}\ncompdef _assay assay\n")
}

func fishCompletion(w io.Writer, list []described) {
	fmt.Fprint(w, "# Completion of assay in fish.\n")
	for _, d := range list {
		fmt.Fprintf(w, "complete -c assay -n __fish_use_subcommand -a %s -d %s\n", d.name, fishQuote(d.does))
	}
	for _, o := range others {
		fmt.Fprintf(w, "complete -c assay -n __fish_use_subcommand -a %s -d %s\n", o.name, fishQuote(o.does))
	}
	fmt.Fprintf(w, "complete -c assay -f -n '__fish_seen_subcommand_from help' -a %s\n", fishQuote(strings.Join(append(verbs(list), helpNames()...), " ")))
	for _, d := range list {
		d.each(func(f *pflag.Flag, words []string) {
			_, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(w, "complete -c assay -n '__fish_seen_subcommand_from %s' -l %s -d %s", d.name, f.Name, fishQuote(short(usage)))
			if f.Shorthand != "" {
				fmt.Fprintf(w, " -s %s", f.Shorthand)
			}
			switch {
			case len(words) > 0:
				fmt.Fprintf(w, " -x -a %s", fishQuote(strings.Join(words, " ")))
			case takesValue(f):
				fmt.Fprint(w, " -r")
			}
			fmt.Fprintln(w)
		})
	}
}

// short returns the first clause of a flag's text.
func short(usage string) string {
	end := strings.IndexAny(usage, ";(\n")
	if i := strings.Index(usage, ": "); i >= 0 && (end < 0 || i < end) {
		end = i
	}
	if end > 0 {
		usage = usage[:end]
	}
	return strings.TrimSpace(usage)
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// manPage writes the commands and their flags in the language of man.
func manPage(w io.Writer, list []described) {
	line := func(format string, args ...any) {
		text := strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(fmt.Sprintf(format, args...))
		if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
			text = `\&` + text
		}
		fmt.Fprintln(w, text)
	}
	fmt.Fprintf(w, ".TH ASSAY 1 \"\" \"assay %s\"\n.SH NAME\nassay \\- tell where the time of a GPU job went\n.SH SYNOPSIS\n.B assay\nCOMMAND [FLAG...] [INPUT...]\n", version())
	fmt.Fprint(w, ".SH DESCRIPTION\n")
	line("An input is a trace, profile, log, benchmark result or monitor: a file, a directory, a pattern, or - for standard input.")
	line("Files may be compressed (.gz, .zst).")
	line(`"assay help pages" lists the pages of the manual.`)
	for _, d := range list {
		fmt.Fprintf(w, ".SH ASSAY %s\n", strings.ToUpper(d.name))
		line("assay %s %s: %s.", d.name, d.args, d.does)
		d.each(func(f *pflag.Flag, _ []string) {
			value, usage := pflag.UnquoteUsage(f)
			fmt.Fprint(w, ".TP\n")
			names := spellings(f)
			slices.Reverse(names)
			line("%s", strings.TrimSpace(strings.Join(names, ", ")+" "+value))
			for text := range strings.Lines(usage) {
				line("%s", strings.TrimSpace(text))
			}
		})
		fmt.Fprint(w, ".PP\nExample:\n.nf\n")
		for text := range strings.Lines(d.example) {
			line("%s", strings.TrimRight(text, "\n"))
		}
		fmt.Fprint(w, ".fi\n")
	}
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	line("0: done. 1: a gate failed. 2: wrong usage. 3: an input could not be read or judged, or the result could not be written.")
}
