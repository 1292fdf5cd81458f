package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/commands/reproduce"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestReproduced: docs/evidence/reproduced.md is what bench reproduce prints. By day the studies
// that are short as they are have to be, and every statement has to be there; by night
// all of it.
func TestReproduced(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	written, err := os.ReadFile(filepath.Join(p.dir, "docs", "evidence", "reproduced.md"))
	must(t, err)
	page := string(written)
	papers := filepath.Join(p.dir, "configs", "papers")
	names, err := reproduce.Names(papers)
	must(t, err)
	var short []string
	for _, name := range names {
		s, err := reproduce.Load(papers, name)
		must(t, err)
		if s.Quick == nil {
			short = append(short, name)
		}
		for _, st := range s.Statements {
			if !strings.Contains(page, `*"`+st.Says+`"*`) {
				t.Errorf("docs/evidence/reproduced.md: %s does not say %q: make reproduce", name, st.Says)
			}
		}
	}
	if slowtest.Night() {
		if printed := p.markdown(); printed != page {
			t.Error("docs/evidence/reproduced.md is not what bench reproduce prints: make reproduce")
		}
		return
	}
	sections := strings.Split(p.markdown(short...), "\n## ")[1:]
	if len(sections) != len(short) || len(short) == 0 {
		t.Fatalf("%d sections of %d studies", len(sections), len(short))
	}
	for _, section := range sections {
		table := section[:strings.LastIndex(section, "|")]
		if !strings.Contains(page, "\n## "+table) {
			t.Errorf("docs/evidence/reproduced.md has other figures than this: make reproduce\n%s", table)
		}
	}
}

// markdown is what bench reproduce prints of some studies, or of all.
func (p *place) markdown(names ...string) string {
	p.t.Helper()
	exe, err := os.Executable()
	must(p.t, err)
	bench := filepath.Join(p.t.TempDir(), "bench")
	must(p.t, os.Symlink(exe, bench))
	cmd := exec.CommandContext(p.t.Context(), bench, append([]string{"reproduce", "--markdown"}, names...)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("bench reproduce: %v\n%s", err, &errs)
	}
	return out.String()
}
