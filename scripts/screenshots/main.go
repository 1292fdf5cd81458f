// Screenshots makes the pictures of the report and of a trial's page in docs/images anew, from
// runs that it does itself, and the figure beside them; or it takes whole pages, to look at: each
// wide and narrow, light and dark. It needs Chromium or Chrome:
//
//	go run ./scripts/screenshots
//	go run ./scripts/screenshots DIR PAGE...
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const (
	config  = "configs/elections.yaml"
	name    = "elections" // of the experiment in it
	played  = "configs/figures/18-1-bully.yaml"
	figure  = "figure-18-1-bully"
	images  = "docs/images"
	largest = 200_000 // bytes of a picture
)

func main() {
	err := error(nil)
	if len(os.Args) > 2 {
		err = views(os.Args[1], os.Args[2:])
	} else {
		err = run()
	}
	if err != nil {
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
	trial := filepath.Join(out, "trial.html")
	for _, args := range [][]string{
		{"run", config, "--transport", "sim", "--out", out, "--quiet"},
		{"report", filepath.Join(out, name, "latest"), "--out", page, "--figures", figures},
		{"run", played, "--out", out, "--quiet"},
		{"trace", filepath.Join(out, figure, "latest"), "--trial", "1", "--html", "--out", trial},
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
	drawing, err := os.ReadFile(filepath.Join(figures, "messages_per_election-nodes.svg"))
	if err != nil {
		return err
	}
	if err := save(images, "figure.svg", drawing); err != nil {
		return err
	}
	ctx, end := browser()
	defer end()
	for _, s := range []struct{ page, name, prepare, part string }{
		{page, "report-light.png", "0", "section#figures"},
		{page, "report-dark.png", "document.getElementById('theme').click()", "section#cells"},
		{trial, "trial-light.png", "document.getElementById('next-c').click()", "html > body"},
	} {
		if err := open(ctx, s.page, 1240, 900, "light"); err != nil {
			return err
		}
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](s.prepare)); err != nil {
			return err
		}
		if err := chromedp.Do(ctx, chromedp.Sleep(100*time.Millisecond), ready); err != nil {
			return err
		}
		picture, err := chromedp.Run(ctx, chromedp.Screenshot(s.part))
		if err != nil {
			return err
		}
		if err := save(images, s.name, picture); err != nil {
			return err
		}
	}
	return nil
}

// views takes the whole of each page.
func views(dir string, pages []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ctx, end := browser()
	defer end()
	for _, page := range pages {
		page, err := filepath.Abs(page)
		if err != nil {
			return err
		}
		for _, width := range []int64{1440, 390} {
			for _, theme := range []string{"light", "dark"} {
				if err := open(ctx, page, width, 900, theme); err != nil {
					return err
				}
				height, err := chromedp.Run(ctx,
					chromedp.Evaluate[int64]("document.documentElement.scrollHeight"))
				if err != nil {
					return err
				}
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height)); err != nil {
					return err
				}
				picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
				if err != nil {
					return err
				}
				base := strings.TrimSuffix(filepath.Base(page), filepath.Ext(page))
				file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", base, width, theme))
				if err := os.WriteFile(file, picture, 0o644); err != nil {
					return err
				}
				fmt.Println(file)
			}
		}
	}
	return nil
}

// ready: the charts of a report are drawn, or a trial is open.
var ready = chromedp.WaitReady("html[data-drawn], html[data-opened]")

func browser() (context.Context, func()) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("hide-scrollbars", true))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(ctx)
	return ctx, func() { end(); stop() }
}

func open(ctx context.Context, page string, width, height int64, theme string) error {
	look := func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
		return chromedp.Void{}, err
	}
	return chromedp.Do(ctx, chromedp.EmulateViewport(width, height), chromedp.Action[chromedp.Void](look),
		chromedp.Navigate("file://"+page), ready, chromedp.Sleep(100*time.Millisecond), ready)
}

func save(dir, name string, picture []byte) error {
	if len(picture) > largest {
		return fmt.Errorf("%s has %d bytes, and the limit is %d: show less", name, len(picture), largest)
	}
	fmt.Printf("%s: %d bytes\n", filepath.Join(dir, name), len(picture))
	return os.WriteFile(filepath.Join(dir, name), picture, 0o644)
}
