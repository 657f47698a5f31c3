package proof

import (
	"os"
	"testing"
)

func TestZDump(t *testing.T) {
	n := positive(t, os.Getenv("N"))
	os.WriteFile("/tmp/proof/z.mrs", []byte(drawn(t, n)), 0o644)
}
