package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"assay/analyze/classify"
	"assay/analyze/clocks"
	"assay/analyze/efficiency/floor"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/phase"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/outfile"
	"assay/internal/redact"
	"assay/logs/forms"
	"assay/summary"
	"assay/trace"
	"assay/trace/window"
)

// unpackedBudget limits, in bytes, the estimated uncompressed size of the inputs that are read in
// parallel. A trace takes about a seventh of its JSON in memory, so this is about 600 MB.
const unpackedBudget = 4 << 30

// reading reads the inputs of one command, several at a time, and keeps what they share.
type reading struct {
	e      env
	rules  *classify.Rules
	phases *phase.Rules
	forms  *forms.Set // nil for the built-in ones
	jobs   int        // inputs at a time; 0 means as many as there are cores
	paths  []string
	failed []error             // errors of arguments that name no input
	peaks  hardware.Catalog    // built-in peaks and those of the flags
	model  hardware.ModelFLOPs // from --model-flops, or zero
	floor  *floor.Settings     // from --model, or nil
	flags  *peakFlags          // the flags that peaks and model come from
	need   need
	needs  func() trace.Select // which parts of traces are read: need.reads unless the command replaces it

	temp       outfile.Registry // temporary files of all inputs
	exportTime time.Duration    // limit for exporting one report with nsys or ncu

	limits limits
	turn   sync.Mutex // locked by the only input that may grow while memory is scarce

	sampled bool // an input has samples of CPU code
	roles   bool // inputs may show several roles of a job
	places  partial.PathRules
	window  *window.Request // the part of each capture that is measured; nil for all
	choice  choice          // ranks, GPUs and streams that the flags select
	ranks   map[int]bool    // ranks that the inputs have; nil unless --rank is given
	clocks  clocks.Settings
	skipped []summary.LeftOutFile // files in directories that are not read

	save  bool            // partials are saved, which need the collectives even of a single input
	sums  bool            // rolled-up summaries are accepted
	alike map[string]bool // paths of files that may be copies of each other: see sameSize

	mu      sync.Mutex
	files   map[*ingest.File]bool // open files
	done    int64                 // stored bytes of the files that are closed
	used    int64                 // bytes of memory of the traces that are loaded
	kept    int64                 // bytes of memory of the results so far, estimated
	matched int64                 // bytes of memory of the collectives of partials

	secrets []summary.Issue // one for each input in which secrets were found
	saved   []string        // paths of summaries with rooflines
}

// all reads the inputs, several at a time, and calls use for each. It returns the errors of inputs
// that could not be read, in the order of the inputs.
func (r *reading) all(use func(i int, in *ingest.Input)) []error {
	stop := showProgress(r.e.stderr, r.paths, r.stored)
	defer stop()
	defer r.temp.Close()
	jobs := r.jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	slots := semaphore.NewWeighted(int64(jobs))
	budget := semaphore.NewWeighted(unpackedBudget)
	errs := make([]error, len(r.paths))
	log := newMessages(func(line string) { r.e.say("assay: %s", line) })
	var wg sync.WaitGroup
	for i, path := range r.paths {
		// Acquiring here, in order, prevents starvation of large inputs. Without a
		// deadline it cannot fail.
		weight := min(unpackedBudget, unpacked(path))
		slots.Acquire(context.Background(), 1)
		budget.Acquire(context.Background(), weight)
		wg.Go(func() {
			defer slots.Release(1)
			defer budget.Release(weight)
			defer log.end(i)
			errs[i] = r.one(path, func(line string) { log.line(i, line) }, func(in *ingest.Input) { use(i, in) })
		})
	}
	wg.Wait()
	failed := slices.Clone(r.failed)
	for _, err := range append(errs, r.absent()) {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// one reads one input and calls use. It reports long operations with say.
func (r *reading) one(path string, say func(string), use func(*ingest.Input)) error {
	if err := checkDevice(path); err != nil {
		return err
	}
	// Open blocks until the first bytes arrive. A pipe may never deliver any, so tell the user what assay waits for.
	late := time.AfterFunc(waitTime, func() { say("waiting for data from " + path) })
	open := ingest.OpenWithoutDigest
	if r.need.digest || r.alike[path] {
		open = ingest.Open
	}
	f, err := open(path, r.e.stdin)
	late.Stop()
	if err != nil {
		return err
	}
	defer f.Close()
	f.Temp, f.ExportTime, f.Forms = &r.temp, r.exportTime, r.forms
	f.Say = say
	r.opened(f)
	defer r.closed(f)
	need := r.needs()
	share := share{r: r}
	defer share.release()
	share.queue()
	need.Limits = r.limits.trace()
	need.Limits.Grown = share.grown
	if r.need.secrets {
		found := redact.NewScanner()
		f.Tap = found
		defer func() { r.noteSecrets(path, found.Count()) }()
	}
	in, err := ingest.Load(f, need)
	if err != nil {
		return err
	}
	if err := r.places.Apply(in); err != nil {
		return err
	}
	if _, _, err := r.places.Run(in); err != nil {
		return err
	}
	if !r.selects(in) {
		return nil
	}
	if in.Summary != nil && !r.sums && in.Summary.RolledUpInputs() > 0 {
		return fmt.Errorf("%s: the summary is rolled up: it has all rows of %d of its %d inputs, and sums of the others; give the traces, or a summary saved with --full", path, len(in.Summary.Inputs)-in.Summary.RolledUpInputs(), len(in.Summary.Inputs))
	}
	r.collectMore(in, &share)
	use(in)
	return nil
}

// manyInputs is the number of inputs above which the summaries take more memory than the inputs
// that are being read.
const manyInputs = 128

// muchMemory is the memory limit, in bytes, above which the heap may grow more between collections.
const muchMemory = 1 << 30

// waitTime is how long an input may deliver no data before a message says so.
const waitTime = 2 * time.Second

// checkDevice refuses character devices, because they may deliver no data or never end. The null
// device and standard input are allowed.
func checkDevice(path string) error {
	info, err := os.Stat(path)
	if path == ingest.Stdin || err != nil || info.Mode()&os.ModeCharDevice == 0 || path == os.DevNull {
		return nil
	}
	if in, err := os.Stdin.Stat(); err == nil && os.SameFile(in, info) {
		return nil
	}
	return fmt.Errorf("%s: this is a character device, not a capture; give a file or a pipe", path)
}

// noteSecrets records the number of secrets in an input.
func (r *reading) noteSecrets(path string, n int64) {
	if n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, secretsInCapture(path, n))
}

// share is the memory of one input.
type share struct {
	r     *reading
	bytes int64
	turn  bool // this input has locked reading.turn
}

// grown records how much memory the input's trace takes now. If all inputs together exceed the
// budget, only one input continues and the others wait, so that at least one is finished and can be
// freed.
func (s *share) grown(bytes int64) {
	s.r.mu.Lock()
	s.r.used += bytes - s.bytes
	s.bytes = bytes
	scarce := s.r.used > s.r.limits.memory.Together()
	s.r.mu.Unlock()
	if scarce && !s.turn {
		s.r.turn.Lock()
		s.turn = true
	}
}

// queue makes the inputs run one at a time when the results of earlier inputs already take much of
// the memory.
func (s *share) queue() {
	if s.r.keep(0) > s.r.limits.memory.Together() {
		s.r.turn.Lock()
		s.turn = true
	}
}

// keep records the memory of a result that is needed until all inputs are read, and returns the
// total in bytes.
func (r *reading) keep(bytes int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept += bytes
	return r.kept
}

func (s *share) release() {
	s.r.mu.Lock()
	s.r.used -= s.bytes
	s.r.mu.Unlock()
	if s.turn {
		s.r.turn.Unlock()
	}
}

func (r *reading) opened(f *ingest.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = make(map[*ingest.File]bool)
	}
	r.files[f] = true
}

// closed removes a file from the open files, so that its large buffers can be freed.
func (r *reading) closed(f *ingest.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.files, f)
	r.done += f.Stored()
}

// stored returns how many stored (compressed) bytes of all inputs were read so far.
func (r *reading) stored() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = r.done
	for f := range r.files {
		n += f.Stored()
	}
	return n
}

// unpacked estimates the uncompressed size of an input in bytes. Compression makes traces about 16
// times smaller. An input without a size, for example a pipe, counts as half of the budget.
func unpacked(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return unpackedBudget / 2
	}
	if strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".zst") {
		return 16 * info.Size()
	}
	return info.Size()
}

// collectMore sets how much the heap may grow before the next garbage collection, for measuring an
// input that was just read. Reading a trace makes hardly any garbage, but measuring it does, and
// the usual percentage of a large heap would be a lot of memory. So growth is limited to about 16
// MB, but never below 8%.
//
// A profile or table is mostly names, which take long to scan, and has its own memory limit: there
// Go's default of 100% is right. With many inputs every collection scans the summaries of all of
// them, so with enough memory the limit is doubled to have half as many collections.
func (r *reading) collectMore(in *ingest.Input, s *share) {
	if os.Getenv("GOGC") != "" {
		return
	}
	if in.Profile != nil || in.Tables != nil {
		debug.SetGCPercent(100)
		return
	}
	slack := int64(16 << 20)
	if (len(r.paths) >= manyInputs || r.need.paths) && int64(r.limits.memory) >= muchMemory {
		slack *= 2
	}
	debug.SetGCPercent(int(min(usualGC, max(8, slack*100/max(1, r.heap(in, s))))))
}

// heap returns the size of the heap in bytes after an input was read. For a single trace it is an
// estimate, because runtime.ReadMemStats empties the caches of the allocator, which costs 1% of the
// time of a trace of 20 MB, and setting up package runtime/metrics takes longer than a small
// program takes to start.
func (r *reading) heap(in *ingest.Input, s *share) int64 {
	const buffers = 8 << 20 // memory of the reader's buffers
	if bytes := s.size(); len(r.paths) == 1 && in.Trace != nil && bytes > 0 {
		if bytes < buffers/32 {
			return 1 // a small trace has smaller buffers; any small value gives the largest percentage
		}
		return bytes + buffers
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// size returns the memory of the input's trace in bytes, or 0 if it is unknown.
func (s *share) size() int64 {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	return s.bytes
}
