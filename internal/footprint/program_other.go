//go:build !linux

package footprint

func releaseProgram() {}
