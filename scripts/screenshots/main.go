// Screenshots makes the pictures of the report in docs/images anew, from a run that it
// does itself, and the figure beside them. It needs Chromium or Chrome:
//
//	go run ./scripts/screenshots
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	config  = "configs/elections.yaml"
	name    = "elections" // of the experiment in it
	images  = "docs/images"
	largest = 200_000 // bytes of a picture
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run() error {
	out, err := os.MkdirTemp("", "screenshots-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	page, figures := filepath.Join(out, "report.html"), filepath.Join(out, "figures")
	for _, args := range [][]string{
		{"run", config, "--transport", "sim", "--out", out, "--quiet"},
		{"report", filepath.Join(out, name, "latest"), "--out", page, "--figures", figures},
	} {
		cmd := exec.Command("go", append([]string{"run", "./cmd/bench"}, args...)...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("bench %v: %w", args, err)
		}
	}
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	figure, err := os.ReadFile(filepath.Join(figures, "messages_per_election-nodes.svg"))
	if err != nil {
		return err
	}
	if err := save("figure.svg", figure); err != nil {
		return err
	}
	return shoot(page)
}

// shoot opens the page and takes its pictures.
func shoot(page string) error {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1240, 900), chromedp.Flag("hide-scrollbars", true))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	drawn := chromedp.WaitReady("html[data-drawn]")
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+page), drawn); err != nil {
		return err
	}
	for _, s := range []struct{ name, prepare, section string }{
		{"report-light.png", "0", "section#figures"},
		{"report-dark.png", "document.getElementById('theme').click()", "section#cells"},
	} {
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](s.prepare)); err != nil {
			return err
		}
		if err := chromedp.Do(ctx, chromedp.Sleep(100*time.Millisecond), drawn); err != nil {
			return err
		}
		picture, err := chromedp.Run(ctx, chromedp.Screenshot(s.section))
		if err != nil {
			return err
		}
		if err := save(s.name, picture); err != nil {
			return err
		}
	}
	return nil
}

func save(name string, picture []byte) error {
	if len(picture) > largest {
		return fmt.Errorf("%s has %d bytes, and the limit is %d: show less", name, len(picture), largest)
	}
	fmt.Printf("%s: %d bytes\n", filepath.Join(images, name), len(picture))
	return os.WriteFile(filepath.Join(images, name), picture, 0o644)
}
