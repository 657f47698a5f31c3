// SPDX-License-Identifier: Apache-2.0

package gen

// KeyItems are the items of the head that make up the list's key.
func (l *List) KeyItems() []*Item {
	if l.Keys != nil {
		return l.Keys
	}
	return []*Item{l.Key}
}

// KeyRanges are the keys of the case, each with one range for each item of the key.
func (c *Case) KeyRanges() [][]Range {
	if c.Keys != nil {
		return c.Keys
	}
	return [][]Range{{{First: c.Key, Last: c.Key}}}
}
