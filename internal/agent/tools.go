package agent

// A tool is one command line of assay, with the arguments that a client may give.
type tool struct {
	name, title string
	does        []string // sentences for the model: what it answers, and when to use it
	command     []string
	arguments   []argument
	document    string   // the name of the JSON document, whose fields may be chosen
	fields      []string // if the client chooses none; nil for all
	top         int      // rows of each list if the client does not say
	needs       []string // one of these arguments must be given
	plain       bool     // the command measures nothing, and takes none of the usual flags
	noLinks     bool     // folders with links that lead out are refused: the command opens more of them than inputs
}

// A kind says what values an argument takes and what becomes of it.
type kind int

const (
	text    kind = iota // --flag=value
	texts               // --flag=a,b
	each                // --flag=a --flag=b
	number              // --flag=3
	yes                 // --flag
	file                // a path within the folders, an input
	files               // paths within the folders, inputs
	flagged             // paths within the folders, each with the flag
	choice              // a word of a list that the program gives, or a path within the folders, with the flag
	changes             // of a forecast: "host=2x" becomes --host=2x
	names               // names without a flag, of rules and codes
	fields              // these choose what is printed, and are no flags of the command
	find
	top
	skip
	bytes
)

type argument struct {
	name, does string
	kind       kind
	flag       string // if it is not the name
	required   bool
}

var (
	path = argument{name: "path", kind: files, required: true,
		does: "file or folder, relative to the folder of the server; a list for several files of one run, such as ranks"}
	part = []argument{
		{name: "step", kind: text, does: "only these steps: 3 or 3-5"},
		{name: "phase", kind: text, does: "only the longest run of this phase"},
		{name: "steady", kind: yes, does: "without warm-up steps"},
		{name: "from", kind: text, does: "from this time of the capture on: 1.2s"},
		{name: "to", kind: text, does: "up to this time"},
		{name: "rank", kind: text, does: "only these ranks: 0,3,5-7"},
	}
	excerptArguments = []argument{
		{name: "fields", kind: fields, does: "members of the JSON to print, such as verdict or kernels.name; a wrong name is answered with near ones"},
		{name: "top", kind: top, does: "rows of each list"},
		{name: "skip", kind: skip, does: "rows of each list to leave out first"},
		{name: "max_bytes", kind: bytes, does: "limit of the answer; 20000 if not given, at most 200000"},
	}
	findArgument = argument{name: "find", kind: find, does: "only rows that have this text, in upper or lower case; or a row_id"}
)

func with(lists ...[]argument) (out []argument) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// tools are in the order in which a client lists them: the first question comes first.
var tools = []tool{
	{
		name: "summarize", title: "Summarize a run", document: "summary", command: []string{"summary"}, top: 8,
		does: []string{
			"What limits this run, and what to do first.",
			"Answers with the verdict, the findings with savings and next steps, the time budget of each GPU," +
				" the layers of the model, how near the GPUs are to their peaks, and problems of the capture.",
			"Layers whose time is odd have their numbers in odd: call inspect for them.",
			"Use it first for any file.",
			"If the answer has verdict.abstained, name no cause: give its reason instead.",
		},
		fields: []string{"verdict", "findings.rule", "findings.level", "findings.title", "findings.cause", "findings.confidence", "findings.gain_ns", "findings.gain_of_ns", "findings.gain_basis", "findings.next",
			"inputs.path", "inputs.format", "inputs.rank", "inputs.complete", "devices.rank", "devices.device", "devices.name", "devices.window_ns", "devices.budget",
			"layers.kind", "layers.pass", "layers.rank", "layers.device", "layers.step", "layers.count", "layers.median_ns", "layers.odd", "layers.confidence",
			"efficiency.total", "efficiency.devices.rank", "efficiency.devices.device", "efficiency.devices.gpu_ns", "efficiency.devices.mfu", "efficiency.devices.roofline_ns", "efficiency.devices.recoverable_ns",
			"efficiency.decode.rank", "efficiency.decode.name", "efficiency.decode.share", "efficiency.decode.floor_ns", "efficiency.decode.wall_ns",
			"efficiency.savings.kind", "efficiency.savings.names", "efficiency.savings.count", "efficiency.savings.gain_ns", "issues.code", "issues.severity", "issues.count"},
		arguments: with([]argument{path}, part, []argument{findArgument}, excerptArguments),
	},
	{
		name: "findings", title: "Findings with evidence", document: "summary", command: []string{"summary"}, top: 10,
		does: []string{
			"Details of each finding: numerator and denominator, limits, evidence, places and sources of the advice.",
			"The member tree shows which findings contain others.",
			"Use it after summarize, for the evidence of one finding: give its row_id or rule as find.",
		},
		fields:    []string{"verdict", "findings", "tree"},
		arguments: with([]argument{path}, part, []argument{findArgument}, excerptArguments),
	},
	{
		name: "explain", title: "Explain a rule, code or page", document: "explanation", command: []string{"explain", "--format=json"}, plain: true,
		does: []string{
			"Explains a rule (gpu-idle), an issue code (input-truncated) or a page of the manual (verdict, recording, json).",
			"Answers with definition, limits, sources, and remedies with their conditions.",
			"Reads no file. Without a name it lists all names.",
		},
		arguments: with([]argument{{name: "names", kind: names, does: "names of rules, issue codes or pages"}},
			[]argument{findArgument}, excerptArguments),
	},
	{
		name: "table", title: "Sums by any keys", document: "groups", command: []string{"summary"}, top: 20, needs: []string{"by", "where"},
		does: []string{
			"Adds up rows by keys, such as the time per kernel, operator or rank: largest first, with shares.",
			"Use it for any \"how much\" or \"which most\" question.",
			"Keys: kernel, category, class, launched_by, stream, rank, device; operator; module, layer; line, file, function;" +
				" call, kind; copy; annotation; pass; owner, state, cause (of idle time).",
		},
		arguments: with([]argument{path,
			{name: "by", kind: texts, does: "keys, such as [\"category\"] or [\"kernel\", \"rank\"]; \"idle:cause\" names the kind of rows if several have the key"},
			{name: "where", kind: texts, does: "only rows with KEY=VALUE, such as [\"category=gemm\"]; * matches any text"},
		}, part, []argument{findArgument}, excerptArguments),
	},
	{
		name: "inspect", title: "Single events", document: "inspection", command: []string{"inspect"}, needs: []string{"kernel", "op", "gap", "layer", "at"},
		does: []string{
			"Shows single events: the longest instances of a kernel or operator and the distribution of their lengths," +
				" or what happened in the Nth longest GPU gap, in a layer, or at a moment.",
			"With why, it shows what an operation waited for before it started.",
			"Give exactly one of kernel, op, gap, layer and at.",
		},
		arguments: with([]argument{path,
			{name: "kernel", kind: text, does: "part of a name of kernels or copies, or a pattern with *"},
			{name: "op", kind: text, does: "name of an operator or annotated range, or a pattern"},
			{name: "gap", kind: number, does: "1 is the longest gap"},
			{name: "layer", kind: number, does: "number of a layer of the model, from 0: its kernels beside those of the layer of median time"},
			{name: "at", kind: text, does: "time since the start of the capture (12.3ms), or ts:NUMBER of an event"},
			{name: "why", kind: yes, does: "with kernel or at: why it did not start earlier"},
			{name: "rows", kind: number, flag: "top", does: "rows of each table, 10 if it is not given"},
			{name: "rank", kind: text, does: "only these ranks: 0,3"},
			{name: "device", kind: number, does: "only the GPU of this number"},
			{name: "step", kind: text, does: "only these steps: 3 or 3-5"},
		}, []argument{findArgument}, excerptArguments),
	},
	{
		name: "whatif", title: "Forecast a change", document: "whatif", command: []string{"whatif"}, top: 20,
		does: []string{
			"Forecasts how long a step takes after a change, by the critical path of a typical step.",
			"Without changes it shows the path itself, and single changes by what they save.",
			"Use it before you promise a speed-up.",
			"A forecast with the verdict abstain has no number: do not make one up. One with bound is the best case.",
			"The operators and kernels on the path are in critical_paths, if fields names it.",
		},
		fields: []string{"change", "apart", "inputs", "critical_paths.rank", "critical_paths.step", "critical_paths.window_ns", "critical_paths.classes", "critical_paths.verdict", "critical_paths.reasons",
			"matched_collectives", "negotiations", "operations", "profiler", "forecasts", "sweep"},
		arguments: with([]argument{path,
			{name: "measured", kind: text, does: "the time of a step without the profiler, 16.4ms: forecasts are for that"},
			{name: "changes", kind: changes, does: "changes that are made together"},
			{name: "sweep", kind: yes, does: "also single changes, those that pay most first"},
			{name: "all", kind: yes, does: "every step, not a typical one only"},
			{name: "rank", kind: text, does: "only these ranks: 0,3"},
			{name: "step", kind: text, does: "only these steps: 3 or 3-5"},
		}, []argument{findArgument}, excerptArguments),
	},
	{
		name: "diff", title: "Compare two runs", document: "comparison", command: []string{"diff"}, top: 5,
		does: []string{
			"Shows what changed between two runs and where; deltas add up.",
			"The headline is the answer. Reasons say why the runs may not be comparable; an error says that they are not.",
			"Use it for \"did this change help\".",
			"With by, it shows the changes of sums by keys.",
		},
		arguments: with([]argument{
			{name: "base", kind: flagged, flag: "base", required: true, does: "the run before: a file, a folder, or a list with one per repeated run"},
			{name: "new", kind: flagged, flag: "new", required: true, does: "the run after, likewise"},
			{name: "by", kind: texts, does: "keys as of table"},
			{name: "where", kind: texts, does: "KEY=VALUE as of table"},
		}, part, []argument{findArgument}, excerptArguments),
	},
	{
		name: "check", title: "Check gates", document: "check", command: []string{"check"}, needs: []string{"baseline", "gates"}, noLinks: true,
		does: []string{
			"Checks whether a run keeps its targets, or is no worse than a baseline.",
			"Answers with one row per gate: value, limit, result (pass, fail, inconclusive) and why.",
			"Use it for yes-or-no questions about regressions. Several runs on both sides allow for noise.",
		},
		arguments: with([]argument{path,
			{name: "baseline", kind: flagged, does: "runs to compare with: files, folders, or a folder of assay accept"},
			{name: "gates", kind: choice, does: "a file of gates, or the name of a built-in guide"},
		}, part, []argument{findArgument}, excerptArguments),
	},
	{
		name: "history", title: "Metrics over many runs", document: "history", command: []string{"history"}, top: 10, noLinks: true,
		does: []string{
			"Follows metrics over many runs, such as nightly ones: at which run the level changed, how sure that is, and the cause by a comparison of the runs on both sides.",
			"The headline is the answer. Drifts move steadily; newest has metrics in which only the last runs stand out, which later runs must confirm.",
			"Use it for \"since when is it slower\", with a folder in which each file or folder is a run; for two runs use diff.",
		},
		fields: []string{"headline", "ordered_by", "runs.name", "runs.time", "changes", "drifts", "newest", "missing", "copies", "stable_from"},
		arguments: with([]argument{
			{name: "path", kind: files, required: true, does: "a folder whose files and folders are the runs, or a list of runs"},
			{name: "metric", kind: each, does: "metrics of gates to follow, such as [\"step.median\", \"kernels.total_per_step{category=gemm}\"]; those of the default gates if not given"},
		}, []argument{findArgument}, excerptArguments),
	},
	{
		name: "doctor", title: "What a capture can answer", document: "doctor", command: []string{"doctor"},
		does: []string{
			"Lists which questions this capture can and cannot answer, why, and how to record a better one.",
			"Use it when an answer is missing or withheld, or before you advise to record again.",
		},
		arguments: with([]argument{path, findArgument}, excerptArguments),
	},
	{
		name: "series", title: "Metrics of logs and monitors", document: "summary", command: []string{"summary"}, top: 25,
		does: []string{
			"Values over steps or time from logs, monitors and metrics pages.",
			"Answers with number, minimum, median, mean, maximum, first and last of each metric, with unit and direction.",
			"Use it for logs (tokens/s, step time, loss, KV cache, GPU utilization). The argument find selects by name.",
		},
		fields:    []string{"inputs.path", "inputs.format", "series.metric", "series.name", "series.producer", "series.unit", "series.better", "series.labels", "series.n", "series.min", "series.median", "series.mean", "series.max", "series.first", "series.last", "benchmarks"},
		arguments: with([]argument{path}, part, []argument{findArgument}, excerptArguments),
	},
	{
		name: "search_names", title: "Find names", document: "summary", command: []string{"summary"}, top: 10, needs: []string{"find"},
		does: []string{
			"Finds names that contain a text: kernels, operators, modules, source lines, annotations, calls, copies, metrics.",
			"Each name has its total.",
			"Use it to learn how something is called before table or inspect.",
		},
		arguments: with([]argument{path, {name: "find", kind: find, required: true, does: findArgument.does}}, part, excerptArguments),
	},
}
