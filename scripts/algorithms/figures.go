package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/sim"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// An example is a figure of configs, which one algorithm plays.
type example struct {
	name      string // of its files, without an ending
	algorithm string
	caption   string
	svg       []byte
}

// drawExamples simulates every figure below root and draws it.
func drawExamples(root string) (out []example, err error) {
	files, err := filepath.Glob(filepath.Join(root, "configs/figures/*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		e, err := drawExample(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func drawExample(file string) (x example, err error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return x, err
	}
	e, err := experiment.Load(file, experiment.Overrides{})
	if err != nil {
		return x, err
	}
	if n := len(e.Trials()); n != 1 {
		return x, fmt.Errorf("%d trials, want one: a figure is one course of events", n)
	}
	plan := e.Trials()[0].Plan
	setup, err := plan.Setup()
	if err != nil {
		return x, err
	}
	setup.Virtual = true
	var records trace.List
	sim.Run(setup, &records)
	x.name = strings.TrimSuffix(filepath.Base(file), ".yaml")
	x.algorithm, x.caption = plan.Algorithm, caption(string(source))
	d, err := diagram.New(diagram.Trace{
		Title: fmt.Sprintf("%s: configs/figures/%s.yaml", x.algorithm, x.name),
		Kinds: setup.Alg.Codec.Kinds(), Records: records, Nodes: plan.Nodes, Leader: uint32(plan.Leader),
		Room: setup.Alg.Spec.Room(setup.Params),
	}, diagram.Window{})
	if err != nil {
		return x, err
	}
	var svg bytes.Buffer
	_, err = d.SVG(&svg)
	x.svg = svg.Bytes()
	return x, err
}

// caption is the comment at the top of an experiment, as one paragraph, without the
// first line, which is for editors.
func caption(source string) string {
	var words []string
	_, about, _ := strings.Cut(source, "\n")
	for line := range strings.Lines(about) {
		text, isComment := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !isComment {
			break
		}
		words = append(words, strings.Fields(text)...)
	}
	return strings.Join(words, " ")
}

// worked is the worked examples of an algorithm.
func worked(out *bytes.Buffer, a *algo.Algorithm, all []example) error {
	found := false
	for _, x := range all {
		if x.algorithm != a.ID {
			continue
		}
		found = true
		fmt.Fprintf(out, "\n*Worked example.* %s Script: %s.\n\n![%s](../figures/%s.svg)\n", x.caption,
			scenario("figures/"+x.name+".yaml"), x.name, x.name)
	}
	if !found {
		return fmt.Errorf("%s has no worked example: add a script to configs/figures", a.ID)
	}
	return nil
}
