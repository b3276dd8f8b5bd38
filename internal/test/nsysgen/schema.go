package nsysgen

// columns has the columns of each table. Like the exporter, the package creates
// a table when it gets its first row.
var columns = map[string]string{
	"StringIds":        `id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL`,
	"META_DATA_EXPORT": `name TEXT NOT NULL, value TEXT`,
	"PROCESSES":        `globalPid INTEGER, pid INTEGER, name TEXT`,
	"MPI_RANKS":        `globalPid INTEGER, rank INTEGER NOT NULL`,
	"TARGET_INFO_GPU":  `id INTEGER NOT NULL, name TEXT, totalMemory INTEGER`,

	"TARGET_INFO_CUDA_DEVICE":        `gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL`,
	"TARGET_INFO_SESSION_START_TIME": `utcEpochNs INTEGER, utcTime TEXT, localTime TEXT, systemClockNs INTEGER`,

	"CUPTI_ACTIVITY_KIND_KERNEL": `
		start INTEGER NOT NULL, "end" INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
		greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
		demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,
		cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,
		gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,
		staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
		localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL,
		sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER,
		qmdBulkReleaseDone INTEGER, qmdPreexitDone INTEGER, qmdLastCtaDone INTEGER, graphId INTEGER,
		clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER, clusterSchedulingPolicy INTEGER,
		maxPotentialClusterSize INTEGER, maxActiveClusters INTEGER, sharedMemoryRequestedPercentage INTEGER,
		tensorSizeMinusOneElements TEXT NOT NULL`,
	"CUPTI_ACTIVITY_KIND_MEMCPY": `
		start INTEGER NOT NULL, "end" INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
		greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
		bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER,
		srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER,
		graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER`,
	"CUPTI_ACTIVITY_KIND_MEMSET": `
		start INTEGER NOT NULL, "end" INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
		greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
		value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER`,
	"CUPTI_ACTIVITY_KIND_RUNTIME": `
		start INTEGER NOT NULL, "end" INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
		correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER`,
	"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": `
		start INTEGER NOT NULL, "end" INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
		greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
		deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER`,
	"CUPTI_ACTIVITY_KIND_CUDA_EVENT": `
		timestamp INTEGER, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
		streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, eventId INTEGER NOT NULL, eventSyncId INTEGER`,
	"CUDA_GRAPH_NODE_EVENTS": `
		start INTEGER NOT NULL, "end" INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
		nameId INTEGER NOT NULL, graphNodeId INTEGER NOT NULL, originalGraphNodeId INTEGER`,
	"PROFILER_OVERHEAD": `
		start INTEGER NOT NULL, "end" INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL,
		overheadType INTEGER NOT NULL`,
	"NVTX_EVENTS": `
		start INTEGER NOT NULL, "end" INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
		color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
		uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER,
		floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT`,
}
