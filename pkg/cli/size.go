package cli

import (
	"math"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	drawing "github.com/conclave-bench/conclave/internal/answers/report/figure"
)

// sizeNames are the flags of sizeFlags.
var sizeNames = []string{"ymin", "ymax", "width", "height"}

// sizeFlags say how large a figure is, and what its vertical axis shows.
type sizeFlags struct{ yMin, yMax, width, height string }

// add adds the flags; of says whose figures they are about.
func (f *sizeFlags) add(flags *pflag.FlagSet, of string) {
	flags.StringVar(&f.yMin, "ymin", "", of+": begin the vertical axis at `VALUE`")
	flags.StringVar(&f.yMax, "ymax", "", of+": end the vertical axis at `VALUE`")
	flags.StringVar(&f.width, "width", "", of+": be `LENGTH` wide (default: 3.33in, a column)")
	flags.StringVar(&f.height, "height", "", of+": be `LENGTH` high (default: what looks well)")
}

// read checks the flags; so many metrics were asked for.
func (f *sizeFlags) read(o *drawing.Options, metrics int) (err error) {
	for _, end := range []struct {
		flag, text string
		to         **float64
	}{{"ymin", f.yMin, &o.YMin}, {"ymax", f.yMax, &o.YMax}} {
		if end.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(end.text, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return usage("--%s %s: expected a number, in the unit of the metric", end.flag, end.text)
		}
		if metrics != 1 {
			return usage("--%s is of one metric: name it, as --metrics availability", end.flag)
		}
		*end.to = &v
	}
	if o.YMin != nil && o.YMax != nil && *o.YMin >= *o.YMax {
		return usage("--ymin %s is not below --ymax %s", f.yMin, f.yMax)
	}
	if o.Width, err = chart.Length(f.width); err != nil {
		return usage("--width %s: %v", f.width, err)
	}
	if o.Height, err = chart.Length(f.height); err != nil {
		return usage("--height %s: %v", f.height, err)
	}
	return nil
}
