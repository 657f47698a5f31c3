-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

local Proto, ProtoField, ProtoExpert, Dissector, DissectorTable = Proto, ProtoField, ProtoExpert, Dissector, DissectorTable
local Pref, UInt64, Int64, base, expert, frametype, bit, ftypes = Pref, UInt64, Int64, base, expert, frametype, bit, ftypes
local ENC_UTF_8, pcall = ENC_UTF_8, pcall
local byte, find, format, rep, reverse, sub = string.byte, string.find, string.format, string.rep, string.reverse, string.sub
local ceil, floor, huge, min = math.ceil, math.floor, math.huge, math.min
local ZERO = rep("\0", 8)

local proto = Proto(PROTO, TITLE)

-- The packet that is being decoded. Offsets count from its first byte and start at 0.
local tvb           -- its bytes, for tree items
local s = ""        -- the first of them, for values
local held = 0      -- how many s holds
local cap = 0       -- how many were captured
local visible       -- whether someone reads the tree, so that labels pay
local reserved      -- preference: show reserved bits
local summing      -- whether checksum fields are noted
local sum_n, sum_id, sum_at, sum_item = 0, {}, {}, {} -- checksum fields met: number in SUMS, offset; tree item by offset

local values = {}   -- names of enum numbers
local enum = {}     -- enum numbers by name
local const = {}    -- constants of the schema
local F, H = {}, {} -- fields of items, and of whole headers
local A, D = {}, {} -- A.x(t, o) adds a header of fixed size; D.x(o, stop, t, ...) decodes
local ALL, SOME = {}, {} -- whether a struct belongs in the tree, by name: true, or of simple headers the parts that somebody asked for
local W = ALL       -- one of the two
local P = {}        -- the parts of simple headers: field, first byte, number of bytes
local L = {}        -- lists of type, length and value
local hook = {}     -- what the analysis wants to see of headers, by name
local life = {}     -- and of packets: finish(tree, t, frame, pinfo) with the info column as result, mark() to tell packets apart

local fields, experts = {}, {}

local function field(f)
  fields[#fields + 1] = f
  return f
end

local function expert_item(e)
  experts[#experts + 1] = e
  return e
end

-- An error is nil, its code, the path of the offending item and that item's offset. Code 0 says that the capture ends.
local function short(real, path, o)
  return nil, real and 1 or 0, path, o
end

local function inside(path, rest)
  if rest == "" then return path end
  return path .. "." .. rest
end

-- Makes s hold all that was captured; returns whether that reaches up to e.
local function fetch(e)
  if held < cap then s, held = tvb:raw(), cap end
  return e <= cap
end

-- The captured part of the bytes from o up to e.
local function range(o, e)
  local from = min(o, cap)
  return tvb(from, min(e, cap) - from)
end

-- Adds only some parts of a simple header.
local function some(t, o, parts)
  for i = 1, #parts do
    local p = parts[i]
    t:add(p[1], tvb(o + p[2], p[3]))
  end
end

-- Whether all bytes from o up to e are zero, as far as they were captured.
local function blank(o, e)
  if e > held then fetch(e) end
  local at = find(s, "[^\0]", o + 1)
  return not at or at > e
end

-- Whether the bytes from o up to e are UTF-8: shortest form, no surrogates, at most U+10FFFF.
local function utf8(o, e)
  if e > held and not fetch(e) then return true end
  local text = sub(s, o + 1, e)
  local i = find(text, "[\128-\255]")
  while i do
    local a, b, c, d = byte(text, i, i + 3)
    local size = a >= 0xc2 and a <= 0xdf and 2 or a >= 0xe0 and a <= 0xef and 3 or a >= 0xf0 and a <= 0xf4 and 4
    if not size or #text < i + size - 1 then return false end
    local low = a == 0xe0 and 0xa0 or a == 0xf0 and 0x90 or 0x80
    local high = a == 0xed and 0x9f or a == 0xf4 and 0x8f or 0xbf
    if b < low or b > high then return false end
    if size >= 3 and (c < 0x80 or c > 0xbf) then return false end
    if size == 4 and (d < 0x80 or d > 0xbf) then return false end
    i = find(text, "[\128-\255]", i + size)
  end
  return true
end

-- Bit vectors are strings here: bit i is bit 0x80 >> i % 8 of byte i / 8.
local function any(bits)
  return find(bits, "[^\0]") ~= nil
end

local function test(bits, i)
  local b = byte(bits, floor(i / 8) + 1)
  return b ~= nil and b % 2 ^ (8 - i % 8) >= 2 ^ (7 - i % 8)
end

-- Calls each(i) for every clear bit before the last set one; returns the runs of clear bits and the number of set ones.
local function gaps(bits, each)
  local runs, set, i, last, open = 0, 0, 0, #bits, false
  while last > 0 and byte(bits, last) == 0 do last = last - 1 end
  local missing, held = {}, 0
  for k = 1, last do
    local b = byte(bits, k)
    for power = 7, 0, -1 do
      if b >= 2 ^ power then
        b = b - 2 ^ power
        set = set + 1
        if open then runs = runs + 1 end
        open = false
        for m = 1, held do each(missing[m]) end
        held = 0
      else
        open = true
        held = held + 1
        missing[held] = i
      end
      i = i + 1
    end
  end
  return runs, set
end

-- Shows what the bits of a vector mean: bit i stands for first + i.
local function vector(item, o, size, first, modulus, f_missing, f_gaps)
  if o + size > held then fetch(o + size) end
  local runs, set = gaps(sub(s, o + 1, o + size), function(i)
    item:add(f_missing, tvb(o + floor(i / 8), 1), (first + i) % modulus):set_generated()
  end)
  item:add(f_gaps, tvb(o, size), runs):set_generated()
  if visible then item:append_text(format(": base %d, %d set, %d gaps", first, set, runs)) end
end

-- Arithmetic as in the schema: division truncates toward zero.
local function quo(a, b)
  local r = (a < 0 and -a or a) % (b < 0 and -b or b)
  if a < 0 then r = -r end
  return (a - r) / b
end

local function rem(a, b)
  local r = (a < 0 and -a or a) % (b < 0 and -b or b)
  return a < 0 and -r or r
end

local function halves(op, a, b)
  local low = op(a % 4294967296, b % 4294967296) % 4294967296
  return op(floor(a / 4294967296), floor(b / 4294967296)) * 4294967296 + low
end

local function band(a, b) return halves(bit.band, a, b) end
local function bor(a, b) return halves(bit.bor, a, b) end
local function bxor(a, b) return halves(bit.bxor, a, b) end

-- Reads v, taken modulo a power of two, as two's complement.
local function extend(v, modulus)
  return v >= modulus / 2 and v - modulus or v
end

-- The same for a number of up to 8 bytes in a string: returns all 8.
local function padded(raw, bits, signed)
  local v = UInt64.decode(rep("\0", 8 - #raw) .. raw, false)
  if signed then v = Int64.decode(v:encode(false), false):lshift(64 - bits):arshift(64 - bits) end
  return v:encode(false)
end

-- The name of an enum number.
local function nameof(names, n)
  if names[n] and type(names[n]) == "string" then return names[n] end
  for _, r in ipairs(names) do
    if type(r) == "table" and n >= r[1] and n <= r[2] then return r[3] end
  end
  return format("%d", n)
end
