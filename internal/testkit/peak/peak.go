// Package peak measures the most memory that a program of a test uses. On Linux, getrusage is no help: it
// counts the memory of the test that starts a program to the peak of that program.
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
