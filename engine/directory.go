// SPDX-License-Identifier: Apache-2.0

package engine

// directory finds the streams of a connection in one direction. Ids that are in use together share a page.
type directory[T any] struct {
	pages []*[pageIDs]*T // nil where no id is in use
	list  []*T           // in the order of their making
}

// pageIDs is the number of ids of a page.
const pageIDs = 16

// get returns a stream, or nil.
func (d *directory[T]) get(id uint16) *T {
	if n := int(id / pageIDs); n < len(d.pages) && d.pages[n] != nil {
		return d.pages[n][id%pageIDs]
	}
	return nil
}

// add enters a stream under an id that is free.
func (d *directory[T]) add(id uint16, s *T) {
	for len(d.pages) <= int(id/pageIDs) {
		d.pages = append(d.pages, nil)
	}
	page := &d.pages[id/pageIDs]
	if *page == nil {
		*page = new([pageIDs]*T)
	}
	(*page)[id%pageIDs] = s
	d.list = append(d.list, s)
}
