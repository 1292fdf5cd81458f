//go:build !linux

// Command relay is a network with delays, on Linux alone.
package main

func main() {}
