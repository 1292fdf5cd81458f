package compare

import (
	"cmp"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The machine's form of a comparison. A figure that does not exist is null.
type (
	// Document is a Report for programs.
	Document struct {
		Schema    int      `json:"schema_version"`
		Warnings  []string `json:"warnings"` // the machines differ, or their load
		Base      sideJSON `json:"base"`
		New       sideJSON `json:"new"`
		Alpha     float64  `json:"alpha"`
		Threshold float64  `json:"threshold"`
		Tests     int      `json:"tests"`
		// Statuses are the cells whose trials ended otherwise.
		Statuses []StatusChange `json:"statuses_changed"`
		Rows     []rowJSON      `json:"rows"`
		Geomeans []geomeanJSON  `json:"geomeans"`
		Missing  []string       `json:"missing"`
		Extra    []string       `json:"extra"`
		Notes    []string       `json:"notes"`
		Failures []string       `json:"failures"`
		Prove    *float64       `json:"prove"` // the margin; null: nothing was to be proved
		Open     []string       `json:"inconclusive"`
		Passed   bool           `json:"passed"`
	}
	sideJSON struct {
		Path     string               `json:"path"`
		Name     string               `json:"name"`
		Trials   int                  `json:"trials"`
		Statuses map[trace.Status]int `json:"statuses"`
	}
	rowJSON struct {
		Design     map[string]string `json:"design"`
		Metric     string            `json:"metric"`
		Method     string            `json:"method"` // a Test; none: nothing to test
		Base       figureJSON        `json:"base"`
		New        figureJSON        `json:"new"`
		Change     *float64          `json:"change"`
		ChangeLow  *float64          `json:"change_low"`
		ChangeHigh *float64          `json:"change_high"`
		Delta      *float64          `json:"cliffs_delta"`
		P          *float64          `json:"p"`
		Adjusted   *float64          `json:"p_adjusted"`
		Pairs      int               `json:"pairs,omitempty"`
		Differing  int               `json:"differing,omitempty"`
		Lost       int               `json:"lost,omitempty"`   // of these, the new run has no value
		Found      int               `json:"found,omitempty"`  // the base has none
		Paired     *pairedJSON       `json:"paired,omitempty"` // where method is pairs, or round pairs
		Verdict    Verdict           `json:"verdict"`
		Failed     bool              `json:"failed"`
		Proof      Outcome           `json:"proof,omitempty"`
		Needs      int               `json:"needs,omitempty"`      // trials, or rounds, on each side
		Machines   []machineJSON     `json:"machines,omitempty"`   // of several: the change on each
		Uneven     *float64          `json:"p_machines,omitempty"` // that it is one on all; corrected
	}
	machineJSON struct {
		Host   string   `json:"host"`
		Base   int      `json:"n_base"` // trials, or rounds; of pairs the same
		New    int      `json:"n_new"`
		Change *float64 `json:"change"`
		Low    *float64 `json:"change_low"`
		High   *float64 `json:"change_high"`
		P      *float64 `json:"p"` // not corrected
	}
	figureJSON struct {
		N        int      `json:"n"`
		Censored int      `json:"censored"`
		Center   *float64 `json:"center"` // median; of an exact comparison the mean
		Low      *float64 `json:"ci_low"`
		High     *float64 `json:"ci_high"`
		Doubt    float64  `json:"clock_doubt_ms,omitempty"` // what clocks can be wrong by, if that is more
	}
	pairedJSON struct {
		Shift     *float64 `json:"shift"` // in the metric's unit
		ShiftLow  *float64 `json:"shift_low"`
		ShiftHigh *float64 `json:"shift_high"`
		Tendency  float64  `json:"tendency"` // -1 to 1, by the ranks: all fall, all rise
		Exactly   bool     `json:"exactly"`  // all pairs differ by one amount or one factor
		Censored  int      `json:"censored"` // pairs of which the order alone is known
		Left      int      `json:"left_out"` // trials without a partner, and pairs that say nothing
		Says      string   `json:"says"`
	}
	geomeanJSON struct {
		Metric string  `json:"metric"`
		Cells  int     `json:"cells"`
		Change float64 `json:"change"`
	}
)

func (s *Side) json() sideJSON { return sideJSON{s.Path, s.Name, s.Trials, s.Statuses} }

// Document is the report in the machine's form.
func (r *Report) Document() Document {
	d := Document{
		Schema: 1, Warnings: nonNil(r.Warnings),
		Base: r.Base.json(), New: r.New.json(), Alpha: r.Alpha, Threshold: r.Threshold,
		Tests: r.Tests, Statuses: append([]StatusChange{}, r.Statuses...),
		Rows: []rowJSON{}, Geomeans: []geomeanJSON{}, Missing: nonNil(r.Missing),
		Extra: nonNil(r.Extra), Notes: nonNil(r.Notes), Failures: nonNil(r.Failures),
		Open: nonNil(r.Open), Passed: len(r.Failures)+len(r.Open) == 0,
	}
	if r.Prove > 0 {
		d.Prove = &r.Prove
	}
	finite := results.Finite
	for i := range r.Rows {
		row := &r.Rows[i]
		pairs, differing := row.pairs()
		d.Rows = append(d.Rows, rowJSON{
			Design: metric.ByName(row.Design), Metric: row.Metric,
			Method: string(cmp.Or(row.Test, "none")), Base: row.Base.json(),
			New: row.New.json(), Change: finite(row.Change), ChangeLow: finite(row.ChangeLow),
			ChangeHigh: finite(row.ChangeHigh), Delta: finite(row.Delta), P: finite(row.P),
			Adjusted: finite(row.Adjusted), Pairs: pairs, Differing: differing,
			Lost: row.Lost, Found: row.Found, Paired: row.Paired.json(),
			Verdict: row.Verdict, Failed: row.Failure != "",
			Proof: row.Proof.Outcome, Needs: row.Proof.Needs, Uneven: finite(row.Uneven),
			Machines: row.machinesJSON(),
		})
	}
	for _, g := range r.Geomeans {
		d.Geomeans = append(d.Geomeans, geomeanJSON(g))
	}
	return d
}

func (row *Row) machinesJSON() (out []machineJSON) {
	finite := results.Finite
	for _, c := range row.Machines {
		out = append(out, machineJSON{c.Host, c.Base, c.New, finite(c.Change), finite(c.Low), finite(c.High),
			finite(c.P)})
	}
	return out
}

// pairs are how many pairs were compared, and how many of them differ; none if none were.
func (row *Row) pairs() (all, differing int) {
	if p := row.Paired; p != nil {
		return p.N, p.N - p.Equal
	}
	return row.Pairs, row.Differing
}

func (p *Pairing) json() *pairedJSON {
	if p == nil {
		return nil
	}
	finite := results.Finite
	return &pairedJSON{finite(p.Shift), finite(p.ShiftLow), finite(p.ShiftHigh), p.Tendency,
		p.SameRatio || p.SameShift, p.Censored, p.Left, p.String()}
}

func (f Figure) json() figureJSON {
	finite := results.Finite
	return figureJSON{f.N, f.Censored, finite(f.Center), finite(f.Low), finite(f.High), f.Doubt}
}

func nonNil(list []string) []string { return append([]string{}, list...) }
