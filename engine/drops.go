// SPDX-License-Identifier: Apache-2.0

package engine

// Drop is a reason for which a datagram of a peer was dropped. A peer cannot make our calls fail: it moves a counter.
//
//mr:req MR-ERR-006
type Drop uint8

// The reasons.
const (
	DropMalformed  Drop = iota // the codec refuses it
	DropChecksum               // the CRC is wrong
	DropVersion                // another wire version
	DropSecure                 // sealed: the secure profile is not spoken here
	DropUnknownTag             // no connection has this tag
	DropAddress                // not from the peer's address
	DropPhase                  // the connection's phase does not expect it
	DropPath                   // path id beyond the negotiated number
	DropCopy                   // the network made a copy
	DropWindow                 // PSN beyond the window
	DropLimit                  // message or chunk beyond a negotiated limit
	DropAck                    // feedback on what was never sent
	DropNotice                 // a notice that names nothing outstanding
	DropCookie                 // the cookie is not ours, or too old
	DropSmall                  // an OPEN below the least size
	DropParameter              // a mandatory parameter is missing or impossible
	DropQueue                  // a bounded queue of answers was full
	// DropReasons is the number of reasons.
	DropReasons = iota
)

var dropNames = [DropReasons]string{
	"malformed", "checksum", "version", "secure", "unknown_tag", "address", "phase", "path", "copy", "window", "limit",
	"ack", "notice", "cookie", "small", "parameter", "queue",
}

func (d Drop) String() string {
	if int(d) < len(dropNames) {
		return dropNames[d]
	}
	return "unknown"
}
