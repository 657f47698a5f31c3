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
  proto.prefs.crc = Pref.enum("Verify checksums", VISIBLE, "When to compare checksums; costs time with large packets",
    { { 1, "Never", NEVER }, { 2, "When visible", VISIBLE }, { 3, "Always", ALWAYS } }, false)
end
proto.prefs.reserved = Pref.bool("Show reserved bits", false, "Show reserved bits that are as they should be")

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
    if wanted and f.of and at + f.size <= cap then
      status = f.of(at) == stored(f, at) and 1 or 0
      if status == 0 and not code then code, path, where = 10, f.path, at end
    end
    if sum_item[at] then sum_item[at]:add(f.status, status):set_generated() end
  end
  return code, path, where
end

local handle
local crc_mode = VISIBLE

function proto.dissector(buf, pinfo, tree)
  tvb, cap = buf, buf:len()
  if cap == 0 then return 0 end
  s = buf:raw()
  local whole, cols = buf:reported_len(), pinfo.cols
  cols.protocol = NAME
  if not handle then handle = Dissector.get(PROTO) end
  local t
  visible = false
  if tree:referenced(handle) then
    t = tree:add(proto, buf())
    visible = tree.visible
  end
  sum_n = 0
  hook.start()
  local e, code, path, at = root(0, whole, t)
  if e then
    code, path, at = verify(crc_mode == ALWAYS or crc_mode == VISIBLE and visible)
    e = min(e, cap)
  end
  if code then report(tree, t, code, path, at) end
  hook.finish(tree, t, pinfo)
  local info = hook.info()
  if code then info = info .. " [" .. (code == 0 and "truncated" or CODES[code].name) .. "]" end
  cols.info = info
  if visible then t:append_text(", " .. info) end
  for k in pairs(sum_item) do sum_item[k] = nil end
  tvb = nil
  return e or cap
end

local bound
function proto.prefs_changed()
  reserved = proto.prefs.reserved
  crc_mode = #SUMS > 0 and proto.prefs.crc or NEVER
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
