// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"io"
	"os"
)

// ReadFile reads a source, but not more of it than tells that it is too large.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSource+1))
}
