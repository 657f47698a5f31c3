-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

local max, char = math.max, string.char
local sum_cover = {} -- what the checksum fields met cover, by their place in sum_id; nil = something that only a caller knows

-- The Internet checksum: an odd last byte is followed by a zero.
local function ones(text)
  local v = #text % 2 == 1 and byte(text, #text) * 256 or 0
  for i = 1, #text - 1, 2 do
    local a, b = byte(text, i, i + 1)
    v = v + a * 256 + b
  end
  while v > 65535 do v = v % 65536 + floor(v / 65536) end
  return 65535 - v
end

-- Makes a function over the packet's first bytes one over any text.
local function over(of)
  return function(text)
    local keep = s
    s = text
    local v = of(#text)
    s = keep
    return v
  end
end

-- Sets those of the bits from a up to z that lie within text; fill is 0 or 255.
local function masked(text, a, z, fill)
  local i, last = max(floor(a / 8), 0), min(ceil(z / 8), #text)
  while i < last do
    local high = a > 8 * i and 2 ^ (8 * i + 8 - a) or 256    -- bits below this weight are at or behind a
    local low = z < 8 * i + 8 and 2 ^ (8 * i + 8 - z) or 1   -- bits from this weight on are before z
    local b = byte(text, i + 1)
    local keep = b - b % high + b % low
    text = sub(text, 1, i) .. char(keep + (fill == 255 and high - low or 0)) .. sub(text, i + 2)
    i = i + 1
  end
  return text
end

-- The bytes that the checksum f at the offset at covers; nil when the capture lacks some of them or a parameter does.
-- A part is a text, or { first byte, end, and per mask: first bit, end, fill }; bits count from the packet's start.
local function covered(f, at, parts)
  if f.before then return fetch(at) and sub(s, 1, at) end
  local text = parts and ""
  for _, p in ipairs(parts or {}) do
    if type(p) == "table" then
      if not fetch(p[2]) then return nil end
      local from, bytes = 8 * p[1], sub(s, p[1] + 1, p[2])
      bytes = masked(bytes, 8 * at - from, 8 * (at + f.size) - from, 0)
      for i = 3, #p, 3 do bytes = masked(bytes, p[i] - from, p[i + 1] - from, p[i + 2]) end
      p = bytes
    end
    text = text .. p
  end
  return text
end
