package guard

import "fmt"

// mostFiles is how many files a process may have open that runs one trial at a time, those of a plugin
// among them. It has a dozen itself. Linux has room for one more than these in every process; to look
// for a higher number would have it make more room, for which it holds the process up for 10 ms.
const mostFiles = 63

// Files says whether a plugin has left many files open in this process. It costs two system calls.
func Files() error {
	if spareFile(mostFiles) == mostFiles {
		return nil
	}
	return fmt.Errorf("it has left more than %d files open", mostFiles)
}
