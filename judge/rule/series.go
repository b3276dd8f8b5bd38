package rule

// The rules on logs, in their order of precedence. Phases and steps of logs are judged by the rules
// on phases and steps too.
const (
	Hang                = "hang"
	NotFinite           = "values-not-finite"
	KVCacheFull         = "kv-cache-full"
	RequestsQueued      = "requests-queued"
	PrefillStalls       = "prefill-stalls-decode"
	TransferWaits       = "kv-transfer-waits"
	EagerDecode         = "eager-decode"
	LoggedCommunication = "logged-communication"
	EvaluationShare     = "evaluation-share"
	LogProbsShare       = "log-probs-share"
	OutsidePhases       = "time-outside-phases"
	StalledSteps        = "time-between-steps"
	SlowerOverTime      = "slower-over-time"
	Restarts            = "restarts"
	UnevenReplicas      = "uneven-replicas"
	UnderLoaded         = "under-loaded"
	LowMFU              = "low-mfu"
	LowCacheHits        = "low-cache-hits"
	SlowFirstToken      = "slow-first-token"
	SlowNextToken       = "slow-next-token"
	WithoutGPUDirect    = "without-gpudirect"
	ThroughputSaturated = "throughput-saturated"
	LowGPUUse           = "low-gpu-use"
	LowGPUUseInPhase    = "low-gpu-use-in-phase"
)
