package forms

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/redact"
	"assay/logs"
)

// A markForm is one kind of line about the life of a program. Groups of its expression, which is matched from the
// anchor on unless line is set, are: step, first (the step that is next), s and ms (what it took), rank, node, path,
// class and why (appended to the class).
type markForm struct {
	kind, class string
	expr        string
	anchors     []string
	match       func() *regexp.Regexp // nil if the anchor is enough
	line        bool                  // match the whole line
	alone       bool                  // not in a line with values
	sample      string
}

func lineMark(kind, class string, anchors []string, expr, sample string) markForm {
	f := markForm{kind: kind, class: class, expr: expr, anchors: anchors, sample: sample}
	if expr != "" {
		f.match = lazyregexp.New(expr)
	}
	return f
}

// setupMark makes a form of a value, which follows a text, of what a program trains.
func setupMark(class string, anchors []string, before, sample string) markForm {
	return lineMark(logs.MarkSetup, class, anchors, before+`(?P<path>\d{1,3}(?:,\d{3})+|[\w/~.][^\s,'"\]})]*)`, sample)
}

// until limits a form to lines with a text after the value.
func (f markForm) until(text string) markForm {
	f.match = lazyregexp.New(f.expr + text)
	return f
}

// wholeLine makes a form that is matched from the beginning of the line, and only in lines without values.
func (f markForm) wholeLine() markForm {
	f.line, f.alone = true, true
	return f
}

// markForms are the lines about the life of a program: Megatron-LM, torchtitan, Transformers, DeepSpeed, Lightning and
// NeMo, SkyRL, veRL and NeMo RL; the launcher of PyTorch, Slurm, the kernel and the driver.
var markForms = []markForm{
	barForm(),

	lineMark(logs.MarkSaved, "", []string{"successfully saved checkpoint"},
		`^successfully saved checkpoint (?:at|from) iteration +(?P<step>\d+) to (?P<path>\S+)`,
		"  successfully saved checkpoint from iteration     500 to /ckpt/gpt [ t 1/8, p 1/1 ]"),
	lineMark(logs.MarkSaving, "", []string{"saving checkpoint at iteration"},
		`^saving checkpoint at iteration +(?P<step>\d+) to (?P<path>\S+)`,
		"saving checkpoint at iteration       5 to /ckpt/gpt in torch format"),
	lineMark(logs.MarkSaving, "", []string{"Saving the checkpoint"}, "",
		"[rank0]:[titan] 2026-05-08 20:20:21,953 - root - INFO - Saving the checkpoint (or staging if async is enabled)."),
	lineMark(logs.MarkSaved, "", []string{"Finished saving the checkpoint"}, `in (?P<s>[\d.]+) seconds`,
		"[rank0]:[titan] 2026-05-08 19:04:39,503 - root - INFO - Finished saving the checkpoint (or staging if async is enabled) in 15.90 seconds."),
	lineMark(logs.MarkSaved, "", []string{"Successfully saved checkpoint for"},
		`global_step_(?P<step>\d+) to: (?P<path>\S+)/global_step_`,
		"2026-01-02 03:04:05.678 | INFO | skyrl.trainer:save_checkpoints:1064 - Successfully saved checkpoint for global_step_234 to: /ckpts/run/global_step_234"),
	lineMark(logs.MarkSaving, "", []string{"Saving checkpoint for step "}, `^Saving checkpoint for step (?P<step>\d+)`,
		"Saving checkpoint for step 50..."),
	lineMark(logs.MarkSaving, "", []string{"Saving model checkpoint to "},
		`^Saving model checkpoint to (?P<path>\S+?)(?:/(?:tmp-)?checkpoint-(?P<step>\d+))?(?:\s|$)`,
		"[INFO|trainer.py:3503] 2024-11-05 01:02:03,456 >> Saving model checkpoint to /out/checkpoint-500"),
	lineMark(logs.MarkSaved, "", []string{"[Torch] Checkpoint "}, `Checkpoint global_step(?P<step>\d+) is ready`,
		"[2024-05-01 02:03:04,567] [INFO] [torch_checkpoint_engine.py:33:commit] [Torch] Checkpoint global_step500 is ready now!"),
	lineMark(logs.MarkSaving, "", []string{"local_global_step_folder: "}, `(?P<path>\S+)/global_step_(?P<step>\d+)`,
		"(TaskRunner pid=7) local_global_step_folder: /ckpts/exp/global_step_20"),
	lineMark(logs.MarkSaved, "", []string{"checkpoint save for step "}, `step (?P<step>\d+) .*finalized successfully`,
		"[NeMo I 2024-11-05 01:02:03 model_checkpoint:522] Async checkpoint save for step 100 (/results/step=100.ckpt) finalized successfully."),

	lineMark(logs.MarkLoaded, "", []string{"loading checkpoint from ", "successfully loaded checkpoint from "},
		`loaded? ?i?n?g? ?checkpoint from (?P<path>\S+).*? at iteration (?P<step>\d+)`,
		"  successfully loaded checkpoint from /ckpt/gpt [ t 1/8, p 1/1 ] at iteration 500"),
	lineMark(logs.MarkLoaded, "", []string{"Loading the checkpoint from "}, `from (?P<path>\S+)/step-(?P<step>\d+)`,
		"[rank0]:[titan] 2026-05-08 09:00:41,258 - root - INFO - Loading the checkpoint from outputs/checkpoint/step-500."),
	lineMark(logs.MarkBegins, "", []string{"Training starts at step "}, `^Training starts at step (?P<first>\d+)`,
		"[rank0]:[titan] 2026-05-08 09:00:51,258 - root - INFO - Training starts at step 8001"),
	lineMark(logs.MarkLoaded, "", []string{"Continuing training from global step "}, `global step (?P<step>\d+)`,
		"[INFO|trainer.py:2166] 2024-11-05 01:02:03,456 >>   Continuing training from global step 500"),
	lineMark(logs.MarkLoaded, "", []string{"[Torch] Loaded checkpoint from "}, `(?P<path>\S+)/global_step(?P<step>\d+)/`,
		"[2024-05-01 02:03:04,567] [INFO] [torch_checkpoint_engine.py:25:load] [Torch] Loaded checkpoint from /ckpt/global_step500/mp_rank_00_model_states.pt."),
	lineMark(logs.MarkLoaded, "", []string{"training from global_step"}, `^training from global_step[ :=]*(?P<step>\d+)`,
		"2026-01-02 03:04:05.678 | INFO | skyrl.trainer:load_checkpoints:90 - Resumed training from global_step 180"),
	lineMark(logs.MarkLoaded, "", []string{"Setting global step to "}, `^Setting global step to (?P<step>\d+)`,
		"(TaskRunner pid=7) Setting global step to 20"),
	lineMark(logs.MarkLoaded, "", []string{"Restored all states from the checkpoint", "Restoring states from the checkpoint"},
		`checkpoint (?:path )?at (?P<path>\S+?)(?:/[^/\s]*step=(?P<step>\d+)\S*)?(?:\s|$)`,
		"Restored all states from the checkpoint at /results/checkpoints/epoch=0-step=100.ckpt"),

	lineMark(logs.MarkEvaluating, "", []string{"***** Evaluating ", "***** Running Evaluation *****"}, "",
		"***** Evaluating perplexity, Epoch 1/16 *****"),
	lineMark(logs.MarkEvaluated, "", []string{"validation loss at iteration "}, `iteration (?P<step>\d+)`,
		" validation loss at iteration 500 | lm loss value: 2.5E+00 | lm loss PPL: 1.2E+01 | "),
	lineMark(logs.MarkEvaluated, "", []string{"'eval_runtime': "}, `^'eval_runtime': '?(?P<s>[\d.]+)`,
		"{'eval_loss': 1.25, 'eval_runtime': 12.5, 'eval_samples_per_second': 80.0, 'epoch': 0.5}"),
	lineMark(logs.MarkEvaluated, "", []string{"validate step:"}, `^validate step: *(?P<step>\d+)`,
		"[rank0]:[titan] 2026-05-08 09:10:51,258 - root - INFO - validate step:  100  loss:  7.12"),
	lineMark(logs.MarkEvaluated, "", []string{"Total validation time"}, `^Total validation time: (?P<s>[\d.]+)s`,
		"  • Total validation time: 12.50s"),
	lineMark(logs.MarkCompiled, "", []string{"torch.compile takes "}, `^torch.compile takes (?P<s>[\d.]+) s`,
		"INFO 06-11 04:30:29 [monitor.py:34] torch.compile takes 30.50 s in total"),
	lineMark(logs.MarkCompiled, "", []string{"Graph capturing finished in "}, `^Graph capturing finished in (?P<s>[\d.]+) sec`,
		"INFO 06-11 04:30:59 [gpu_model_runner.py:2105] Graph capturing finished in 20 secs, took 0.52 GiB"),
	lineMark(logs.MarkCompiled, "", []string{"Capture cuda graph end"}, `Time elapsed: (?P<s>[\d.]+) s`,
		"[2025-07-18 15:32:52 TP0] Capture cuda graph end. Time elapsed: 12.25 s. mem usage=1.50 GB."),
	lineMark(logs.MarkLaunched, "", []string{"using world size: "}, `^using world size: \d+`,
		"using world size: 8, data-parallel size: 8, context-parallel size: 1, tensor-model-parallel size: 1"),
	lineMark(logs.MarkLaunched, "", []string{"Starting job: "}, "", "[rank0]:[titan] 2026-05-08 09:00:41,258 - root - INFO - Starting job: Llama 3 8B training"),
	lineMark(logs.MarkLaunched, "", []string{"Setting OMP_NUM_THREADS environment variable for each process"}, "",
		"W0508 09:00:31.000000 4711 torch/distributed/run.py:766] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default"),
	lineMark(logs.MarkLaunched, "", []string{"Restarting worker group", "restarting worker group"}, "",
		"I0508 09:00:31.000000 4711 torch/distributed/elastic/agent/server/api.py:733] [default] Restarting worker group"),
	lineMark(logs.MarkLaunched, "", []string{"[runner.py:"}, `^\[runner\.py:\d+:main\] cmd = `,
		"[2024-05-01 02:03:04,567] [INFO] [runner.py:568:main] cmd = /usr/bin/python -u -m deepspeed.launcher.launch train.py"),
	lineMark(logs.MarkLaunched, "", []string{"Distributed environment: "}, `^Distributed environment: \w`,
		"01/02/2026 03:04:05 - INFO - __main__ - Distributed environment: MULTI_GPU  Backend: nccl"),
	lineMark(logs.MarkLaunched, "", []string{"distributed training: True"}, `^distributed training: True`,
		"01/02/2026 03:04:05 - WARNING - __main__ - Process rank: 0, device: cuda:0, n_gpu: 1, distributed training: True, 16-bits training: False"),
	lineMark(logs.MarkLaunched, "", []string{"Started a local Ray instance"}, "", "2026-01-02 03:04:05,678	INFO worker.py:1841 -- Started a local Ray instance."),

	setupMark(logs.SetupOutput, []string{" save ....."}, `^ save \.+ `, "  save ............................................ /ckpt/gpt"),
	setupMark(logs.SetupData, []string{" data_path ....."}, `^ data_path \.+ \[?'?`, "  data_path ....................................... ['/data/pile_text_document']"),
	setupMark(logs.SetupSteps, []string{" train_iters ....."}, `^ train_iters \.+ `, "  train_iters ..................................... 1000"),
	setupMark(logs.SetupModel, []string{" num_layers ....."}, `^ num_layers \.+ `, "  num_layers ...................................... 64"),
	setupMark(logs.SetupModel, []string{"- Building "}, `^- Building (?:\w+ )?`, "[rank0]:[titan] 2026-05-08 09:00:48,512 - root - INFO - Building llama3 8B with TransformerModelArgs(dim=4096)").until(` with `),
	setupMark(logs.SetupData, []string{"- Preparing "}, `^- Preparing `, "[rank0]:[titan] 2026-05-08 09:00:44,693 - root - INFO - Preparing c4 dataset from allenai/c4").until(` dataset from `),
	setupMark(logs.SetupSteps, []string{"Total optimization steps = "}, `^Total optimization steps = `, "  Total optimization steps = 1,500"),
	setupMark(logs.SetupData, []string{"Num examples = "}, `^Num examples = `, "  Num examples = 24,000"),
	setupMark(logs.SetupOutput, []string{"output_dir=", "--output_dir ", "--output-dir ", "--save ", "--save-dir ", "default_local_dir=", "'default_local_dir': ", "ckpt_path="},
		`^['-]*\w[\w-]*(?:=| |': )['"]?`, "python train.py --output_dir /out/sft"),
	setupMark(logs.SetupData, []string{"--data-path ", "--data_path ", "--dataset_name ", "--dataset ", "train_files=", "'train_files': "},
		`^['-]*\w[\w-]*(?:=| |': )['"]?`, "python train.py --dataset_name tatsu-lab/alpaca"),
	setupMark(logs.SetupModel, []string{"--model_name_or_path ", "--model-name-or-path ", "model_name_or_path="},
		`^['-]*\w[\w-]*(?:=| |': )['"]?`, "python train.py --model_name_or_path meta-llama/Llama-3-8B"),

	lineMark(logs.MarkBegins, "", []string{"***** Running training *****"}, "", "***** Running training *****"),
	lineMark(logs.MarkBegins, "", []string{"[before the start of training step]"}, "",
		"[before the start of training step] datetime: 2021-05-27 21:02:36"),

	lineMark(logs.MarkFinished, "", []string{"[after training is done]"}, "", "[after training is done] datetime: 2025-11-14 15:04:46"),
	lineMark(logs.MarkFinished, "", []string{"Training completed"}, `^Training completed(?:\.| |$)`,
		"[rank0]:[titan] 2026-05-08 20:20:39,794 - root - INFO - Training completed"),
	lineMark(logs.MarkFinished, "", []string{"'train_runtime': "}, `^'train_runtime': '?(?P<s>[\d.]+)`,
		"{'train_runtime': 187.9766, 'train_samples_per_second': 79.797, 'train_loss': 0.28, 'epoch': 3.0}"),
	lineMark(logs.MarkFinished, "", []string{"`Trainer.fit` stopped: `"}, "stopped: `max_(?:epochs|steps)", "`Trainer.fit` stopped: `max_steps=1000` reached."),

	lineMark(logs.MarkStopped, "", []string{" CANCELLED AT "}, `DUE TO (?P<class>[A-Z ]+[A-Z])`,
		"slurmstepd: error: *** JOB 1999618 ON r6i4n5 CANCELLED AT 2021-05-27T21:52:36 DUE TO TIME LIMIT ***"),
	lineMark(logs.MarkStopped, "cancelled", []string{" CANCELLED AT "}, `^ CANCELLED AT \S+ \*\*\*`,
		"slurmstepd: error: *** JOB 1999618 ON r6i4n5 CANCELLED AT 2021-05-27T21:52:36 ***"),
	lineMark(logs.MarkStopped, "planned exit", []string{"exiting program a"}, `^exiting program a(?:t iteration +(?P<step>\d+)|fter)`,
		"exiting program at iteration      500"),

	lineMark(logs.MarkFailed, "GPU out of memory", []string{"out of memory. Tried to allocate", "CUDA error: out of memory", "HIP error: out of memory"}, "",
		"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 2 has a total capacity of 80.00 GiB"),
	lineMark(logs.MarkFailed, "CUDA initialization", []string{"No CUDA GPUs are available", "CUDA driver initialization failed", "CUDA unknown error - this may be",
		"The NVIDIA driver on your system is too old"}, "", "[rank3]: RuntimeError: No CUDA GPUs are available"),
	lineMark(logs.MarkFailed, "host out of memory", []string{"Out of memory: Killed process "}, `^Out of memory: Killed process \d+ \((?:python|pt_|ray|torch|deepspeed|accelerate|vllm|sglang|VLLM|train)`,
		"[88.1] Out of memory: Killed process 4711 (python3.11) total-vm:912kB"),
	lineMark(logs.MarkFailed, "host out of memory", []string{"oom-kill event", "oom_kill event"}, "",
		"slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the step tasks have been OOM Killed."),
	lineMark(logs.MarkFailed, "Xid", []string{"NVRM: Xid ("}, `\): (?P<why>\d+),`, "[12345.678901] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."),
	lineMark(logs.MarkFailed, "GPU error", []string{"CUDA error: ", "HIP error: "}, `error: (?P<why>uncorrectable ECC error|an illegal memory access|device-side assert|unspecified launch failure|[a-z][a-z -]{3,60})`,
		"[rank5]: RuntimeError: CUDA error: uncorrectable ECC error encountered"),
	lineMark(logs.MarkFailed, "segmentation fault", []string{"Segmentation fault", "(SIGSEGV)"}, "", "  traceback : Signal 11 (SIGSEGV) received by PID 2638772"),
	lineMark(logs.MarkFailed, "disk full", []string{"No space left on device"}, "", "OSError: [Errno 28] No space left on device"),
	lineMark(logs.MarkRaised, "", []string{"Error: ", "Exception: "},
		`^(?:[^"'{]{0,120}[\]:>)] ?)?(?:[a-z_]\w*\.)*(?P<class>[A-Z]\w*(?:Error|Exception)): `,
		"[rank3]: ValueError: the loader has no shard 17").wholeLine(),

	lineMark(logs.MarkFollowed, "collective timeout", []string{"Watchdog caught collective operation timeout"}, `ran for (?P<ms>\d+) milliseconds`,
		"[rank3]:[E1125 03:31:45.913700292 ProcessGroupNCCL.cpp:688] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600029 milliseconds before timing out."),
	lineMark(logs.MarkFollowed, "rendezvous timeout", []string{"Timed out after ", "socket has timed out after ", "RendezvousTimeoutError", "wait timeout after "},
		`^(?:Timed out after \d+ seconds waiting for clients|socket has timed out after \d+ ?m?s|Rendezvous|wait timeout after \d+ ?ms, keys: )`,
		"[rank0]: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 7/8 clients joined."),
	lineMark(logs.MarkFollowed, "NCCL error", []string{"ncclRemoteError", "ncclSystemError", "ncclInternalError", "ncclUnhandledCudaError"}, "",
		"[rank1]: torch.distributed.DistBackendError: NCCL error in: /pytorch/ProcessGroupNCCL.cpp:3690, remote process exited or there was a network error, ncclRemoteError: A call failed possibly due to a network error"),
	lineMark(logs.MarkFollowed, "terminated", []string{"received SIGTERM", "(SIGTERM)", "after receiving SIGTERM"}, "", "Main process received SIGTERM, exiting"),
	lineMark(logs.MarkWhere, "root", []string{"Root Cause (first observed failure)"}, "", "Root Cause (first observed failure):"),
	lineMark(logs.MarkWhere, "", []string{"host      : "}, `^host      : (?P<node>\S+)`, "  host      : node-7.cluster"),
	lineMark(logs.MarkWhere, "", []string{"rank      : "}, `^rank      : (?P<rank>\d+) \(`, "  rank      : 3 (local_rank: 3)"),
	lineMark(logs.MarkWhere, "", []string{"exitcode  : "}, `^exitcode  : (?P<class>-?\d+)`, "  exitcode  : -9 (pid: 2638770)"),
}

// mark reads a line about the life of the program, whose anchor is at a position of the line.
func (r *Reader) mark(f *markForm, line []byte, at, start int) {
	if f.kind == markBar {
		r.bars.Add(line, at, int64(r.pos(start).Line))
		return
	}
	m := mark{Kind: f.kind, Class: f.class, Time: logs.NoTime, Seen: logs.NoTime, Step: logs.NoStep, NS: -1, Rank: -1}
	text := line[at:]
	if f.line {
		text = line
	}
	text = redact.CutBytes(text, 1<<10)
	if (&logs.Mark{Kind: f.kind}).Fails() && handled(line, at) {
		return
	}
	if f.match != nil {
		re := f.match()
		found := re.FindSubmatch(text)
		if found == nil {
			return
		}
		for i, name := range re.SubexpNames() {
			if found[i] != nil {
				m.set(name, string(found[i]))
			}
		}
	}
	m.Line = int64(r.pos(start).Line)
	m.place(line[:at])
	if st, ok := findStamp(line[:min(len(line), 512)]); ok {
		m.Time = r.times.ns(st, r.kindBeside(st))
	}
	if m.Seen = m.Time; m.Time == logs.NoTime || f.kind == logs.MarkStopped {
		m.Seen = r.times.before(r.buf[:start], r.dropped, r.kind())
	}
	m.Text = string(bytes.TrimSpace(text))
	r.b.Mark(logs.Mark(m))
}

// kindBeside returns the kind of the times of records, or that of a time before all of them.
func (r *Reader) kindBeside(st stamp) int {
	if r.last.to > 0 {
		return kindOf(r.last)
	}
	return kindOf(st)
}

var (
	reInfo    = lazyregexp.New(`(?:^|[\s\[|])(?:INFO|DEBUG)(?:[\s\]|:]|$)`)
	reHandled = lazyregexp.New(`(?i)\b(?:retry(?:ing)?|was caught|caught,|- caught|ignor(?:ed|ing)|recovered from|handled)\b`)
)

// handled reports whether a line only mentions an error: it quotes it, has the level of information, or says that the
// program goes on.
func handled(line []byte, at int) bool {
	head := line[:at]
	quoted := bytes.Count(head, []byte{'"'})%2 == 1 || bytes.Count(head, []byte{'`'})%2 == 1
	return quoted || reInfo().Match(head[:min(len(head), maxPrefix)]) || reHandled().Match(line[:min(len(line), 1<<10)])
}

// A mark is a logs.Mark that is being read.
type mark logs.Mark

// set sets what a group of the expression of a form gives.
func (m *mark) set(name, text string) {
	number := func(unit float64) int64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v < 0 || v*unit > float64(maxPhase) {
			return -1
		}
		return int64(v * unit)
	}
	switch name {
	case "step":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			m.Step = n
		}
	case "first":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
			m.Step = n - 1
		}
	case "s":
		m.NS = number(1e9)
	case "ms":
		m.NS = number(1e6)
	case "rank":
		if n, err := strconv.Atoi(text); err == nil {
			m.Rank = n
		}
	case "node":
		m.Node = text
	case "path":
		m.Path = strings.TrimRight(text, "/.,")
	case "class":
		m.Class = text
		if text == strings.ToUpper(text) {
			m.Class = strings.ToLower(text) // "TIME LIMIT" of Slurm
		}
	case "why":
		m.Class += " " + strings.TrimSpace(text)
	}
}

// nodeOn finds the node in a message of Slurm.
var nodeOn = lazyregexp.New(` ON ([\w.-]+)$`)

// place reads the rank and the node from the text before the anchor.
func (m *mark) place(prefix []byte) {
	if found := nodeOn().FindSubmatch(prefix); found != nil {
		m.Node = string(found[1])
	}
	for _, l := range labelsOf(prefix[:min(len(prefix), maxPrefix)]) {
		switch l.Name {
		case "rank":
			if n, err := strconv.Atoi(l.Value); err == nil && m.Rank < 0 {
				m.Rank = n
			}
		case "host":
			if m.Node == "" {
				m.Node = l.Value
			}
		case "replica":
			if _, ip, ok := strings.Cut(l.Value, "@"); ok && m.Node == "" {
				m.Node = ip
			}
		}
	}
}
