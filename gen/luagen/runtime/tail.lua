-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

local f_error = field(ProtoField.string(PROTO .. ".error", "Error", base.ASCII, "The first rule that the packet breaks"))
local f_path = field(ProtoField.string(PROTO .. ".error.path", "Item", base.ASCII, "The item that breaks it"))
local f_offset = field(ProtoField.uint32(PROTO .. ".error.offset", "Offset", base.DEC, nil, nil, "Where that item begins"))

for _, c in pairs(CODES) do
  local group = c.name == "E_CHECKSUM" and expert.group.CHECKSUM or expert.group.MALFORMED
  c.expert = expert_item(ProtoExpert.new(PROTO .. ".expert." .. c.name:lower(), c.text, group, expert.severity.ERROR))
end
local truncated = expert_item(ProtoExpert.new(PROTO .. ".expert.truncated", "the capture ends before the packet does",
  expert.group.UNDECODED, expert.severity.NOTE))

proto.fields = fields
proto.experts = experts

local NEVER, VISIBLE, ALWAYS = 0, 1, 2
if PORT > 0 then proto.prefs.port = Pref.uint("UDP port", PORT, "Datagrams to or from this port are " .. NAME .. "; 0 = none") end
if #SUMS > 0 then
  proto.prefs.crc = Pref.enum("Verify checksums", VISIBLE, "Visible means in the packet details or named by a filter; comparing costs time with large packets",
    { { 1, "Never", NEVER }, { 2, "When visible", VISIBLE }, { 3, "Always", ALWAYS } }, false)
end
proto.prefs.reserved = Pref.bool("Show reserved bits", false, "Show reserved bits that are as they should be")
proto.prefs.split = Pref.bool("Split aggregates", true,
  "Look for several packets in one long datagram, as captures on the sending host show them before segmentation offload")

-- Reports an error in the tree when there is one, and as an expert item in any case.
local function report(tree, t, code, path, at)
  if code == 0 then
    (t or tree):add_proto_expert_info(truncated)
    return
  end
  local c = CODES[code]
  local what = path == "" and c.text or path .. ": " .. c.text
  if not t then
    tree:add_proto_expert_info(c.expert, what)
    return
  end
  local item = t:add(f_error, range(at, at + 1), c.name):set_generated()
  item:add(f_path, path):set_generated()
  item:add(f_offset, at):set_generated()
  item:add_proto_expert_info(c.expert, what)
end

-- The number that a checksum field holds.
local function stored(f, at)
  local v = 0
  for i = 1, f.size do
    v = v * 256 + byte(s, at + (f.little and f.size + 1 - i or i))
  end
  return v
end

-- Compares every checksum field that the packet has; returns the first error.
local function verify(wanted)
  local code, path, where
  for i = 1, sum_n do
    local f, at = SUMS[sum_id[i]], sum_at[i]
    local status = 2
--@if cover
    local bytes = wanted and f.of and fetch(at + f.size) and covered(f, at, sum_cover[i])
    if bytes and not (f.zero_none and stored(f, at) == 0) then
      local want = f.of(bytes)
      if f.zero_none and want == 0 then want = 2 ^ (8 * f.size) - 1 end
      status = want == stored(f, at) and 1 or 0
--@else
    if wanted and f.of and fetch(at + f.size) then
      status = f.of(at) == stored(f, at) and 1 or 0
--@end
--@if deep
      if status == 0 and not code then code, path, where = 10, sum_path[i], at end
--@else
      if status == 0 and not code then code, path, where = 10, f.path, at end
--@end
    end
    if sum_item[at] then sum_item[at]:add(f.status, status):set_generated() end
  end
  return code, path, where
end

-- Lua's collector walks through all that every script of Wireshark has loaded, half a megabyte, and by default does so for each half a
-- megabyte of lines that were shown and forgotten. It may wait until the heap is ten times as large.
collectgarbage("setpause", 1000)

-- What is asked of every packet, found at the first one: methods and attributes held like this cost half.
local handle, len, reported_len, raw, referenced, number_of, columns_of, put
local crc_mode, always = VISIBLE, false -- preference: when to verify checksums; whether that is always
local FIRST = 128      -- bytes that are fetched of every packet; more only when they are looked at
local AGGREGATE = 2000 -- longer datagrams may hold several packets
local MAX_TRIES = 64   -- places to look for the second one
local split = true     -- preference: look for them

for name in pairs(INSIDE) do ALL[name] = true end

local sums_asked -- whether someone looks at the verdict on this packet's checksums
local sums_named -- whether a filter or column does

-- The parts of a simple header that a filter or column names; nil when it is not simple.
local function wanted_parts(name, tree)
  if not P[name] then return nil end
  local parts = {}
  for _, p in ipairs(P[name]) do
    if tree:referenced(p[1]) then parts[#parts + 1] = p end
  end
  return parts
end

-- Finds which structs have a field that a filter or column names.
local function survey(tree)
  local sums = tree:referenced(f_error)
  for _, f in ipairs(SUMS) do sums = sums or tree:referenced(f.status) end
  sums_named = sums
  for name in pairs(INSIDE) do
    local wanted = H[name] ~= nil and tree:referenced(H[name])
    for _, f in pairs(F[name]) do wanted = wanted or tree:referenced(f) end
    SOME[name] = wanted
  end
  local own = {}
  for name in pairs(INSIDE) do own[name] = SOME[name] end
  for name, inner in pairs(INSIDE) do
    for _, other in ipairs(inner) do SOME[name] = SOME[name] or own[other] end
    SOME[name] = SOME[name] and (wanted_parts(name, tree) or true)
  end
end

-- Chooses what the tree of a packet holds. Filters change only between passes over the capture, and a pass begins with
-- the lowest frame; so the survey is made anew when the frame number does not grow, or after a packet that was shown.
local last = huge
local function choose(tree, frame)
  visible = tree.visible
  if visible then
    W, last, sums_asked = ALL, huge, true
    return
  end
  if frame <= last then survey(tree) end
  W, last, sums_asked = SOME, frame, sums_named
end

-- The function behind an attribute; where Wireshark hides it, one that asks by name.
local function getter(object, name)
  local meta = getmetatable(object)
  local getters = type(meta) == "table" and rawget(meta, "__getters")
  return getters and getters[name] or function(o) return o[name] end
end

-- The function that sets a column's text.
local function setter(cols)
  local meta = getmetatable(cols)
  return type(meta) == "table" and rawget(meta, "__newindex") or function(c, name, text) c[name] = text end
end

local function hold(buf, pinfo, tree)
  len, reported_len, raw, referenced, handle = buf.len, buf.reported_len, buf.raw, tree.referenced, Dissector.get(PROTO)
  number_of, columns_of = getter(pinfo, "number"), getter(pinfo, "cols")
  put = setter(pinfo.cols)
end

-- A frame that was never seen before is looked at in the order of the capture, and nobody has opened it: when the one before needed no
-- tree, this one does not either. Filters and columns that are new begin with the frames that are known.
local seen = 0         -- the highest frame so far
local needed = true    -- whether the latest packet needed a tree

-- The packet's item in the tree; nil when nobody needs it.
local function item_of(buf, tree, frame)
  visible, sums_asked = false, false
  needed = referenced(tree, handle)
  summing = needed or always
  if not needed then return nil end
  local t = tree:add(proto, buf())
  choose(tree, frame)
  return t
end

-- Dissects one packet of whole bytes, of which at least one was captured; returns how many it uses, and its info.
local function dissect(buf, captured, whole, pinfo, tree, frame)
  local t
  if needed or frame <= seen then t = item_of(buf, tree, frame) end
  if frame > seen then seen = frame end
  tvb, cap, held = buf, captured, captured < FIRST and captured or FIRST
  s, sum_n = raw(buf, 0, held), 0
--@forget
--@if lints
  lint_n = 0
--@end
--@if next
  next_at = nil
--@end
  local e, code, path, at = root(0, whole, t)
  if e then
--@if lints
    notes(tree, t)
--@end
    if t or always then code, path, at = verify(always or crc_mode == VISIBLE and sums_asked) end
    if e > cap then e = cap end
  end
--@if next
  if not e then next_at = nil end
--@end
  if code then report(tree, t, code, path, at) end
  local info = life.finish(tree, t, frame, pinfo)
  if code then info = info .. " [" .. (code == 0 and "truncated" or CODES[code].name) .. "]" end
  if t then
--@if many
    if visible then t:append_text(", " .. title .. info) end
--@else
    if visible then t:append_text(", " .. info) end
--@end
    for k in pairs(sum_item) do sum_item[k] = nil end
  end
  return e or cap, info
end

-- Size of the packets in a datagram that was captured before the sender's segmentation offload cut it, or nil when it
-- holds one packet. Found where the mark of the first packet comes back, and believed when what stands before decodes
-- and its checksum is right.
local function segment_size(buf)
  cap = len(buf)
  tvb, s, held, sum_n, summing = buf, raw(buf), cap, 0, true
--@forget
  root(0, cap, nil)
  local mark = life.mark()
  local first = mark and find(s, mark, 1, true)
  local again = first
  for _ = 1, first and MAX_TRIES or 0 do
    again = find(s, mark, again + 1, true)
    if not again then return nil end
    sum_n = 0
    if root(0, again - first, nil) and sum_n > 0 and not verify(true) then return again - first end
  end
end

-- Dissects the packets of a datagram, size bytes each; returns the info for all.
local function dissect_all(buf, size, pinfo, tree, frame)
  local whole = len(buf)
  local _, info = dissect(buf(0, size):tvb(), size, size, pinfo, tree, frame)
  for o = size, whole - 1, size do
    local n = min(size, whole - o)
    dissect(buf(o, n):tvb(), n, n, pinfo, tree, frame)
  end
--@if next
  next_at = nil
--@end
  return info .. format(" and %d more", ceil(whole / size) - 1)
end

--@if many
local function packet(buf, pinfo, tree)
--@else
function proto.dissector(buf, pinfo, tree)
--@end
  if not len then hold(buf, pinfo, tree) end
  local captured, used, info = len(buf), reported_len(buf), nil
  if captured == 0 then return 0 end
  local cols, frame = columns_of(pinfo), number_of(pinfo)
  put(cols, "protocol", NAME)
  local size = used > AGGREGATE and captured == used and split and segment_size(buf)
  if size then
    info = dissect_all(buf, size, pinfo, tree, frame)
  else
    used, info = dissect(buf, captured, used, pinfo, tree, frame)
  end
--@if many
  put(cols, "info", title .. info)
--@else
  put(cols, "info", info)
--@end
--@if next
  if next_at then hand_on(buf, pinfo, tree, captured) end
--@end
  return used
end
--@if many

function proto.dissector(buf, pinfo, tree)
  root, title = first_root, first_title
  return packet(buf, pinfo, tree)
end
--@end

local bound
function proto.prefs_changed()
  reserved, split = proto.prefs.reserved, proto.prefs.split
--@if many
  for name in pairs(settings) do settings[name] = proto.prefs[name] end
--@end
  crc_mode = #SUMS > 0 and proto.prefs.crc or NEVER
  always = crc_mode == ALWAYS
  local port = PORT > 0 and proto.prefs.port or 0
  if port == bound then return end
  local ports = DissectorTable.get("udp.port")
  if bound and bound > 0 then ports:remove(bound, proto) end
  if port > 0 then ports:add(port, proto) end
  bound = port
end

if PORT > 0 then
  DissectorTable.get("udp.port"):add(PORT, proto)
  bound = PORT
else
  DissectorTable.get("udp.port"):add_for_decode_as(proto)
end
