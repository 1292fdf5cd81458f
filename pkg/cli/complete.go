package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/catalog"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
)

// A completion says what can stand in a word that begins like toComplete.
type completion = func(c *cobra.Command, args []string, toComplete string) (
	[]string, cobra.ShellCompDirective)

// complete tells the shell what can follow each command and flag that does not say
// so itself: by what their usage calls it.
func complete(root *cobra.Command) {
	for _, c := range root.Commands() {
		_, arguments, _ := strings.Cut(c.Use, " ")
		if c.ValidArgsFunction == nil {
			c.ValidArgsFunction = argumentsCalled(arguments)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := c.GetFlagCompletionFunc(f.Name); ok || f.NoOptDefVal != "" {
				return
			}
			name, _ := pflag.UnquoteUsage(f)
			// It fails for an unknown flag alone, or one that has a completion.
			_ = c.RegisterFlagCompletionFunc(f.Name, valuesOf(f.Name, name))
		})
	}
}

// choices lets the shell complete the values of a flag that takes one of a few.
func choices(c *cobra.Command, flag string, values []string) {
	// It fails for an unknown flag alone, which is a mistake of the program.
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values,
		cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("cli: " + err.Error())
	}
}

// oneOf refuses a value of a flag that is none of a few.
func oneOf(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return usage("--%s %q, expected one of: %s", flag, value, strings.Join(values, ", "))
}

// argumentsCalled completes the arguments of a command by their names in its usage.
func argumentsCalled(names string) completion {
	words := strings.Fields(names)
	return func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(words) && !strings.HasSuffix(names, "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch words[min(len(args), len(words)-1)] {
		case "[FILE]":
			return experiment.Extensions(), cobra.ShellCompDirectiveFilterFileExt
		case "ID", "ID...":
			return algorithmsLike(toComplete, nil), cobra.ShellCompDirectiveNoFileComp
		case "DIR", "BASE", "NEW", "DIR...", "[DIR]":
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// valuesOf completes the value of a flag, which its usage calls so.
func valuesOf(flag, called string) completion {
	switch {
	case flag == "algorithms":
		return completeList
	case flag == "set":
		return completeSet
	case flag == "params":
		return completeParams
	case flag == "metrics", flag == "metric":
		return completeMetrics
	case flag == "ignore":
		return completeIgnore
	case flag == "where":
		return completeWhere
	case flag == "x", flag == "series":
		return completeAxis
	case flag == "transport":
		var out []string
		for _, k := range transport.All {
			out = append(out, described(k.Name, k.Doc))
		}
		return cobra.FixedCompletions(out, cobra.ShellCompDirectiveNoFileComp)
	case called == "DIR":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case called == "FILE":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	return cobra.NoFileCompletions
}

// described is a word with what the shell shows beside it.
func described(word, doc string) string { return word + "\t" + doc }

// algorithmsLike are the ids that begin so, or the names if no id does. Those of
// other problems than the chosen ones are left out, and the chosen themselves.
func algorithmsLike(start string, chosen []string) (out []string) {
	problem := algo.Problem("")
	for _, name := range chosen {
		if found := catalog.Named(name); len(found) == 1 {
			problem = found[0].Problem
		}
	}
	for _, short := range []bool{false, true} {
		for _, a := range algo.All() {
			word := a.ID
			if short {
				word = a.Spec.Name
			}
			if strings.HasPrefix(word, start) && (problem == "" || a.Problem == problem) &&
				!slices.Contains(chosen, a.ID) && !slices.Contains(chosen, a.Spec.Name) {
				out = append(out, described(word, a.Spec.Summary))
			}
		}
		if out != nil {
			break
		}
	}
	return out
}

// completeList completes the last of several algorithms with commas between.
func completeList(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return lastOf(toComplete, algorithmsLike)
}

// lastOf completes the last of several words with commas between, of which like lists
// those that begin so and are not among the chosen.
func lastOf(toComplete string, like func(start string, chosen []string) []string) (
	[]string, cobra.ShellCompDirective) {
	i := strings.LastIndexByte(toComplete, ',') + 1
	before, start := toComplete[:i], toComplete[i:]
	out := like(start, strings.Split(strings.TrimSuffix(before, ","), ","))
	for j := range out {
		out[j] = before + out[j]
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeSet completes a key of the experiment file, then its value, if that is one
// of some words.
func completeSet(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return keyOrValue(toComplete, settable())
}

// completeParams completes a parameter, then its value, if that is one of some words.
func completeParams(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	words, how := keyOrValue(params+toComplete, settable())
	for i := range words {
		words[i] = strings.TrimPrefix(words[i], params)
	}
	return words, how
}

// completeMetrics completes the last of several metrics of the runs before the flag.
func completeMetrics(_ *cobra.Command, args []string, toComplete string) (
	[]string, cobra.ShellCompDirective) {
	var known []string
	for _, t := range runsIn(args) {
		known = append(known, t.Known()...)
	}
	return lastOf(toComplete, among(known))
}

// completeIgnore completes the last of several columns of the runs before the flag.
func completeIgnore(_ *cobra.Command, args []string, toComplete string) (
	[]string, cobra.ShellCompDirective) {
	var known []string
	for _, c := range columnsIn(args) {
		known = append(known, c.Path)
	}
	return lastOf(toComplete, among(known))
}

// completeAxis completes a column in which cells of the runs before the flag differ.
func completeAxis(_ *cobra.Command, args []string, toComplete string) (
	[]string, cobra.ShellCompDirective) {
	var out []string
	for _, k := range columnsIn(args) {
		if len(k.Values) > 1 && k.Path != "algorithm" && strings.HasPrefix(k.Path, toComplete) {
			out = append(out, described(k.Path, k.Doc))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeWhere completes a column of the runs before the flag, then a value that some
// cell has there.
func completeWhere(_ *cobra.Command, args []string, toComplete string) (
	[]string, cobra.ShellCompDirective) {
	return keyOrValue(toComplete, columnsIn(args))
}

// among lists those known words, each once, that begin so and are not chosen.
func among(known []string) func(start string, chosen []string) []string {
	return func(start string, chosen []string) []string {
		return slices.DeleteFunc(distinct(known), func(word string) bool {
			return !strings.HasPrefix(word, start) || slices.Contains(chosen, word)
		})
	}
}

// runsIn are the runs that the arguments name, as far as they can be read: a shell that
// completes a word has no place for an error.
func runsIn(args []string) (runs []*results.Table) {
	for _, path := range args {
		if t, err := results.ReadTable(path); err == nil {
			runs = append(runs, t)
		}
	}
	return runs
}

// columnsIn are the columns of the design of those runs, with the values that they have.
func columnsIn(args []string) (columns []experiment.Key) {
	for _, t := range runsIn(args) {
		for _, name := range t.Design {
			i := slices.IndexFunc(columns, func(k experiment.Key) bool { return k.Path == name })
			if i < 0 {
				i, columns = len(columns), append(columns, experiment.Key{Path: name})
			}
			k := &columns[i]
			for _, c := range t.Cells() {
				k.Values = append(k.Values, c.Get(name))
			}
			k.Values = distinct(k.Values)
			k.Doc = strings.Join(k.Values, ", ")
		}
	}
	return columns
}

// keyOrValue completes one of the keys, then its value, if that is one of some words.
func keyOrValue(toComplete string, keys []experiment.Key) ([]string, cobra.ShellCompDirective) {
	key, _, valued := strings.Cut(toComplete, "=")
	var out []string
	for _, k := range keys {
		switch {
		case !valued && strings.HasPrefix(k.Path, key):
			out = append(out, described(k.Path+"=", k.Doc))
		case k.Path == key:
			for _, v := range k.Values {
				out = append(out, described(key+"="+v, valueDoc(key, v)))
			}
		}
	}
	if valued {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// settable are the keys of the file and the parameters of all algorithms.
func settable() []experiment.Key {
	out := experiment.Keys()
	for i := range out {
		if out[i].Type == "true or false" {
			out[i].Values = []string{"true", "false"}
		}
	}
	at := map[string]int{}
	for _, a := range algo.All() {
		for _, p := range a.Spec.Params {
			k := experiment.Key{Path: "params." + p.Name, Doc: p.Doc, Values: p.Choices}
			if p.Type == algo.Bool {
				k.Values = []string{"true", "false"}
			}
			if i, twice := at[p.Name]; twice {
				out[i].Values = distinct(slices.Concat(out[i].Values, k.Values))
				continue
			}
			at[p.Name] = len(out)
			out = append(out, k)
		}
	}
	return out
}

// valueDoc says what a word means as the value of a key, where bench list does.
func valueDoc(key, value string) string {
	switch key {
	case "scenario.kind":
		if k := harness.ScenarioOf(value); k != nil {
			return k.Doc
		}
	case "detector.kind":
		if d := harness.DetectorOf(value); d != nil {
			return d.Doc
		}
	}
	return ""
}

// distinct is list without what stands in it before.
func distinct(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
