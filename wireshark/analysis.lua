-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

-- What a packet means beside others. The generator places this file behind the decoders, inside a block of its own.
-- The lines "-- hook x(...)" ask for calls: hook.x runs when a header x has been read, with these items of it. "-- keep x(...)" asks
-- for less: the items are put into the locals x_item, which cost little; the first is nil in packets without an x. Integers of more
-- than 53 bits come as their eight bytes in a string, bit vectors as all of theirs, absent items as zero or "".
-- A packet ends with life.finish, which returns its line in the list. Besides it may use proto, field,
-- expert_item, gaps, nameof, values, enum, const, format, ZERO and PROTO.

-- keep base(opcode, path, tag, psn, tsn)
-- keep message(stream, message, offset)
-- hook ack(blocks)
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

-- The packet at hand. Without a message header its PSN is not its own.
local detail = "" -- rest of the info column
local blocks = 0  -- blocks of an acknowledgement
local sacks = {}  -- their vectors
local heads = {}  -- beginnings of the info column by opcode and path, made once
local headed, MAX_HEADS = 0, 8192
local m_stream, m_message, chunk -- how the column goes on for the message at hand: a format of PSN, TSN and offset

function hook.ack()
  blocks = 0
end

function hook.path_ack(p, first, sack)
  blocks = blocks + 1
  sacks[blocks] = sack
  if blocks == 1 then detail = format(" of path %d base %d", p, first) end
end

function hook.notice(code, s)
  detail = format(" %s stream %d", nameof(values.notice_code, code), s)
end

function hook.code(code)
  detail = " " .. nameof(values.close_reason, code)
end
hook.abort_code = hook.code

local function name_of(number)
  local name = nameof(values.opcode, number)
  return tonumber(name) and "Opcode " .. name or name
end

local function new_head(key)
  local head = format("%s path %d psn ", name_of(base_opcode), base_path)
  if headed == MAX_HEADS then heads, headed = {}, 0 end
  heads[key], headed = head, headed + 1
  return head
end

local function new_chunk()
  m_stream, m_message = message_stream, message_message
  chunk = format("%%d tsn %%d stream %d message %d offset %%d", m_stream, m_message)
end

-- Bytes that all packets to one receiver repeat, so that several in one datagram can be told apart.
function life.mark()
  return base_opcode and base_tag ~= ZERO and base_tag or nil
end

-- Per tag and path, the packets last seen in each slot of the window: PSN, TSN and frame at 3 * (PSN modulo window).
local connections, paths = {}, 0
local resends = {} -- frame and slot to the frame that carried the PSN before
local newest = 0   -- the highest frame so far: frames up to it have been remembered

-- A capture is read anew.
function proto.init()
  connections, paths, resends, newest = {}, 0, {}, 0
end

local function new_ring(c)
  if paths >= MAX_PATHS then connections, paths, c = {}, 0, nil end
  if not c then
    c = {}
    connections[base_tag] = c
  end
  c[base_path] = {}
  paths = paths + 1
  if collectgarbage("count") > LARGE_HEAP then collectgarbage("setpause", 200) end
  return c[base_path]
end

-- Whether the packet's TSN follows an earlier one.
local function follows(before)
  local ahead = (base_tsn - before) % SPACE
  return ahead > 0 and ahead < SPACE / 2
end

-- Adds the gaps that an acknowledgement names to t.
local function show_gaps(t)
  for i = 1, blocks do
    local runs = sacks[i] ~= "" and gaps(sacks[i], function() end) or 0
    if runs > 0 then t:add(f_gap, runs):set_generated():add_proto_expert_info(e_gap) end
  end
end

-- Ends a packet that has no message header.
local function finish_control(t)
  if not base_opcode then return "" end
  if t and blocks > 0 and t:referenced(f_gap) then show_gaps(t) end
  local rest = blocks > 1 and format("%s and %d more", detail, blocks - 1) or detail
  detail, blocks = "", 0
  local key = base_opcode * PATHS + base_path
  return format("%s%d tsn %d%s", heads[key] or new_head(key), base_psn, base_tsn, rest)
end

-- Adds what was found to t, the packet's tree or nil; tree takes expert items in any case. Returns the packet's line in the list.
-- Most packets come here, so this is one function, and of the line only numbers are formatted.
function life.finish(tree, t, frame, pinfo)
  if not message_stream then return finish_control(t) end
  local psn, before = base_psn, nil
  if frame > newest or frame == newest and not pinfo.visited then
    newest = frame
    local c = connections[base_tag]
    local ring, slot = c and c[base_path] or new_ring(c), 3 * (psn % WINDOW) + 1
    local known = ring[slot] == psn
    if not known or follows(ring[slot + 1]) then
      if known then
        before = ring[slot + 2]
        resends[frame * WINDOW + psn % WINDOW] = before
      end
      ring[slot], ring[slot + 1], ring[slot + 2] = psn, base_tsn, frame
    end
  else
    before = resends[frame * WINDOW + psn % WINDOW]
  end
  if before then
    if t then t:add(f_resend, before):set_generated() end
    (t or tree):add_proto_expert_info(e_resend)
  end
  if message_message ~= m_message or message_stream ~= m_stream then new_chunk() end
  local key = base_opcode * PATHS + base_path
  return (heads[key] or new_head(key)) .. format(chunk, psn, base_tsn, message_offset)
end
