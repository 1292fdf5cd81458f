package browser

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// SHOTS="url|width|height|theme|out|js;..."
func TestZZShot(t *testing.T) {
	for _, one := range strings.Split(os.Getenv("SHOTS"), ";") {
		f := strings.Split(one, "|")
		w, _ := strconv.Atoi(f[1])
		h, _ := strconv.Atoi(f[2])
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(find(t)), chromedp.NoSandbox,
			chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(w, h), chromedp.Flag("hide-scrollbars", w < 600))
		ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
		ctx, close := chromedp.NewContext(ctx)
		messages := chromedp.Console(ctx)
		go func() {
			for m, err := range messages {
				if err != nil {
					return
				}
				t.Errorf("console: %s", m)
			}
		}()
		c, cancel := context.WithTimeout(ctx, 20*time.Second)
		if err := chromedp.Do(c, chromedp.EmulateViewport(int64(w), int64(h)), chromedp.Navigate(f[0]), chromedp.WaitReady("html[data-opened], html[data-drawn]")); err != nil {
			t.Error(err)
		} else {
			if f[3] == "dark" {
				chromedp.Run(c, chromedp.Evaluate[any]("document.getElementById('theme').click()"))
			}
			if len(f) > 5 {
				v, err := chromedp.Run(c, chromedp.Evaluate[any](f[5]))
				t.Log(v, err)
			}
			chromedp.Do(c, chromedp.Sleep(400*time.Millisecond))
			v, _ := chromedp.Run(c, chromedp.Evaluate[any]("document.documentElement.dataset.opened + \" took \" + document.documentElement.dataset.took"))
			t.Log("opened", v)
			p, err := chromedp.Run(c, chromedp.CaptureScreenshot())
			if err != nil {
				t.Error(err)
			}
			os.WriteFile(f[4], p, 0o644)
		}
		cancel()
		close()
		stop()
	}
}
