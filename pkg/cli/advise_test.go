package cli

import (
	"os"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestAdvise: the answer begins with lines to paste, JSON has the same, and the page is written.
func TestAdvise(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "searches with the usual effort")
	here := newFolder(t)
	args := []string{"advise", "etcd", "--rtt", "12ms", "--loss", "0.01"}
	r := here.bench(t, append(args, "--html", "advice.html", "--why")...).want(t, Good)
	has(t, r.out, "flags of etcd:", "today's defaults: --heartbeat-interval=100", "detection", "page: advice.html")
	has(t, here.read(t, "advice.html"), "--election-timeout=1000")
	narrow(t, r.out)
	j := here.bench(t, append(args, "--json", "--quiet")...).want(t, Good)
	report, err := answer.Decode([]byte(j.out))
	if err != nil || j.errors != "" {
		t.Fatalf("%v: %s", err, j.errors)
	}
	if lines := report.Table("lines"); len(lines) < 4 || lines[0]["setting"] != "defaults" {
		t.Errorf("%v", lines)
	}
}

// TestAdvise_Refused: what is wrong is said in one sentence, with exit code 2.
func TestAdvise_Refused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/pings", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/pings/1-2.txt", []byte("64 Bytes von a: icmp_seq=1 Zeit=4,00 ms\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/table.csv", []byte("1-2;1-3;2-3\n2,5;3,1;4,0\n2,6;;4,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/matrix.csv", []byte(";a;b\na;;2,5\nb;2,5;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"table.csv: its columns are not separated by commas":  {"etcd", "--table", dir + "/table.csv"},
		"matrix.csv: its columns are not separated by commas": {"etcd", "--matrix", dir + "/matrix.csv"},
		"unknown system \"etdc\"; did you mean \"etcd\"?":     {"etdc", "--rtt", "1ms"},
		"no network: say how far apart the members are":       {"etcd"},
		"--false \"never\", expected a number above 0":        {"etcd", "--rtt", "1ms", "--false", "never"},
		"repeat it with LC_ALL=C ping":                        {"etcd", "--pings", dir + "/pings"},
		"advise: 0 systems, expected one of cockroachdb":      {},
	} {
		r := bench(t, append([]string{"advise"}, args...)...).want(t, Usage)
		has(t, r.errors, want)
	}
}
