// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"io"
)

// Print writes the report for people.
func (r *Report) Print(w io.Writer) {
	for _, c := range r.Changes {
		fmt.Fprintf(w, "%-6s %s: %s\n", c.Class, c.Where, c.What)
	}
	if r.Verdict == "" {
		fmt.Fprintf(w, "no change; %d packets read\n", r.Compared)
		return
	}
	for _, d := range r.Directions {
		verdict := "no packet found that breaks it"
		if d.Breaks {
			verdict = "breaks"
		}
		fmt.Fprintf(w, "%s reader, %s writer: %s\n", d.Reader, d.Writer, verdict)
		d.Witness.print(w)
	}
	if r.Grew != nil && !r.shows(r.Grew) {
		fmt.Fprintln(w, "only the new schema accepts:")
		r.Grew.print(w)
	}
	if r.Shrank != nil && !r.shows(r.Shrank) {
		fmt.Fprintln(w, "only the old schema accepts:")
		r.Shrank.print(w)
	}
	fmt.Fprintf(w, "%s change; %d packets read\n", r.Verdict, r.Compared)
}

// shows tells whether a direction has this very witness.
func (r *Report) shows(w *Witness) bool {
	for _, d := range r.Directions {
		if d.Witness != nil && d.Witness.Hex == w.Hex {
			return true
		}
	}
	return false
}

func (w *Witness) print(out io.Writer) {
	if w == nil {
		return
	}
	fmt.Fprintf(out, "  %s, vector %s:\n", w.Packet, w.ID)
	for i := 0; i < len(w.Hex); i += 64 {
		fmt.Fprintf(out, "    %s\n", w.Hex[i:min(i+64, len(w.Hex))])
	}
	fmt.Fprintf(out, "    old %s\n    new %s\n", w.Old, w.New)
}
