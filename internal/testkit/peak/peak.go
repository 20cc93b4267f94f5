// Package peak measures the peak memory of a program in a test. getrusage does not help on Linux: it adds the
// memory of the starting test to the peak of the program.
package peak

import (
	"fmt"
	"os"
	"strings"
)

// File is the environment variable with the file into which a program writes its peak.
const File = "GRAFT_TEST_PEAK"

// Note writes the peak of this program into the file that the environment names, if any.
func Note() error {
	name := os.Getenv(File)
	if name == "" {
		return nil
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	return os.WriteFile(name, status, 0o600)
}

// Read returns the KiB that a program wrote into a file, or those of this program for /proc/self/status.
func Read(name string) (int, error) {
	status, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kibibytes := 0
	if _, err := fmt.Sscan(after, &kibibytes); err != nil {
		return 0, fmt.Errorf("reading the peak in %s: %w", name, err)
	}
	return kibibytes, nil
}
