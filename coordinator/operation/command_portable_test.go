//go:build !linux

package operation_test

func runAsVictim() bool { return false }
