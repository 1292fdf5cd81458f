package nodes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

// TestLoadHosts_Refuses: every mistake in a hosts file is told with its line and key.
func TestLoadHosts_Refuses(t *testing.T) {
	t.Parallel()
	const lab1 = "hosts:\n- {name: lab1, address: 10.0.0.1, command: ssh lab1}\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":          {"placement: pack\n", "hosts.yaml:1: hosts: missing; expected at least one"},
		"an unknown key":   {lab1 + "placment: pack\n", `hosts.yaml:3: placment: `},
		"of a host":        {"hosts:\n- {name: a, adress: b, command: c}\n", "hosts.yaml:2: hosts[1].adress: "},
		"one name twice":   {lab1 + "- {name: lab1, address: b, command: c}\n", `hosts.yaml:3: hosts[2].name: "lab1" is the name of hosts[1] as well`},
		"no address":       {"hosts:\n- {name: a, command: c}\n", "hosts.yaml:2: hosts[1]: expected either address: or interface:"},
		"two addresses":    {"hosts:\n- {name: a, address: b, interface: eth0, command: c}\n", "expected either address: or interface:"},
		"no command":       {"hosts:\n- {name: a, address: b}\n", "hosts[1]: without command"},
		"a name with plus": {"hosts:\n- {name: a+b, address: b, command: c}\n", "letters, digits, '.', '_' and '-'"},
		"a strange kind":   {lab1 + "placement: round\n", "hosts.yaml:3: placement: "},
		"no region":        {lab1 + "placement: region\n", "hosts.yaml:3: placement: region, but no host has a region:"},
		"no such host":     {lab1 + "placement: {eu: lab2}\n", `hosts.yaml:3: placement.eu: no host "lab2" (has: lab1)`},
	} {
		path := filepath.Join(t.TempDir(), "hosts.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadHosts(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := LoadHosts(filepath.Join(t.TempDir(), "none.yaml")); err == nil ||
		!strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("no file: %v", err)
	}
}

// TestHosts_Check: an experiment that does not fit the hosts is told with the line to change.
func TestHosts_Check(t *testing.T) {
	t.Parallel()
	const text = "name: x\nproblem: mutex\nalgorithms: [naimi-trehel]\nnodes: 4\nrepetitions: 1\ntransport: nats\n" +
		"scenario: {kind: sequential, requests: 6}\n"
	const regions = "network: {latency: {distribution: regions, places: [ireland, tokyo]}}\n"
	const two = "hosts:\n- {name: a, address: a, command: a, region: ireland}\n- name: b\n  address: b\n  command: b\n" +
		"  slots: 1\n"
	for want, c := range map[string][2]string{
		"":                            {text, two},
		"hosts.yaml:2: hosts: cell 1": {text, strings.Replace(two, "address: a", "slots: 1, address: a", 1)},
		"hosts.yaml:6: hosts[2].slots: cell 1, mutex/naimi-trehel with 4 processes: the slots of b are too few": {text + regions,
			two + "placement: {tokyo: b}\n"},
		"hosts.yaml:7: placement: cell 1": {text + regions, two + "placement: region\n"},
		"hosts.yaml:6: hosts[2].bus: without bus.url": {text, strings.Replace(two, "slots: 1",
			"bus: nats://b:4222", 1)},
		" ": {text + "bus: {url: nats://c:4222}\n", strings.Replace(two, "slots: 1", "bus: nats://b:4222", 1)},
	} {
		path := filepath.Join(t.TempDir(), "hosts.yaml")
		if err := os.WriteFile(path, []byte(c[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := LoadHosts(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := experiment.Parse("x.yaml", []byte(c[0]), experiment.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		err = h.Check(e)
		if want = strings.TrimSpace(want); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestHosts_CheckNamed: the hosts of the experiment and those of the file are the same, and have
// room; which processes live together the experiment alone says.
func TestHosts_CheckNamed(t *testing.T) {
	t.Parallel()
	const (
		lab1 = "- {name: lab1, address: a, command: c}\n"
		lab2 = "- {name: lab2, address: b, command: c}\n"
		two  = "hosting: {hosts: [lab1, lab2]}\n"
		pack = "hosting: {hosts: {names: [lab1, lab2], placement: pack, slots: 3}}\n"
	)
	for name, c := range map[string]struct{ experiment, text, want string }{
		"none named":        {"", "hosts:\n" + lab1 + lab2, ""},
		"none named, full":  {"", "hosts:\n- {name: lab1, address: a, command: c, slots: 4}\n", "hosts.yaml:2: hosts: cell 1, mutex/naimi-trehel with 5 processes: 5 processes, but the hosts have slots for 4"},
		"the same":          {two, "hosts:\n" + lab1 + lab2, ""},
		"in another order":  {two, "hosts:\n" + lab2 + lab1, ""},
		"with a placement":  {two, "hosts:\n" + lab1 + lab2 + "placement: spread\n", ""},
		"one is missing":    {two, "hosts:\n" + lab1, `hosts.yaml:2: hosts: no host "lab2", which the experiment has in hosting.hosts (here: lab1); add it`},
		"one too many":      {two, "hosts:\n" + lab1 + lab2 + "- {name: lab3, address: a, command: c}\n", `hosts.yaml:4: hosts[3].name: "lab3" is none of the hosts that the experiment has in hosting.hosts (lab1, lab2); remove it`},
		"too few slots":     {pack, "hosts:\n" + lab2 + "- {name: lab1, address: a, command: c, slots: 2}\n", "hosts.yaml:3: hosts[2].slots: 2, but by the experiment's hosting.hosts 3 of 5 processes live there"},
		"another placement": {pack, "hosts:\n" + lab1 + lab2 + "placement: spread\n", "hosts.yaml:4: placement: spread, but the experiment itself places"},
	} {
		path := filepath.Join(t.TempDir(), "hosts.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := LoadHosts(path)
		if err != nil {
			t.Fatal(err)
		}
		e, err := experiment.Parse("e.yaml", []byte("algorithms: [mutex/naimi-trehel]\n"+c.experiment), experiment.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := h.Check(e); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// A distance finds the second host too far away.
type distance struct {
	far []host.FarPair
	err error
}

func (d distance) FarClocks(plans []*harness.Plan) ([]host.FarPair, error) {
	if len(plans) != 2 {
		return nil, errors.New("expected both cells")
	}
	return d.far, d.err
}

// TestHosts_CheckClocks: a host that is too far away ends the run before its first trial, as a mistake in the
// hosts file, and the error says what would do.
func TestHosts_CheckClocks(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	e, err := experiment.Parse("e.yaml", []byte("algorithms: [mutex/naimi-trehel]\nsweep: [{vary: nodes, over: [3, 5]}]\n"), experiment.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d    distance
		want string
	}{
		{distance{}, ""},
		{distance{err: errors.New("no answer")}, "no answer"},
		{distance{far: []host.FarPair{{Hosts: [2]int{0, 1}, Plan: 1, Fastest: 5 * ms, Most: 2500 * time.Microsecond,
			Best: 5279 * time.Microsecond, Wants: 11 * ms}, {Hosts: [2]int{0, 1}, Wants: 10 * ms}}},
			"hosts.yaml:3: hosts[2]: a time between lab1 and lab2 can be known to 5.28ms at best, and between 1 other pairs likewise, " +
				"for so long a message and its answer take; cell 2, whose fastest link takes 5ms on average, allows 2.5ms " +
				"(half of that, but never less than 200µs): use a latency of 11ms or more, or hosts that are nearer to each other"},
	} {
		h, err := parseHosts("hosts.yaml", []byte("hosts:\n- {name: lab1, address: a, command: c}\n- {name: lab2, address: b, command: c}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := h.checkClocks(c.d, []*harness.Plan{&e.Cells[0].Plan, &e.Cells[1].Plan}); err != nil {
			got = err.Error()
			var mistake *experiment.Error
			if errors.As(err, &mistake) != (c.d.err == nil) {
				t.Errorf("of type %T: %v", err, err)
			}
		}
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
