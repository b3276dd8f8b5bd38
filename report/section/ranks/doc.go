// Package ranks has the sections of a report that compare the ranks of one job: who waits for whom in
// collectives, and how long.
//
// It takes the rows of matched collectives ([summary.RankWait], [summary.Collective]). ranks.go has
// the tables of ranks and collectives, stages.go the stages of a pipeline with its bubble.
//
// analyze/ranks matches the collectives, judge/ranks has the findings. Waiting is a sum over GPUs;
// shares refer to the windows of the same GPUs.
package ranks
