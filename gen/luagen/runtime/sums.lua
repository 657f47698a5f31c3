-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

local function sum8(text)
  local v = 0
  for i = 1, #text do v = (v + byte(text, i)) % 256 end
  return v
end

local function xor8(text)
  local v = 0
  for i = 1, #text do v = xor(v, byte(text, i)) end
  return v
end

local function fletcher(text)
  local low, high = 0, 0
  for i = 1, #text do
    low = (low + byte(text, i)) % 255
    high = (high + low) % 255
  end
  return high * 256 + low
end
