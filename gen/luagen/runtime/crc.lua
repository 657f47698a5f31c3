-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

local SUM_STATUS = { [0] = "Bad", [1] = "Good", [2] = "Unverified" }

-- Exclusive or of 32-bit numbers. The bit library comes with Wireshark; where it does not, the language has an operator.
local xor = bit and bit.bxor or load([[
  local function xor(a, b, ...)
    if b then return xor(a ~ b, ...) end
    return a
  end
  return xor
]])()

local function mirror(v, bits)
  local m = 0
  for _ = 1, bits do
    local low = v % 2
    m, v = m * 2 + low, (v - low) / 2
  end
  return m
end

-- Tables T[k][b]: what byte b adds when k more bytes follow; least significant bit first.
local function mirrored_tables(spec)
  local poly, T = mirror(spec.poly, spec.width), {}
  for k = 0, 15 do
    T[k] = {}
    for b = 0, 255 do
      local v = b
      if k > 0 then
        v = T[k - 1][b]
        v = xor(T[0][v % 256], floor(v / 256)) % 4294967296
      else
        for _ = 1, 8 do v = v % 2 == 1 and xor((v - 1) / 2, poly) % 4294967296 or v / 2 end
      end
      T[k][b] = v
    end
  end
  return T
end

local function mirrored(spec)
  local T = mirrored_tables(spec)
  local T0, T1, T2, T3, T4, T5, T6, T7 = T[0], T[1], T[2], T[3], T[4], T[5], T[6], T[7]
  local T8, T9, TA, TB, TC, TD, TE, TF = T[8], T[9], T[10], T[11], T[12], T[13], T[14], T[15]
  local start = mirror(spec.init, spec.width)
  return function(n)
    local v, i = start, 1
    while i + 15 <= n do
      local a, b, c, d, e, f, g, h, j, k, l, m, o, p, q, r = byte(s, i, i + 15)
      v = xor(v, a + b * 256 + c * 65536 + d * 16777216)
      a = v % 256
      v = (v - a) / 256
      b = v % 256
      v = (v - b) / 256
      c = v % 256
      d = (v - c) / 256 % 256
      v = xor(TF[a], TE[b], TD[c], TC[d], TB[e], TA[f], T9[g], T8[h], T7[j], T6[k], T5[l], T4[m], T3[o], T2[p], T1[q], T0[r])
      i = i + 16
    end
    v = v % 4294967296
    while i <= n do
      local low = v % 256
      v = xor(T0[xor(low, byte(s, i))], (v - low) / 256) % 4294967296
      i = i + 1
    end
    return spec.reflect_out and v or mirror(v, spec.width)
  end
end

-- Most significant bit first; the register stands at the left of 32 bits.
local function straight(spec)
  local shift, T = 2 ^ (32 - spec.width), {}
  local poly = spec.poly * shift
  for b = 0, 255 do
    local v = b * 16777216
    for _ = 1, 8 do v = v >= 2147483648 and xor(v * 2 % 4294967296, poly) % 4294967296 or v * 2 end
    T[b] = v
  end
  return function(n)
    local v = spec.init * shift
    for i = 1, n do
      local low = v % 16777216
      v = xor(T[xor((v - low) / 16777216, byte(s, i))], low * 256) % 4294967296
    end
    v = v / shift
    return spec.reflect_out and mirror(v, spec.width) or v
  end
end

-- Returns the function that computes the CRC of the packet's first n bytes. Tables are made when it is first used.
local function crc(spec)
  local of
  return function(n)
    of = of or (spec.reflect_in and mirrored or straight)(spec)
    return xor(of(n), spec.xorout) % 2 ^ spec.width
  end
end
