// Screenshots makes the pictures of the report and of a trial's page in docs/images anew, from
// runs that it does itself, and the figure beside them; or it takes whole pages, to look at: each
// wide and narrow, light and dark. It needs Chromium or Chrome:
//
//	go run ./scripts/screenshots
//	go run ./scripts/screenshots DIR PAGE...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	largest = 300_000 // bytes of a picture
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
	if err := bench([][]string{
		{"run", config, "--transport", "sim", "--out", out, "--quiet"},
		{"report", filepath.Join(out, name, "latest"), "--out", page, "--figures", figures},
		{"run", played, "--out", out, "--quiet"},
		{"trace", filepath.Join(out, figure, "latest"), "--trial", "1", "--html", "--out", trial},
	}); err != nil {
		return err
	}
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	drawing, err := os.ReadFile(filepath.Join(figures, "messages_per_election-nodes.svg"))
	if err != nil {
		return err
	}
	if err := save(images, "messages.svg", drawing); err != nil {
		return err
	}
	if err := readme(out); err != nil {
		return err
	}
	trends, err := history(out)
	if err != nil {
		return err
	}
	ctx, end := browser()
	defer end()
	for _, s := range []struct{ page, name, prepare, part, theme string }{
		{page, "report-light.png", "0", "section#figures", "light"},
		{page, "report-dark.png", "0", "section#figures", "dark"},
		{trial, "trial-light.png", "document.getElementById('next-c').click()", "html > body", "light"},
		{trial, "trial-dark.png", "document.getElementById('next-c').click()", "html > body", "dark"},
		{trends, "history-light.png", "0", "section#series", "light"},
		{trends, "history-dark.png", "0", "section#series", "dark"},
	} {
		if err := open(ctx, s.page, 1240, 900, s.theme); err != nil {
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

// bench runs the command, once for each line of arguments.
func bench(lines [][]string) error {
	for _, args := range lines {
		cmd := exec.Command("go", append([]string{"run", "./cmd/bench"}, args...)...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("bench %v: %w", args, err)
		}
	}
	return nil
}

// changes are the commits of a made-up program, and how fast its failure detector is in each.
var changes = [][2]string{{"first version", "10ms"}, {"comments", "10ms"}, {"rename a variable", "10ms"},
	{"detector: wait for a second sign", "13ms"}, {"documentation", "13ms"}, {"more tests", "13ms"}}

// history makes a page of trends, of runs at commits of a repository that it makes up.
func history(out string) (page string, err error) {
	dir := filepath.Join(out, "repository")
	program, file := filepath.Join(out, "bench"), filepath.Join(dir, "ci.yaml")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	text, err := os.ReadFile("configs/ci.yaml")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return "", err
	}
	run := func(in, name string, args ...string) {
		if err != nil {
			return
		}
		cmd := exec.Command(name, args...)
		cmd.Dir = in
		if printed, failed := cmd.CombinedOutput(); failed != nil {
			err = fmt.Errorf("%s %v: %w\n%s", name, args, failed, printed)
		}
	}
	run(".", "go", "build", "-o", program, "./cmd/bench")
	run(dir, "git", "init", "--quiet")
	run(dir, "git", "add", "ci.yaml")
	for i, c := range changes {
		run(dir, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet",
			"--allow-empty", "-m", c[0], "--date", fmt.Sprintf("2026-11-%02dT12:00:00Z", i+2))
		run(dir, program, "run", "ci.yaml", "--set", "detector.delay="+c[1], "--set", "sweep=[]",
			"--out", "results", "--quiet")
		run(dir, program, "history", "add", filepath.Join("results", "ci", "latest"), "--commit", "HEAD")
	}
	page = filepath.Join(dir, "trends.html")
	run(dir, program, "history", "report", "--out", page)
	return page, err
}

const served = "downtime_served_ms"

// readme makes the pictures of the README: two leaders in a diagram, beside downtime against nodes; and the
// figure of the experiment that it prints.
func readme(out string) error {
	text, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	_, block, _ := strings.Cut(string(text), "\n```yaml\n")
	block, _, found := strings.Cut(block, "\n```\n")
	file := filepath.Join(out, "readme.yaml")
	if !found {
		return errors.New("README.md has no experiment")
	}
	if err := os.WriteFile(file, []byte(block), 0o644); err != nil {
		return err
	}
	trial, left := filepath.Join(out, "two-leaders", "latest"), filepath.Join(out, "left.svg")
	if err := bench([][]string{
		{"run", "scripts/screenshots/two-leaders.yaml", "--out", out, "--quiet"},
		{"trace", trial, "--trial", "1", "--from", "20ms", "--to", "87ms", "--out", left},
		{"run", "scripts/screenshots/downtime.yaml", "--out", out, "--quiet"},
		{"report", filepath.Join(out, "same-detector", "latest"), "--out", filepath.Join(out, "a.html"),
			"--figures", filepath.Join(out, "right"), "--metrics", served},
		{"run", file, "--out", out, "--quiet"},
		{"report", filepath.Join(out, "bully-or-raft", "latest"), "--out", filepath.Join(out, "b.html"),
			"--figures", filepath.Join(out, "figure"), "--metrics", served},
	}); err != nil {
		return err
	}
	diagram, err := os.ReadFile(left)
	if err != nil {
		return err
	}
	chart, err := os.ReadFile(filepath.Join(out, "right", served+"-nodes.svg"))
	if err != nil {
		return err
	}
	figure, err := os.ReadFile(filepath.Join(out, "figure", served+"-nodes.svg"))
	if err != nil {
		return err
	}
	if err := save(images, "figure.svg", figure); err != nil {
		return err
	}
	const head = `<svg xmlns="http://www.w3.org/2000/svg" width="1050" height="262" viewBox="0 0 1050 262">` +
		`<rect width="1050" height="262" fill="#fff"/>`
	return save(images, "two-leaders.svg", []byte(head+placed(string(diagram), 0, 0, 680, 256)+
		placed(string(chart), 690, 14, 350, 227)+"</svg>\n"))
}

var (
	root = regexp.MustCompile(`(?s)^.*?<svg\b`)
	size = regexp.MustCompile(` (width|height)="[^"]*"`)
)

// placed is a drawing as a part of another.
func placed(svg string, x, y, width, height int) string {
	svg = root.ReplaceAllString(svg, "<svg")
	tag, rest, _ := strings.Cut(svg, ">")
	return size.ReplaceAllString(tag, "") + fmt.Sprintf(` x="%d" y="%d" width="%d" height="%d">`, x, y, width,
		height) + rest
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

// ready: the charts of a report are drawn, a trial is open, or the page needs no script to be whole.
var ready = chromedp.WaitReady("html[data-drawn], html[data-opened], html:has(main#main)")

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
