-- SPDX-License-Identifier: Apache-2.0

-- As much of Wireshark's interface as the dissector needs to check packets without a tree, for Lua 5.3 and later.
-- Usage: lua5.4 stub.lua dissector.lua < packets. Each line of the input is a packet in hex; each line of the output is
-- the filter of its first expert item, or "ok".

local anything
anything = setmetatable({}, { __index = function() return anything end, __call = function() return anything end })

ProtoField, Pref, frametype, ftypes = anything, anything, anything, anything
base = setmetatable({}, { __index = function() return 0 end })
expert = { group = anything, severity = anything }
ENC_UTF_8 = 0
ProtoExpert = { new = function(name) return name end }
local function table_stub()
  return { add = function() end, remove = function() end, add_for_decode_as = function() end, get_dissector = function() end }
end
DissectorTable = { get = table_stub, new = table_stub }
Dissector = { get = function() return {} end }
package.loaded.bit = nil

local word = {}
word.__index = word
local function new(v) return setmetatable({ v = v }, word) end
function word.new(low, high) return new((high or 0) << 32 | low) end
function word.decode(raw) return new((string.unpack(">i8", raw))) end
function word:encode() return string.pack(">i8", self.v) end
function word:tonumber() return self.v end
function word:band(o) return new(self.v & o.v) end
function word:lshift(n) return new(self.v << n) end
function word:arshift(n) return new(self.v >> n | (self.v < 0 and n > 0 and ~(-1 >> n) or 0)) end
function word.__mod(a, b) return new(math.ult(a.v, 0) and a.v or a.v % b.v) end
function word.__eq(a, b) return a.v == b.v end
function word.__le(a, b) return not math.ult(b.v, a.v) end
function word.__lt(a, b) return math.ult(a.v, b.v) end
UInt64, Int64 = word, word

local proto
function Proto()
  if proto then return {} end -- the first one is asked
  proto = { prefs = { crc = 2, port = 4797, reserved = false } }
  return setmetatable({}, {
    __newindex = function(_, k, v) proto[k] = v end,
    __index = function(_, k)
      -- What the dissector registers stays as it is set above.
      if k == "prefs" then return setmetatable({}, { __newindex = function() end, __index = proto.prefs }) end
      return proto[k]
    end,
  })
end

local buffer = {}
buffer.__index = buffer
function buffer:len() return #self.bytes end
buffer.reported_len = buffer.len
buffer.__call = function(b, o, n) return setmetatable({ bytes = b.bytes:sub((o or 0) + 1, n and o + n or -1) }, buffer) end
function buffer:tvb() return self end
function buffer:raw(o, n) return self.bytes:sub((o or 0) + 1, n and o + n or -1) end

assert(loadfile(arg[1]))()
proto.prefs_changed()
if proto.init then proto.init() end
local frame = 0
for line in io.lines() do
  local bytes = line:gsub("%x%x", function(h) return string.char(tonumber(h, 16)) end)
  local found
  local tree = { referenced = function() return false end, add_proto_expert_info = function(_, e) found = found or e end }
  frame = frame + 1
  proto.dissector(setmetatable({ bytes = bytes }, buffer), { cols = {}, number = frame, visited = false }, tree)
  print(found or "ok")
end
