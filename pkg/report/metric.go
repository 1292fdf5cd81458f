package report

import "strings"

// meanings say in a line what a metric is: from where to where. docs/results.md
// says it of all of them; a test compares the names.
var meanings = map[string]string{
	"detection_ms": "the cause to the first process that begins an election",
	"election_ms": "the first process begins to the last live connected one names the same " +
		"live leader",
	"downtime_ms":            "the cause, such as a crash, to agreement on a live leader",
	"messages_per_election":  "algorithm messages sent between cause and quiet",
	"bytes_per_election":     "their bytes",
	"message_delays":         "the longest chain of causally ordered messages",
	"leader_changes":         "changes of leader seen",
	"split_brain_ms":         "time with two or more live self-declared leaders",
	"availability":           "share of time in which a majority of live processes agrees on a live leader",
	"heal_ms":                "no link is cut any more to agreement of all live processes",
	"messages_per_entry":     "all algorithm messages per entry",
	"bytes_per_entry":        "their bytes",
	"waiting_ms":             "(intended) request to granted",
	"waiting_p99_ms":         "99th percentile of the waiting times of a trial",
	"turnaround_ms":          "request to release",
	"sync_delay_ms":          "release to the next grant, while someone waits",
	"throughput_per_s":       "entries per second of the trial",
	"fairness":               "Jain's index over entries per process; 1 is fair",
	"max_bypass":             "most grants to others that were asked for later",
	"violations":             "pairs of processes inside at once",
	"never_granted":          "requests of live processes that wait at the end",
	"arrival_rate_requested": "requests per second that open load asks for",
	"arrival_rate_achieved":  "requests per second that open load made",
	"tokens_lost":            "tokens lost on the way or with their holder",
	"tokens_doubled":         "tokens made while there was another",
	"recovery_ms":            "a crash or the loss of the token until all that waited then were granted",
	"crashes":                "crashes that happened",
	"pauses":                 "pauses that happened",
	"crash_rate_achieved":    "crashes per live process and second, while the rate allowed one",
	"outage_requested_ms":    "a crash to the return, as it was to be",
	"outage_achieved_ms":     "a crash to the return",
	"suspicion_ms":           "a crash to the first suspicion by a live process",
	"false_suspicions":       "suspicions of processes that are up and not paused",
	"faults_skipped":         "faults that were to happen and did not",
	"latency_requested_ms":   "mean of the distribution of the latency, over the messages sent",
	"latency_drawn_ms":       "mean latency that the network model drew for them",
	"order_delay_ms":         "mean by which order: fifo made them due later than that",
	"latency_achieved_ms":    "mean latency that messages had",
	"delay_error_p50_ms":     "how much later than due messages were handled, median",
	"delay_error_p99_ms":     "how much later than due messages were handled, 99th percentile",
	"loss_achieved":          "share of messages that the network model lost",
	"duration_ms":            "a trial, from its start to its end",
	"operations":             "elections or entries that were caused",
	"completed":              "elections or entries that came to their end",
	"messages":               "algorithm messages sent in a trial, also to crashed processes",
	"delivered":              "algorithm messages delivered",
	"lost":                   "algorithm messages lost",
	"duplicated":             "copies that the network made",
	"undeliverable":          "algorithm messages whose receiver was down",
	"bytes":                  "bytes of the algorithm messages sent, encoded",
	"detector_messages":      "messages of the failure detector",
	"late_share":             "share of messages delivered later than their latency",
	"sched_delay_p99_ms":     "how late the system woke a waiting probe, 99th percentile",
	"busy_share":             "share of the machine's processor time in use during the trial",
	"skew":                   "largest share of a reported time that is lateness of messages and timers",
	"steal_share":            "share of the machine's processor time that a hypervisor gave to others",
	"throttled_ms":           "time for which a quota kept processors from running, over all of them",
}

// unit is what a metric is measured in; its name says so.
func unit(name string) string {
	switch {
	case strings.HasSuffix(name, "_ms"):
		return "ms"
	case strings.HasSuffix(name, "_per_s"), strings.HasPrefix(name, "arrival_rate_"):
		return "1/s"
	case strings.HasSuffix(name, "_share"), name == "availability", name == "loss_achieved":
		return "share, 0 to 1"
	case name == "fairness":
		return "index, 0 to 1"
	case name == "crash_rate_achieved":
		return "1/s per process"
	case strings.HasPrefix(name, "bytes"):
		return "bytes"
	case strings.HasPrefix(name, "messages"), strings.HasSuffix(name, "_messages"):
		return "messages"
	}
	return "count"
}

func metricOf(name string) Metric {
	return Metric{Name: name, Unit: unit(name), Doc: meanings[name]}
}
