package guard

import "fmt"

// mostFiles is how many files a process may have open that runs one trial at a time, those of a plugin
// among them. It has a dozen itself, without connections to others. Linux has room for one more than these
// in every process; to look for a higher number would have it make more room, for which it holds the process
// up for 10 ms.
const mostFiles = 63

// Files says whether a plugin has left many files open in this process, which has so many connections of its
// own. It costs two system calls.
func Files(connections int) error {
	most := mostFiles + connections
	if spareFile(most) == most {
		return nil
	}
	return fmt.Errorf("it has left more than %d files open", most)
}
