package search

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
)

// Vacant says why no script can be saved as out, the value of --out; nil: one can, or a name is found for it.
func Vacant(out string) error {
	if out == "" {
		return nil
	}
	if _, err := os.Lstat(out); err == nil {
		return answer.Mistaken("--out %s exists; name another file, or remove it", out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--out: %w", err)
	}
	if !strings.HasSuffix(out, ".yaml") && !strings.HasSuffix(out, ".yml") {
		return answer.Mistaken("--out %s, expected a file of type .yaml", out)
	}
	return nil
}

// Save writes a script into a file that does not exist yet: out, or if that is empty one that is called after
// name.
func Save(out, name string, script []byte) (path string, err error) {
	for number := 1; ; number++ {
		if path = out; path == "" {
			path = name + ".yaml"
			if number > 1 {
				path = fmt.Sprintf("%s-%d.yaml", name, number)
			}
		}
		err := files.Create(path, script)
		if errors.Is(err, fs.ErrExist) && out == "" {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("the script that was found cannot be saved: %w", err)
		}
		return path, nil
	}
}
