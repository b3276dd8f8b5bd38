// Package collective is the model of the communication of one rank: what each collective was, and when
// its kernel ran.
//
// One rank alone does not show how long a transfer took, because its kernel waits for the other ranks
// before data move. So every rank records its collectives here, and package analyze/ranks compares
// them.
//
// collective.go has the types and the conventions of nccl-tests: the size of a collective and its bus
// factor ([Bytes], [BusFactor]). op.go recognizes operations by name. file.go is the compact file
// format in which collectives of a partial are saved; a run of many ranks has millions of them.
package collective
