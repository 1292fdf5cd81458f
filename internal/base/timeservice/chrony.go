package timeservice

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// readChrony asks chronyd.
func readChrony(ctx context.Context) (promise, error) {
	at := clock.Monotonic()
	text, err := output(ctx, "chronyc", "-n", "-c", "tracking")
	if err != nil {
		return promise{}, err
	}
	p, err := parseChrony(text)
	p.at = at
	return p, err
}

// The fields of "chronyc -c tracking" that count; see chronyc(1).
const (
	chronyReference = 0
	chronyStratum   = 2
	chronyOffset    = 4 // of the system clock, in s, as are the delay and the dispersion
	chronyResidual  = 8 // ppm, as is the skew
	chronySkew      = 9
	chronyDelay     = 10
	chronyDispersed = 11
	chronyLeap      = 13
	chronyFields    = 14
)

// chronyItself is the reference of a chronyd that has none and serves its own clock.
const chronyItself = "7F7F0101"

// parseChrony reads "chronyc -c tracking". The bound is that of RFC 5905: the offset, what the path to the
// reference clock may have added, and half of how long it is. It grows as chronyd lets its dispersion grow:
// by the skew, the residual frequency, and 1 ppm, which is the default of maxclockerror.
func parseChrony(text string) (p promise, err error) {
	words := strings.Split(strings.TrimSpace(text), ",")
	if len(words) != chronyFields {
		return p, fmt.Errorf("chronyc has %d fields, expected %d", len(words), chronyFields)
	}
	number := func(field int) float64 {
		v, wrong := strconv.ParseFloat(words[field], 64)
		err = errors.Join(err, wrong)
		return max(v, -v)
	}
	stratum := number(chronyStratum)
	seconds := number(chronyOffset) + number(chronyDispersed) + number(chronyDelay)/2
	ppm := number(chronySkew) + number(chronyResidual) + 1
	if err != nil {
		return p, err
	}
	switch words[chronyLeap] {
	case "Normal", "Insert second", "Delete second":
	default:
		return p, errors.New("chronyd: " + words[chronyLeap])
	}
	if stratum < 1 || stratum > 15 || words[chronyReference] == chronyItself {
		return p, errors.New("chronyd has no reference")
	}
	return promise{reference: UTC, within: time.Duration(seconds * 1e9), drift: ppm * 1e-6}, nil
}
