-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

-- What a packet means beside others. The generator places this file behind the decoders, inside a block of its own.
-- The lines "-- hook x(...)" ask for calls: hook.x runs when a header x has been read, with these items of it. Integers of
-- more than 53 bits come as their eight bytes in a string, bit vectors as all of theirs, absent items as zero or "".
-- A packet begins with life.start and ends with life.finish; life.info is its line in the list. Besides it may use proto, field,
-- expert_item, gaps, nameof, values, enum, const, format, ZERO and PROTO.

-- hook base(opcode, path, tag, psn, tsn)
-- hook message(stream, message, offset)
-- hook path_ack(path, base, sack)
-- hook notice(code, stream)
-- hook code(code)
-- hook abort_code(code)

local SPACE = 4294967296 -- PSNs and TSNs count modulo this
local PATHS = 4096       -- and path numbers modulo this
local WINDOW = const.SackBits

-- Paths of all connections whose packets are remembered. When there are more, all are forgotten: a capture of any length
-- needs no more memory than this many windows of const.SackBits packets.
local MAX_PATHS = 4096
local LARGE_HEAP = 16384 -- kilobytes; a larger one is collected as often as Lua does it by default

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
local sequenced   -- whether the PSN is its own; then what its message header says
local v_stream, v_message, v_offset
local detail      -- rest of the info column
local blocks      -- blocks of an acknowledgement
local sacks = {}  -- their vectors
local heads = {}  -- beginnings of the info column by opcode and path, made once
local headed, MAX_HEADS = 0, 8192
local m_stream, m_message, middle -- and its middle, for the message at hand

function life.start()
  opcode, sequenced, detail, blocks = nil, false, "", 0
end

function hook.base(o, p, t, n, m)
  opcode, path, tag, psn, tsn = o, p, t, n, m
end

function hook.message(stream, message, offset)
  sequenced = true
  v_stream, v_message, v_offset = stream, message, offset
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
hook.abort_code = hook.code

local function name_of(number)
  local name = nameof(values.opcode, number)
  return tonumber(name) and "Opcode " .. name or name
end

function life.info()
  if not opcode then return "" end
  local head = heads[opcode * PATHS + path]
  if not head then
    head = format("%s path %d psn ", name_of(opcode), path)
    if headed == MAX_HEADS then heads, headed = {}, 0 end
    heads[opcode * PATHS + path], headed = head, headed + 1
  end
  if not sequenced then
    if blocks > 1 then detail = detail .. format(" and %d more", blocks - 1) end
    return format("%s%d tsn %d%s", head, psn, tsn, detail)
  end
  if v_message ~= m_message or v_stream ~= m_stream then
    m_stream, m_message, middle = v_stream, v_message, format(" stream %d message %d offset ", v_stream, v_message)
  end
  return format("%s%d tsn %d%s%d", head, psn, tsn, middle, v_offset)
end

-- Bytes that all packets to one receiver repeat, so that several in one datagram can be told apart.
function life.mark()
  return opcode and tag ~= ZERO and tag or nil
end

-- Per tag and path, the packets last seen in each slot of the window: PSN, TSN and frame at 3 * (PSN modulo window).
local connections, paths = {}, 0
local resends = {} -- frame and slot to the frame that carried the PSN before
local newest = 0   -- the highest frame so far: frames up to it have been remembered

-- A capture is read anew.
function proto.init()
  connections, paths, resends, newest = {}, 0, {}, 0
end

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
  if collectgarbage("count") > LARGE_HEAP then collectgarbage("setpause", 200) end
  return c[path]
end

-- Remembers the packet; returns the frame that carried its PSN under an older TSN.
local function remember(frame)
  local ring, slot = ring_of(), 3 * (psn % WINDOW) + 1
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
function life.finish(tree, t, frame, pinfo)
  if sequenced then
    local before
    if frame > newest or frame == newest and not pinfo.visited then
      newest = frame
      before = remember(frame)
      if before then resends[frame * WINDOW + psn % WINDOW] = before end
    else
      before = resends[frame * WINDOW + psn % WINDOW]
    end
    if before then
      if t then t:add(f_resend, before):set_generated() end
      (t or tree):add_proto_expert_info(e_resend)
    end
  end
  if not t or blocks == 0 or not t:referenced(f_gap) then return end
  for i = 1, blocks do
    local runs = sacks[i] ~= "" and gaps(sacks[i], function() end) or 0
    if runs > 0 then t:add(f_gap, runs):set_generated():add_proto_expert_info(e_gap) end
  end
end
