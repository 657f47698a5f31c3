// SPDX-License-Identifier: Apache-2.0

package gen

// File is one generated file. Path is relative to the backend's output directory and uses slashes.
type File struct {
	Path string
	Data []byte
}
