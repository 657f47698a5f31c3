-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

-- What a packet means beside others. The generator places this file behind the decoders, inside a block of its own.
-- The lines "-- hook x(...)" ask for calls: hook.x runs when a header x has been read, with these items of it. Integers of
-- more than 53 bits come as their eight bytes in a string, bit vectors as all of theirs, absent items as zero or "".
-- Besides hook it may use field, expert_item, gaps, nameof, values, enum, const, format and PROTO.

-- hook base(opcode, path, tag, psn, tsn)
-- hook message(stream, message, offset, length)
-- hook path_ack(path, base, sack)
-- hook notice(code, stream)
-- hook code(code)

local SPACE = 4294967296 -- PSNs and TSNs count modulo this

-- Connections whose packets are remembered. When there are more, all are forgotten, so that a capture of any length needs
-- no more memory than this many tags with const.SackBits packets on each path.
local MAX_PATHS = 4096

local f_resend = field(ProtoField.framenum(PROTO .. ".analysis.resend", "Sent before in", base.NONE, frametype.RETRANS_PREV, 0,
  "The frame in which this PSN was put on its path before"))
local f_gap = field(ProtoField.uint32(PROTO .. ".analysis.gap", "Gaps", base.DEC, nil, nil,
  "Runs of missing PSNs that an acknowledgement names"))
local e_resend = expert_item(ProtoExpert.new(PROTO .. ".expert.resend", "this PSN was sent before",
  expert.group.SEQUENCE, expert.severity.NOTE))
local e_gap = expert_item(ProtoExpert.new(PROTO .. ".expert.gap", "an acknowledgement names missing PSNs",
  expert.group.SEQUENCE, expert.severity.NOTE))

-- The packet at hand.
local opcode, path, tag, psn, tsn
local sequenced   -- whether the PSN is its own
local detail      -- rest of the info column
local blocks      -- blocks of an acknowledgement
local sacks = {}  -- their vectors
local names = {}  -- opcode names, found once

function hook.start()
  opcode, sequenced, detail, blocks = nil, false, "", 0
end

function hook.base(o, p, t, n, m)
  opcode, path, tag, psn, tsn = o, p, t, n, m
end

function hook.message(stream, message, offset, length)
  sequenced = true
  detail = format(" stream %d message %d offset %d of %d", stream, message, offset, length)
end

function hook.path_ack(p, first, sack)
  blocks = blocks + 1
  sacks[blocks] = sack
  if blocks == 1 then detail = format(" of path %d base %d", p, first) end
end

function hook.notice(code, stream)
  detail = format(" %s stream %d", nameof(values.notice_code, code), stream)
end

function hook.code(code)
  detail = " " .. nameof(values.close_reason, code)
end

function hook.info()
  if not opcode then return "" end
  local name = names[opcode]
  if not name then
    name = nameof(values.opcode, opcode)
    names[opcode] = name
  end
  if blocks > 1 then detail = detail .. format(" and %d more", blocks - 1) end
  return format("%s path %d psn %d tsn %d", name, path, psn, tsn) .. detail
end

-- Per tag and path, the packets last seen in each slot of the window: PSN, TSN and frame at 3 * (PSN modulo window).
local connections, paths = {}, 0
local resends = {} -- frame to the frame that carried the PSN before

local function ring_of()
  local c = connections[tag]
  if c and c[path] then return c[path] end
  if paths >= MAX_PATHS then connections, paths, c = {}, 0, nil end
  if not c then
    c = {}
    connections[tag] = c
  end
  c[path] = {}
  paths = paths + 1
  return c[path]
end

-- Remembers the packet; returns the frame that carried its PSN under an older TSN.
local function remember(frame)
  local ring, slot = ring_of(), 3 * (psn % const.SackBits) + 1
  local before
  if ring[slot] == psn then
    local newer = (tsn - ring[slot + 1]) % SPACE
    if newer == 0 or newer >= SPACE / 2 then return nil end
    before = ring[slot + 2]
  end
  ring[slot], ring[slot + 1], ring[slot + 2] = psn, tsn, frame
  return before
end

-- Adds what was found to t, the packet's tree or nil; tree takes expert items in any case.
function hook.finish(tree, t, pinfo)
  if sequenced then
    local frame = pinfo.number
    if not pinfo.visited then resends[frame] = remember(frame) end
    if resends[frame] then
      if t then t:add(f_resend, resends[frame]):set_generated() end
      (t or tree):add_proto_expert_info(e_resend)
    end
  end
  for i = 1, t and blocks or 0 do
    local runs = sacks[i] ~= "" and gaps(sacks[i], function() end) or 0
    if runs > 0 then t:add(f_gap, runs):set_generated():add_proto_expert_info(e_gap) end
  end
end
