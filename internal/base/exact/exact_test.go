package exact

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// functions are those of the package, and of package math.
var functions = []struct {
	name       string
	ours, math func(float64) float64
}{
	{"Exp", Exp, math.Exp}, {"Expm1", Expm1, math.Expm1}, {"Log", Log, math.Log}, {"Log1p", Log1p, math.Log1p},
	{"Erf", Erf, math.Erf}, {"Erfc", Erfc, math.Erfc}, {"Erfinv", Erfinv, math.Erfinv}, {"Erfcinv", Erfcinv, math.Erfcinv},
	{"Cbrt", Cbrt, math.Cbrt}, {"Sin", Sin, math.Sin}, {"Cos", Cos, math.Cos},
	{"Lgamma", first(Lgamma), first(math.Lgamma)},
	{"Pow", func(x float64) float64 { return Pow(math.Abs(x), 1.5*x) }, func(x float64) float64 { return math.Pow(math.Abs(x), 1.5*x) }},
}

func first(f func(float64) (float64, int)) func(float64) float64 {
	return func(x float64) float64 { y, _ := f(x); return y }
}

// arguments are of all sizes, with the odd ones, but for numbers below 2^-1022: of these, math.Log is wrong
// on amd64.
func arguments(yield func(float64) bool) {
	odd := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64,
		0x1p-1022, 709.7, 709.8, -708, -720, -745, -746, -1e9, 1e9}
	for _, x := range odd {
		if !yield(x) {
			return
		}
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		u := draw.Float64() - 0.5 // and no product that could be fused
		for _, x := range []float64{u + 0.5, math.Ldexp(u, 3), 1 + math.Ldexp(u, -8), math.Ldexp(u, 10),
			math.Ldexp(u, draw.IntN(600)-300)} {
			if !yield(x) {
				return
			}
		}
	}
}

// TestExact_Math: on amd64 all results are those of package math, so that what was computed with it stays as it is.
func TestExact_Math(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("package math differs on " + runtime.GOARCH)
	}
	for _, f := range functions {
		wrong := 0
		for x := range arguments {
			if got, want := f.ours(x), f.math(x); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				if wrong++; wrong <= 3 {
					t.Errorf("%s(%v) = %v, want %v", f.name, x, got, want)
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d differ", f.name, wrong)
		}
	}
}

// TestExact: the results are these on every platform.
func TestExact(t *testing.T) {
	t.Parallel()
	for _, f := range functions {
		sum := sha256.New()
		var b [8]byte
		for x := range arguments {
			y := f.ours(x)
			if math.IsNaN(y) {
				y = math.NaN()
			}
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(y))
			sum.Write(b[:])
		}
		if got := fmt.Sprintf("%x", sum.Sum(nil)[:8]); got != digests[f.name] {
			t.Errorf("%s: %s, want %s", f.name, got, digests[f.name])
		}
	}
}

// digests are of all results of a function.
var digests = map[string]string{
	"Exp":     "b48ba905cdc85cf6",
	"Expm1":   "e53df12153bbffab",
	"Log":     "c030d727d610074f",
	"Log1p":   "fe15cd9935c6b7e6",
	"Erf":     "a4e59875bf28b7f0",
	"Erfc":    "08882f889cc7910e",
	"Erfinv":  "84d0ce8e270b1a4a",
	"Erfcinv": "2f5bcb6305854ed5",
	"Cbrt":    "9a2688822475a7f8",
	"Sin":     "a3684d0df405c67c",
	"Cos":     "c1dfe2c22db97ba2",
	"Lgamma":  "31bb87ed44dff52a",
	"Pow":     "90c79187426b89b2",
}
