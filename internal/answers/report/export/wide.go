package export

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/chart"
	"github.com/conclave-bench/conclave/internal/answers/compare"
	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A column of the ACM's sigconf, in TeX's points: 84.7 mm, and what a table may take of its height, with
// room for a caption.
const (
	ColumnWidth  = 241
	ColumnHeight = 560
)

// The sizes of what stands in a table, in points, and the room between two columns.
const (
	figureSize   = 8
	intervalSize = 7
	leastApart   = 5.0
	mostApart    = 12.0
)

// A PaperTable is a metric of cells as a table that fits a column of a paper: algorithms beside each
// other and what varies below, or the other way round.
type PaperTable struct {
	Metric  *metric.Metric
	Tabular string // in braces that hold what it sets
	Caption string // what it shows, of how many trials, and how they were tested, in LaTeX
	Notes   string // what marks in it mean, likewise
	// Width and Height are about how large it is, in points, in Computer Modern; Fits says whether a
	// column of a paper takes it.
	Width, Height float64
	Fits          bool
}

// PaperTables are those of the metrics that the options select, or of the main ones.
func (r *Run) PaperTables(o Options) ([]PaperTable, error) {
	s, err := choose(r, &Format{Name: "latex"}, o)
	if err != nil {
		return nil, err
	}
	return s.paperTables(), nil
}

func (s *selection) paperTables() (out []PaperTable) {
	if len(s.cells) == 0 {
		return nil
	}
	for _, m := range s.metrics {
		w := newWide(s, m)
		wide, tall := w.width(), w.height()
		out = append(out, PaperTable{m, w.tabular(), w.caption(), w.notes(), wide, tall,
			wide <= ColumnWidth && tall <= ColumnHeight})
	}
	return out
}

// latex writes a table for each metric, for package booktabs. What floats around it is the author's;
// a caption is in the comment above it.
func latex(s *selection) ([]File, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%% %s\n%% Needs \\usepackage{booktabs}.\n%s", s.origin(), s.comments("%"))
	for _, t := range s.paperTables() {
		about := console.WrapTo(t.Caption+" "+t.Notes, 0, 90)
		fmt.Fprintf(&b, "\n%% %s\n%s", strings.ReplaceAll(about, "\n", "\n% "), t.Tabular)
		if !t.Fits {
			fmt.Fprintf(&b, "%% It is about %.0f pt wide and %.0f pt high; a column of the ACM's takes "+
				"%d and %d pt.\n", t.Width, t.Height, ColumnWidth, ColumnHeight)
		}
	}
	return []File{{Name: s.base() + ".tex", Data: b.Bytes()}}, nil
}

// A wide is the table of a metric while it is made.
type wide struct {
	s      *selection
	of     *metric.Metric
	method stats.Method // of the intervals
	cells  []wideCell
	heads  []string // columns of the design that are columns of the table
	across string   // whose values have a column each; "": there is one column of figures
	values []string // of across
	blocks int      // tables below each other, each with some of the values
	broken bool     // headings go on in further lines
	apart  float64  // room between columns, in points
	rows   [][]string

	bold, outside, partial, censored, exact bool // what has to be explained
	doubt                                   float64
}

// A wideCell is a figure as it stands in the table.
type wideCell struct {
	of            *results.Cell
	share         string // of the trials, if not all count
	figure, marks string
	interval      string // "": there is none, or it is no wider than the last digit
	bold          bool
	place         []string // its values in the columns of the table
}

func newWide(s *selection, m *metric.Metric) *wide {
	w := &wide{s: s, of: m, blocks: 1, apart: leastApart}
	summaries := make([]stats.Summary, len(s.cells))
	var figures [][3]float64
	for i, c := range s.cells {
		d := c.Describe(m.Name)
		summaries[i], w.method = d, d.Method
		figures = append(figures, [3]float64{d.Center(), d.CILow, d.CIHigh})
	}
	decimals := decimalsIn(figures, m)
	for i, c := range s.cells {
		w.cells = append(w.cells, w.cell(c, summaries, i, decimals))
	}
	w.arrange()
	// What is left of the width goes between the columns.
	gaps := len(w.heads) + (len(w.values)+w.blocks-1)/w.blocks - 1
	if room := ColumnWidth - w.width(); gaps > 0 && room > 0 {
		w.apart = min(w.apart+math.Floor(50*room/float64(gaps))/50, mostApart)
	}
	return w
}

// decimalsIn is how many decimals figures of a metric need, so that the median of them has three digits,
// or of counts two, and the smallest one, and no more than it takes to write all of them.
func decimalsIn(figures [][3]float64, m *metric.Metric) int {
	digits := 3
	if m.Kind.Exact() {
		digits = 2
	}
	var sizes []float64
	for _, f := range figures {
		if v := math.Abs(f[0]); v > 0 && !math.IsInf(v, 0) {
			sizes = append(sizes, v)
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	behind := func(v float64, digits int) int { return digits - 1 - int(math.Floor(math.Log10(v))) }
	most := min(max(behind(sizes[len(sizes)/2], digits), behind(sizes[0], 1), 0), 3)
	return min(most, decimalsOf(figures))
}

// cell writes a figure with its interval and its marks.
func (w *wide) cell(c *results.Cell, summaries []stats.Summary, i, decimals int) wideCell {
	d := summaries[i]
	number := func(v float64, missing string) string {
		if math.IsNaN(v) {
			return missing
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
	out := wideCell{of: c, figure: number(d.Center(), "n/a")}
	if d.Censored > 0 {
		out.figure, w.censored = number(d.Center(), view.BeyondLimit), true
	}
	if n := d.N + d.Censored; n > 0 && n < len(c.Trials) {
		out.share, w.partial = view.WholePercent(float64(n)/float64(len(c.Trials))), true
	}
	if !c.InModel() {
		out.marks, w.outside = `\dag`, true
	}
	if doubt := d.Doubtful(); doubt > 0 {
		out.marks, w.doubt = out.marks+"?", max(w.doubt, doubt)
	}
	switch low, high := number(d.CILow, "..."), number(d.CIHigh, "..."); {
	case math.IsNaN(d.CILow) && math.IsNaN(d.CIHigh):
	case low == out.figure && high == out.figure:
		w.exact = true
	default:
		out.interval = low + "\u2013" + high
	}
	out.bold = out.share == "" && c.InModel() && !math.IsNaN(d.Center()) && w.s.stands(i, w.of, summaries)
	w.bold = w.bold || out.bold
	return out
}

// stands says whether the interval of a cell is better as a whole than those of all
// other labels in the same place. A median alone may be ahead by chance, and what broke
// a promise is ahead of nothing.
func (s *selection) stands(i int, m *metric.Metric, summaries []stats.Summary) bool {
	rivals, larger := 0, m.Better == metric.Higher
	if s.cells[i].Count(trace.Violated) > 0 {
		return false
	}
	for j, d := range summaries {
		if i == j || !slices.Equal(s.place(s.cells[i]), s.place(s.cells[j])) {
			continue
		}
		rivals++
		if larger && !(summaries[i].CILow > d.CIHigh) || !larger && !(summaries[i].CIHigh < d.CILow) {
			return false // also where an end does not exist
		}
	}
	return rivals > 0
}

// get is what a cell has in a column of the table.
func get(c *results.Cell, column string) string {
	if column == "label" {
		return view.Label(c.Design)
	}
	return c.Get(column)
}

// valuesOf are those that cells have in a column, in order.
func (w *wide) valuesOf(column string) []string {
	c := report.Column{Name: column}
	for i := range w.cells {
		if v := get(w.cells[i].of, column); !slices.Contains(c.Values, v) {
			c.Values = append(c.Values, v)
		}
	}
	c.Order()
	return c.Values
}

// arrange chooses what stands in columns: algorithms if they fit, or what else does in one table; else
// what takes the fewest lines, in several tables below each other.
func (w *wide) arrange() {
	var columns []string
	for _, name := range append([]string{"label"}, view.Varying(view.Designs(w.s.cells))...) {
		if len(w.valuesOf(name)) > 1 {
			columns = append(columns, name)
		}
	}
	best, fewest := *w, math.Inf(1)
	for _, across := range append(slices.Clone(columns), "") {
		try := *w
		try.lay(columns, across)
		if try.broken = try.width() > ColumnWidth; !try.fit() {
			continue
		}
		lines := try.height()
		if try.blocks == 1 && across != "" {
			*w = try
			return
		}
		if lines < fewest {
			best, fewest = try, lines
		}
	}
	if math.IsInf(fewest, 1) { // not even one column fits
		best.lay(columns, "")
		best.broken = true
	}
	*w = best
}

// lay makes the rows and columns of a table with the values of a column beside each other.
func (w *wide) lay(columns []string, across string) {
	w.across, w.values, w.blocks, w.rows, w.heads = across, []string{""}, 1, nil, nil
	if across != "" {
		w.values = w.valuesOf(across)
	}
	for _, name := range columns { // algorithms last: they are compared line by line
		if name != across && name != "label" {
			w.heads = append(w.heads, name)
		}
	}
	if slices.Contains(columns, "label") && across != "label" || len(columns) == 0 {
		w.heads = append(w.heads, "label")
	}
	w.cells = slices.Clone(w.cells)
	for i := range w.cells {
		w.cells[i].place = nil
		for _, name := range w.heads {
			w.cells[i].place = append(w.cells[i].place, get(w.cells[i].of, name))
		}
		place := w.cells[i].place
		if !slices.ContainsFunc(w.rows, func(row []string) bool { return slices.Equal(row, place) }) {
			w.rows = append(w.rows, place)
		}
	}
	slices.SortStableFunc(w.rows, func(a, b []string) int {
		for i, name := range w.heads {
			values := w.valuesOf(name)
			if c := slices.Index(values, a[i]) - slices.Index(values, b[i]); c != 0 {
				return c
			}
		}
		return 0
	})
}

// fit parts the table until it fits a column of a paper, and says whether it does.
func (w *wide) fit() bool {
	for ; w.blocks <= len(w.values); w.blocks++ {
		if w.width() <= ColumnWidth {
			return true
		}
	}
	w.blocks = len(w.values)
	return false
}

// block is the part of the values that a table has.
func (w *wide) block(k int) []string {
	return w.values[k*len(w.values)/w.blocks : (k+1)*len(w.values)/w.blocks]
}

// at is the cell of a row and a value; nil: there is none.
func (w *wide) at(row []string, value string) *wideCell {
	for i := range w.cells {
		c := &w.cells[i]
		if slices.Equal(c.place, row) && (w.across == "" || get(c.of, w.across) == value) {
			return c
		}
	}
	return nil
}

// width is that of the widest of the tables, in points.
func (w *wide) width() (widest float64) {
	keys := 0.0
	for i := range w.heads {
		keys += w.keyWidth(i) + w.apart
	}
	for k := range w.blocks {
		total := keys
		for _, value := range w.block(k) {
			_, wide := w.column(value)
			total += wide + w.apart
		}
		widest = max(widest, total-w.apart)
	}
	return widest
}

// height is that of the tables below each other, in points.
func (w *wide) height() (tall float64) {
	for k := range w.blocks {
		tall += 4.5 * figureSize
		for i, row := range w.rows {
			tall += 1.2 * figureSize
			if w.intervals(row, w.block(k)) {
				tall += 1.2 * intervalSize
			}
			if w.begins(i) {
				tall += 0.5 * figureSize
			}
		}
	}
	return tall
}

// begins says whether a row is the first of several with the same first key, behind others.
func (w *wide) begins(row int) bool {
	return len(w.heads) > 1 && row > 0 && w.rows[row][0] != w.rows[row-1][0]
}

// intervals says whether a row has a line for them.
func (w *wide) intervals(row, values []string) bool {
	return slices.ContainsFunc(values, func(value string) bool {
		c := w.at(row, value)
		return c != nil && c.interval != ""
	})
}

// keyWidth is that of a column of keys.
func (w *wide) keyWidth(i int) (widest float64) {
	for _, row := range w.rows {
		widest = max(widest, textWidth(row[i], figureSize))
	}
	for _, line := range w.head(experiment.Title(w.heads[i]), widest) {
		widest = max(widest, textWidth(line, figureSize))
	}
	return widest
}

// column is the heading of a column of figures, in lines, and its width.
func (w *wide) column(value string) (head []string, widest float64) {
	for _, row := range w.rows {
		if c := w.at(row, value); c != nil {
			widest = max(widest, c.width(), textWidth(c.interval, intervalSize))
		}
	}
	text := value
	if w.across == "" {
		text = w.of.Kind.Figure()
	}
	head = w.head(text, widest)
	for _, line := range head {
		widest = max(widest, textWidth(line, figureSize))
	}
	return head, widest
}

// width is that of the line of the figure.
func (c *wideCell) width() float64 {
	out := textWidth(c.figure, figureSize)
	if c.bold {
		out *= boldWider
	}
	if c.share != "" {
		out += textWidth(c.share+" ", intervalSize)
	}
	return out
}

// head is a heading in lines: broken at spaces and behind hyphens, it is about as wide as its column.
func (w *wide) head(text string, room float64) (lines []string) {
	if !w.broken {
		return []string{text}
	}
	for _, word := range strings.SplitAfter(strings.ReplaceAll(text, " ", " \x00"), "\x00") {
		for _, part := range strings.SplitAfter(strings.TrimSuffix(word, "\x00"), "-") {
			n := len(lines) - 1
			if n >= 0 && textWidth(strings.TrimSpace(lines[n]+part), figureSize) <= room {
				lines[n] += part
			} else if part != "" {
				lines = append(lines, part)
			}
		}
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// tabular is the source of the tables.
func (w *wide) tabular() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\\fontsize{%d}{%.1f}\\selectfont\\setlength{\\tabcolsep}{%.2fpt}%%\n"+
		"\\def\\ci#1{{\\fontsize{%d}{%d}\\selectfont#1}}%%\n", figureSize, 1.2*figureSize, w.apart/2,
		intervalSize, intervalSize+1)
	for k := range w.blocks {
		if k > 0 {
			b.WriteString("\n\n\\medskip\n")
		}
		w.part(&b, w.block(k))
	}
	b.WriteString("\\par}\n")
	return b.String()
}

// part is the source of one of the tables.
func (w *wide) part(b *strings.Builder, values []string) {
	fmt.Fprintf(b, "\\begin{tabular}{@{}%s%s@{}}\n\\toprule\n", w.aligned(), strings.Repeat("r", len(values)))
	heads, tall := [][]string{}, 1
	for i, name := range w.heads {
		heads = append(heads, w.head(experiment.Title(name), w.keyWidth(i)))
	}
	for _, value := range values {
		head, _ := w.column(value)
		heads = append(heads, head)
	}
	for _, head := range heads {
		tall = max(tall, len(head))
	}
	if w.across != "" && w.across != "label" { // algorithms need no heading
		fmt.Fprintf(b, "%s\\multicolumn{%d}{@{}c@{}}{%s} \\\\\n", strings.Repeat("& ", len(w.heads)),
			len(values), tex(experiment.Title(w.across)))
		fmt.Fprintf(b, "\\cmidrule(r){%d-%d}\n", len(w.heads)+1, len(w.heads)+len(values))
	}
	for line := range tall { // the last line of each is that above the figures
		var fields []string
		for _, head := range heads {
			text := ""
			if at := line - (tall - len(head)); at >= 0 {
				text = tex(head[at])
			}
			fields = append(fields, text)
		}
		fmt.Fprintf(b, "%s \\\\\n", strings.Join(fields, " & "))
	}
	b.WriteString("\\midrule\n")
	var last []string
	for at, row := range w.rows {
		keys, new := make([]string, len(row)), last == nil
		for i, text := range row {
			if new = new || text != last[i]; new {
				keys[i] = tex(text)
			}
		}
		if w.begins(at) {
			b.WriteString("\\addlinespace\n")
		}
		last = row
		w.row(b, row, keys, values)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}")
}

// aligned are the columns of keys: numbers end at the right.
func (w *wide) aligned() string {
	out := ""
	for i := range w.heads {
		align := "r"
		if slices.ContainsFunc(w.rows, func(row []string) bool { return row[i] != "" && !isNumber(row[i]) }) {
			align = "l"
		}
		out += align
	}
	return out
}

// row writes a row, and a second line with the intervals.
func (w *wide) row(b *strings.Builder, row, keys, values []string) {
	fields, intervals := slices.Clone(keys), make([]string, len(keys))
	for _, value := range values {
		c := w.at(row, value)
		if c == nil {
			c = &wideCell{}
		}
		fields = append(fields, c.source())
		intervals = append(intervals, smaller(strings.ReplaceAll(c.interval, "\u2013", "--")))
	}
	if end := " \\\\"; !w.intervals(row, values) {
		fmt.Fprintf(b, "%s%s\n", strings.Join(fields, " & "), end)
	} else { // the two belong together
		fmt.Fprintf(b, "%s%s*[-1pt]\n%s%s[1pt]\n", strings.Join(fields, " & "), end,
			strings.TrimLeft(strings.Join(intervals, " & "), " "), end)
	}
}

// source is the line of the figure. What stands behind it takes no room, so that figures align.
func (c *wideCell) source() string {
	out := tex(c.figure)
	if c.bold {
		out = `\textbf{` + out + "}"
	}
	if c.share != "" {
		out = smaller(strings.Replace(tex(c.share), " ", `\,`, 1)) + " " + out
	}
	if c.marks != "" {
		out += `\rlap{$^{` + c.marks + "}$}"
	}
	return out
}

func smaller(text string) string {
	if text == "" {
		return ""
	}
	return `\ci{` + text + "}"
}

// caption says what a reader has to know of the table.
func (w *wide) caption() string {
	m := w.of
	text := upper(m.Title()) + ": " + m.Doc + ". "
	figure := upper(m.Kind.Figure()) + " over trials"
	if m.Kind.Pooled() {
		figure = "Mean over all trials together"
	}
	figure += ", below it its 95 % interval " + w.method.Words()
	if w.exact {
		figure += ", where there is one that is wider than the last digit"
	}
	text += figure + "; " + trialsOf(w.s.cells) + ". "
	if held := w.s.held(); held != "" {
		text += upper(held) + " everywhere. "
	}
	text += w.s.tested(m)
	if compare.AsSet(w.s.run.Table, m) {
		text += " " + upper(compare.AsSetNote) + "."
	}
	return strings.TrimSpace(tex(text))
}

// beyond explains the mark of what is not within an algorithm's model.
const beyond = `$^{\dag}$: ` + view.MoreThanClaimed + "."

// notes say what marks in the table mean.
func (w *wide) notes() (out string) {
	if w.bold {
		out += "Bold: the whole interval is better than those of all others in the same place. "
	}
	if w.outside {
		out += beyond + " Never bold. "
	}
	if w.partial {
		out += "A percentage: the share of the trials that have a figure, unless all have. "
	}
	if w.censored {
		out += tex(upper(w.of.Cut())+" counts as larger than all others; "+view.BeyondLimit+
			": the median lies among those") + ". "
	}
	if w.doubt > 0 {
		out += tex(view.DoubtNote(w.doubt)) + ". "
	}
	return strings.TrimSpace(out)
}

func upper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// FigureCaption says what a reader has to know of a chart of a metric, in LaTeX.
func (r *Run) FigureCaption(m *metric.Metric, c *chart.Chart) string {
	along := c.X
	if c.Y == "" { // the algorithms have a row each
		along = "algorithm"
	}
	text := fmt.Sprintf("%s against %s: %s over trials with its 95 %% interval, %s; %s.", upper(m.InWords()),
		strings.TrimSuffix(along, chart.LogScale), m.Kind.Figure(), r.Until().Method().Words(),
		trialsOf(r.Cells()))
	notes := slices.Clone(c.Notes)
	if compare.AsSet(r.Table, m) {
		notes = append(notes, compare.AsSetNote)
	}
	for _, note := range notes {
		text += " " + upper(note) + "."
	}
	return tex(text)
}

// TeX is text for LaTeX.
func TeX(text string) string { return tex(text) }

// trialsOf is how many trials a cell has.
func trialsOf(cells []*results.Cell) string {
	least, most := math.MaxInt, 0
	for _, c := range cells {
		n := len(c.Trials)
		least, most = min(least, n), max(most, n)
	}
	if least == most {
		return fmt.Sprintf("n = %d", most)
	}
	return fmt.Sprintf("n = %d to %d", least, most)
}

// held are the values that all cells have of what the run varies, and how many nodes there are if that does
// not vary.
func (s *selection) held() string {
	var parts []string
	for _, name := range s.places {
		if s.same(name) && s.cells[0].Get(name) != "" {
			parts = append(parts, report.Level(name, s.cells[0].Get(name)))
		}
	}
	return strings.Join(parts, ", ")
}

// same says whether all cells have one value in a column.
func (s *selection) same(column string) bool {
	return !slices.ContainsFunc(s.cells, func(c *results.Cell) bool {
		return c.Get(column) != s.cells[0].Get(column)
	})
}

// tested says how the algorithms of the run were compared by a metric; "" if they were not.
func (s *selection) tested(m *metric.Metric) string {
	r := compare.RankBy(view.Filter(s.run.Table, s.Where), m)
	if r == nil || r.Tests == 0 {
		return ""
	}
	all, shown, paired := 0, 0, true
	for _, standing := range r.Standings {
		if standing.Over > 0 {
			continue
		}
		for _, d := range standing.Duels {
			paired = paired && d.Paired
			if all++; d.Shown() {
				shown++
			}
		}
	}
	test := "Student's t of seed-matched pairs, by permutation within pairs"
	if !paired {
		test += " (without enough pairs: Mann and Whitney's test)"
	}
	return fmt.Sprintf("Two algorithms in the same place differ by %s, corrected for %s (Westfall and "+
		"Young, alpha = %v), in %d of %s.", test, console.Plural(r.Tests, "comparison", "comparisons"),
		compare.DefaultAlpha, shown, console.Plural(all, "pair", "pairs"))
}

// boldWider is by how much bold digits are wider in Computer Modern.
const boldWider = 1.15

// textWidth is how wide a text is in Computer Modern of a size, in points. Papers are set in it, or in
// fonts that are narrower. The widths are those of Knuth's cmr10, which the smaller sizes exceed.
func textWidth(text string, size float64) (wide float64) {
	for _, r := range printable(text) {
		em, known := romanWidths[r]
		if !known {
			em = 0.75
			if r > '~' { // named by its code point
				em *= float64(len(fmt.Sprintf("U+%04X", r)))
			}
		}
		wide += em
	}
	return wide * size * smallWider[size]
}

// smallWider is by how much the letters of a smaller design size are wider than those of cmr10.
var smallWider = map[float64]float64{figureSize: 0.531 / 0.5, intervalSize: 0.569 / 0.5}

var romanWidths = func() map[rune]float64 {
	out := map[rune]float64{}
	for runes, em := range map[string]float64{
		".,:;ijl|!'[]": 0.2778, "f": 0.3056, " -()/trs": 0.3917, "0123456789": 0.5, "acegoqzvxy?": 0.5278,
		"bdhknpu#$*\u2013": 0.5556, "wABCDEFGHJKLNOPQRSTUVXYZ+=<>~_": 0.7778, "I": 0.3611, "m%": 0.8333,
		"M": 0.9167, "W": 1.0278,
	} {
		for _, r := range runes {
			out[r] = em
		}
	}
	return out
}()
