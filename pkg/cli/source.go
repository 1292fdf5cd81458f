package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/commands/launch"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// sourced adds the flags that say where an experiment comes from.
func (s *streams) sourced(c *cobra.Command, f *launch.Source) {
	f.Env = s.env
	flags := c.Flags()
	flags.StringVar(&f.Transport, "transport", "",
		"run on `TRANSPORT`: nats on real processes, sim in simulation (default: what FILE says)")
	flags.StringSliceVar(&f.Algorithms, "algorithms", nil, "compare algorithms `A,B`, without FILE")
	flags.StringVar(&f.Nodes, "nodes", "", "with `N` processes, or several as 3,5,9, without FILE")
	setting(c, &f.Set, "")
}

// A shorthand is a flag whose value, with something before it, is one of --set: --seed 2 is --set seed=2.
type shorthand struct{ flag, before, usage string }

// shorthands are --set and the flags for the keys that are set most often.
var shorthands = []shorthand{
	{"set", "", "override a key of the experiment with `KEY=VALUE`, as network.loss=0.05; repeatable"},
	{"params", params, "set a parameter of the algorithms with `NAME=VALUE`; repeatable"},
	{"seed", "seed=", "draw everything from seed `N` (default: what FILE says)"},
	{"repetitions", "repetitions=", "run `N` trials of each cell (default: what FILE says)"},
	{"rounds", "rounds=", "divide the repetitions over `K` rounds, and restart everything for each"},
}

// params is the block of the algorithms' parameters in an experiment.
const params = "params."

// setting adds the shorthands but those of the words in but to c. All of them add to set.
func setting(c *cobra.Command, set *[]string, but string) {
	for _, s := range shorthands {
		if !slices.Contains(strings.Fields(but), s.flag) {
			c.Flags().Var(&assignments{set: set, before: s.before}, s.flag, s.usage)
		}
	}
}

// assignments are a flag each of whose values goes into set, with something before it.
type assignments struct {
	set    *[]string
	before string
}

var _ pflag.Value = (*assignments)(nil)

// Set adds a value. A parameter may have the name of its block already.
func (a *assignments) Set(text string) error {
	if a.before == params {
		text = strings.TrimPrefix(text, params)
	}
	*a.set = append(*a.set, a.before+text)
	return nil
}

// Type is what pflag calls a flag of several texts.
func (a *assignments) Type() string { return "stringArray" }

// String is empty, for there is no default.
func (a *assignments) String() string { return "" }

// settingOf is the key of an experiment that a word means, by its name or by the last part of it;
// "" if none or several are meant.
func settingOf(word string) string {
	word = strings.ReplaceAll(word, "-", "_")
	var found []string
	for _, k := range experiment.Keys() {
		if k.Path == word {
			return word
		}
		if strings.HasSuffix(k.Path, "."+word) {
			found = append(found, k.Path)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
