// SPDX-License-Identifier: Apache-2.0

package cgen

import "testing"

func features(t testing.TB) string { return sdk(t) }
