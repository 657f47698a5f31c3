-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

-- Whether the bytes from o up to e are ASCII.
local function ascii(o, e)
  if e > held and not fetch(e) then return true end
  return find(sub(s, o + 1, e), "[\128-\255]") == nil
end

-- Whether nothing but NULs follows the first NUL of the bytes from o up to e.
local function padded(o, e)
  if e > held and not fetch(e) then return true end
  local at = find(sub(s, o + 1, e), "\0", 1, true)
  return not at or blank(o + at - 1, e)
end
