# Most of this runs on a machine that has only Go and make; what wants more says so.

.PHONY: release test long damage race lint update fuzz bench bench-peers bench-logs hostile invariants instructions instructions-record cover accept beam web pgo facts random forms-check

test:   ; go test ./...
# The tests that are skipped or smaller without ASSAY_LONG, at full size: many inputs, full
# memory, noise, limits on time, and those that compile. All tests of their packages run.
LONG = $(shell grep -rlE 'test[.](Long|Every)' --include='*_test.go' . | grep -v assay-beam | xargs -n1 dirname | sort -u)
# Those that watch the memory of a process want the cores for themselves.
MEMORY_TESTS = TestCommandsStayWithinMemory|TestManyInputs
# The slowest of cmd/assay that is the same at any size.
SAME_TESTS = ^TestScript$$
long:   ; ASSAY_LONG=1 go test -timeout 30m -skip '$(MEMORY_TESTS)|$(SAME_TESTS)' $(LONG)
	ASSAY_LONG=1 go test -timeout 30m -run '$(MEMORY_TESTS)' ./cmd/assay
# The tests with random inputs, with new ones each time.
random: ; ASSAY_SEED=new go test -count 20 -timeout 1h $(shell grep -rlF 'test.Seed(' --include='*_test.go' . | xargs -n1 dirname | sort -u) -run 'TestNoSecret|TestNoField|TestNoFlag|TestFormats|TestStreamAgrees|TestCut'
race:   ; go test -race ./...
lint:   ; @test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
update: ; go test ./judge/rule -run TestBuiltInSource -update
	go test ./analyze/classify ./cmd/assay ./report ./internal/test/tracegen -update
# What a release has, of the commit that is checked out, in dist. Nothing is published. Lists of what archives
# consist of need the program syft. Later versions of goreleaser need a newer Go than go.mod names.
release: ; go run github.com/goreleaser/goreleaser/v2@v2.16.0 release --snapshot --clean $(if $(shell command -v syft),,--skip=sbom)
# The script and the style of the HTML report; fetches esbuild.
web:    ; cd internal/webbuild && go run . -web ../../report/web -o ../../report/page/assets
fuzz:   ; ./.ci/fuzz 30s
bench:  ; go test -run '^$$' -bench . ./...
# Bombs and other inputs that want too much, at full size, with peak memory beside the
# limit; MEMORY=8GiB is the default of the command and takes half an hour.
MEMORY ?= 256MiB
hostile: ; ASSAY_HOSTILE=$(MEMORY) go test ./cmd/assay -run 'TestHostile|TestManyInputs' -v -timeout 2h
# What holds for every verdict, over 1,000 random runs instead of a few.
# Captures with every kind of damage: no confident verdict may differ from that of the whole capture where
# the file holds evidence. Prints what no file could tell.
damage: ; ASSAY_LONG=1 go test ./judge -run TestDamage -v
invariants: ; ASSAY_STORIES=1000 go test ./judge -run 'TestFirstFindingAgrees|TestCausesAddUp|TestTenTimesSlower|TestBlind' -timeout 1h
# Whole processes: the summary beside its load, its JSON and its report, Python, jq and gzip; wants Python.
bench-peers: ; ./.ci/peers
# Reading of logs beside grep -c and a loop of Python over the same lines.
bench-logs: ; go test -run '^$$' -bench . ./logs/forms
	go test -run '^$$' -bench Text ./ingest
# The pipeline for clusters, a module of its own; downloads the SDK of Apache Beam.
beam: ; cd cmd/assay-beam && go vet ./... && ASSAY_LONG=1 go test ./...
# Counts of instructions, which other load does not change, beside those of
# .ci/instructions.tsv; and records them there. Wants valgrind.
instructions: ; ./.ci/instructions
instructions-record: ; ./.ci/instructions --record
# The profile that guides the compiler when it builds the command, of usual commands on
# generated traces, and on real ones where ASSAY_CORPUS names some.
pgo:    ; go test -pgo=off -run '^$$' -bench '^BenchmarkUsual$$' -benchtime 8x -cpuprofile cmd/assay/default.pgo -o /dev/null ./cmd/assay
# How large the module is: folders, packages, exported names, lines.
facts:  ; @go run .ci/facts.go
cover:  ; go test -cover ./...
# Keys that programs print and no form of logs knows, with the dates of their sources (logs/forms/sources.txt).
forms-check: ; @go test ./logs/forms -count=1 -run TestSources -v | sed -n 's/^ *sources_test.go:[0-9]*: //p'
# Compares every trace of a corpus with a slow and exact reading of it.
accept: ; go build -o assay ./cmd/assay && python3 $${ASSAY_CORPUS:-../shared/corpus}/../accept/check.py ./assay $${ASSAY_CORPUS:-../shared/corpus}/kineto
