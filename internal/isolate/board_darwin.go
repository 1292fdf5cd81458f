package isolate

import "os"

// nameless is a file that is gone when nobody has it open any more.
func nameless() (*os.File, error) {
	f, err := os.CreateTemp("", "bench-board-")
	if err == nil {
		err = os.Remove(f.Name())
	}
	return f, err
}
