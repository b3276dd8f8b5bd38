package logs

// A Setting is one value of the configuration that a program printed at its start.
type Setting struct {
	Producer string // the program whose setting it is: "veRL"
	Key      string // the program's name, with its path: "actor_rollout_ref.rollout.gpu_memory_utilization"
	Name     string // canonical, such as "engine.memory_share"
	Value    string // "0.4", "true", "auto"
	Line     int64  // where it was printed first
	Varies   bool   // it was printed with several values: of several engines, or of several starts
}

// Settings adds the settings of the input.
func (b *Builder) Settings(list []Setting) { b.log.Settings = list }
