package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// Commands is the tree of the commands of bench, with their texts and flags: for documents. It is not to
// be executed.
func Commands() *cobra.Command { return newStreams(nil, io.Discard, io.Discard, nil).root(nil) }

// NodeHelp is what "node --help" prints.
func NodeHelp() string { return nodeHelp }
