// SPDX-License-Identifier: Apache-2.0

// Package fuzz holds fuzz targets that cross packages: they see public APIs only, and take their seeds from the vectors
// that every language replays.
package fuzz
