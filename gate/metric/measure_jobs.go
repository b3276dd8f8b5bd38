package metric

import (
	"errors"
	"fmt"
	"math"

	"assay/summary/view/goodput"
)

// jobMetrics returns the metrics of jobs over all their restarts. Of several jobs the longest counts.
func jobMetrics() []Metric {
	keys := []string{"job"}
	return []Metric{
		{Name: "job.goodput", Of: Time, Higher: true, Host: true, Keys: keys,
			Meaning: "time of the steps of a job that were not done again later", Per: "time from the first line of its logs to the last one",
			measure: ofJob(func(j *goodput.Job) (Value, error) {
				if j.WallNS == 0 {
					return Value{}, errNoLength
				}
				return ratio(j.Goodput(), j.WallNS), nil
			})},
		{Name: "job.failures", Unit: Count, Host: true, Rises: true, Sums: true, Keys: keys,
			Meaning: "number of starts of a job that failed, or that ended before the job was done",
			measure: ofJob(func(j *goodput.Job) (Value, error) { return whole(j.Failures), nil })},
		{Name: "job.between_failures", Unit: Time, Higher: true, Host: true, Keys: keys,
			Meaning: "time of a job without the time between its starts", Per: "number of failures",
			measure: ofJob(func(j *goodput.Job) (Value, error) {
				switch ran := j.RunNS(); {
				case ran <= 0:
					return Value{}, errNoLength
				case j.Failures == 0: // the next one comes later than now
					return Value{V: float64(ran), Most: math.Inf(1), Bounded: true, Note: "no failure"}, nil
				default:
					return whole(j.BetweenFailures()), nil
				}
			})},
	}
}

var errNoLength = errors.New("the records of steps have no times, so the length of the job is unknown")

// ofJob returns a function that measures the longest job.
func ofJob(f func(*goodput.Job) (Value, error)) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		var have []string
		for _, j := range goodput.Of(v.Summary) {
			if want := v.sel.Value("job"); want == "" || want == j.Name {
				return f(j)
			}
			have = append(have, j.Name)
		}
		if len(have) == 0 {
			return Value{}, errors.New("no log of a program that numbers its steps")
		}
		return Value{}, fmt.Errorf("no such job; there is %s", few(have))
	}
}
