// SPDX-License-Identifier: Apache-2.0

package engine

// Pump moves datagrams between an Endpoint and a Port: the one loop that simulator and sockets share.
type Pump struct {
	Endpoint *Endpoint
	Port     Port
	out      []Datagram
}

// Turn takes in what has arrived, lets time pass, and sends what is due. The driver calls it again at wake,
// when datagrams arrive, or after it has called the Endpoint; wake == now means that more can be sent at once.
func (u *Pump) Turn(now Time) (wake Time, err error) {
	in, err := u.Port.Receive()
	for i := range in {
		u.Endpoint.HandleDatagram(now, in[i])
	}
	if err != nil {
		return now, err
	}
	u.Endpoint.Advance(now)
	buffers := u.Port.Buffers()
	u.out = u.out[:0]
	for _, buffer := range buffers {
		d, ok := u.Endpoint.NextDatagram(now, buffer)
		if !ok {
			break
		}
		u.out = append(u.out, d)
	}
	if len(u.out) > 0 {
		if err := u.Port.Send(u.out); err != nil {
			return now, err
		}
	}
	if len(buffers) > 0 && len(u.out) == len(buffers) {
		return now, nil
	}
	return u.Endpoint.NextTimeout(), nil
}
