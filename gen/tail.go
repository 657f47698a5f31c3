// SPDX-License-Identifier: Apache-2.0

package gen

// TailSize is the distance in bytes from an item's beginning to the end of the steps, when all behind it is of fixed size.
func TailSize(steps []Step, it *Item) (int, bool) {
	size := 0
	for i := len(steps) - 1; i >= 0; i-- {
		switch st := steps[i].(type) {
		case *Verify:
		case *Run:
			for _, p := range st.Parts {
				if p.Item == it {
					return size + st.Size - p.Bit/8, true
				}
			}
			size += st.Size
		case *Branch:
			for _, side := range [][]Step{st.Then, st.Else} {
				if n, ok := TailSize(side, it); ok {
					return size + n, true
				}
			}
			return 0, false
		default:
			return 0, false
		}
	}
	return 0, false
}
