// SPDX-License-Identifier: Apache-2.0

// Package v2 is the codec of the Precision Time Protocol (IEEE 1588-2019), printed from schema/examples/ptp.mrs.
package v2
