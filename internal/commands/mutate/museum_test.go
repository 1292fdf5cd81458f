package mutate

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// museum are the algorithms whose processes return with what they saved, or say that they return, by the
// packages in which that is done.
var museum = map[string]string{
	"election/raft": "plugins/election/raft", "election/multi-paxos": "plugins/election/multipaxos",
	"election/viewstamped-replication": "plugins/election/viewstampedreplication",
	"election/zab-fle":                 "plugins/election/zabfle", "election/lease": "plugins/election/lease",
	"election/lease-cas": "plugins/election/leasecas", "election/ble": "plugins/election/ble",
	"election/bully-quorum": "plugins/election/bullyquorum",
	"election/invitation":   "plugins/election/invitation",
	"mutex/naimi-trehel-ft": "plugins/mutex/naimitrehelft",
}

// forgetful are the names of mutants that save or restore less than they should, take a second life for the
// first, or count a quorum that is one too small.
var forgetful = regexp.MustCompile(`save no |: delete [^;]*(Save\(|[sS]aved)|delete n\.persist|` +
	`if saved, ok|if s, ok|delete (round|r|nonce|attempt): |Incarnation > 1|\(false && \((c|n)\.Incarnation|` +
	`/ ?2 ?[+-] ?0|>= len\(\w+\.Peers\)/2`)

// exhibits are the mutants of a package that the museum has.
func exhibits(t *testing.T, dir string) []Mutant {
	t.Helper()
	abs, err := filepath.Abs("../../../" + dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Forgetful(abs, Handlers)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(m Mutant) bool { return !forgetful.MatchString(m.Name) })
}

// excused is the mutants of the museum that break no promise.
func excused(t *testing.T) []Survivor {
	t.Helper()
	return listed(t, "museum.txt")
}

// TestMuseum_Excused: each mutant that is excused is one.
func TestMuseum_Excused(t *testing.T) {
	t.Parallel()
	all := map[string][]Mutant{}
	for _, dir := range museum {
		all[dir] = exhibits(t, dir)
	}
	for _, s := range excused(t) {
		if !slices.ContainsFunc(all[s.Dir], func(m Mutant) bool { return m.Name == s.Name }) {
			t.Errorf("%s has no mutant %q: take it off the list", s.Dir, s.Name)
		}
	}
}

// TestMuseum: bench verify notices each mutant that forgets, within a minute.
func TestMuseum(t *testing.T) {
	if !slowtest.Night() {
		t.Skip("takes five minutes; set CONCLAVE_NIGHTLY=1")
	}
	list := excused(t)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for id, dir := range museum {
		t.Run(id, func(t *testing.T) {
			mutants := exhibits(t, dir)
			b := &Bench{Dir: root, Temp: t.TempDir(), Limit: limit, Main: "./cmd/bench",
				Args: []string{"verify", id}, Env: []string{"CONCLAVE_NIGHTLY="}}
			if err := b.Build(mutants); err != nil {
				t.Fatal(err)
			}
			count := map[Verdict]int{}
			for i := -1; i < len(mutants); i++ {
				got, out, err := b.Try(i)
				if err != nil || i < 0 && got != Survived {
					t.Fatalf("%d: %s, %v\n%s", i, got, err, out)
				}
				if i < 0 {
					continue
				}
				count[got]++
				name := mutants[i].Name
				known := slices.ContainsFunc(list, func(s Survivor) bool { return s.Dir == dir && s.Name == name })
				switch {
				case got == Survived && !known:
					t.Errorf("the kit does not notice %q", name)
				case got == Noticed && known:
					t.Errorf("%q is noticed: take it off museum.txt", name)
				}
			}
			t.Logf("%d mutants: %v", len(mutants), count)
		})
	}
}
