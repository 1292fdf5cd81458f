package timeservice

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// readPTP asks the ptp4l of this machine.
func readPTP(ctx context.Context) (promise, error) {
	text, err := output(ctx, "pmc", "-u", "-b", "0", "GET TIME_STATUS_NP", "GET CURRENT_DATA_SET",
		"GET PORT_PROPERTIES_NP")
	if err != nil {
		return promise{}, err
	}
	now := clock.ReadPair(clock.Wall)
	p, age, err := parsePTP(text, now.Wall)
	p.at = now.Monotonic - age
	return p, err
}

// mostSyncAge is how old the last message of a master may be: many send one a second.
const mostSyncAge = 5 * time.Second

// parsePTP reads what pmc says of a ptp4l at such an instant of the wall clock, and how old that is. The
// bound is the offset and the delay of the path, since the way there may take from none to all of it. It
// is one to the grandmaster, and holds where that is one hop away and the kernel gives the time stamps:
// then ptp4l compares the wall clock itself. What clocks farther up, and phc2sys, add is not known here.
func parsePTP(text string, wall time.Duration) (p promise, age time.Duration, err error) {
	of := map[string]string{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[1] == "seq":
			of["self"], _, _ = strings.Cut(words[0], "-")
		case len(words) == 2 && words[0] == "timestamping" && words[1] != "SOFTWARE":
			return p, 0, errors.New("ptp4l: the network card keeps the time, and not the wall clock")
		case len(words) == 2:
			of[words[0]] = words[1]
		}
	}
	number := func(field string) float64 {
		v, wrong := strconv.ParseFloat(of[field], 64)
		err = errors.Join(err, wrong)
		return v
	}
	offset, ingress := number("master_offset"), number("ingress_time")
	hops, delay := number("stepsRemoved"), number("meanPathDelay")
	if err != nil {
		return p, 0, err
	}
	p = promise{reference: "PTP " + of["gmIdentity"], drift: unsteered}
	switch {
	case of["gmPresent"] == "false" && of["portState"] == "MASTER" && of["gmIdentity"] == of["self"]:
		return p, 0, nil // this wall clock is the reference
	case of["gmPresent"] != "true" || of["timestamping"] == "" || hops != 1 || delay <= 0:
		return p, 0, errors.New("ptp4l has no grandmaster one hop away")
	}
	if age = wall - time.Duration(ingress); age < 0 || age > mostSyncAge {
		return p, 0, errors.New("ptp4l has not heard of its grandmaster for a while")
	}
	p.within = time.Duration(max(offset, -offset) + delay)
	return p, age, nil
}
