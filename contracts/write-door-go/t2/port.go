// Package port reads TCP ports.
package port

import (
	"fmt"
	"strconv"
)

// ParsePort reads a TCP port from its decimal text. A port is a whole number in 1..65535.
//
// It gives an error for a text that is no whole number, and for a number that is no port.
func ParsePort(text string) (int, error) {
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("port %q is not a number", text)
	}
	if port < 1 {
		return 0, fmt.Errorf("port %d is out of range 1..65535", port)
	}
	return port, nil
}
