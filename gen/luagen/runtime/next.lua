-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

-- Hands the payload on: by its numbers to who has registered with this protocol's own table, else with a register of
-- Wireshark's; or to the one protocol that it always is. What nobody knows stays as it is.
local function hand_on(buf, pinfo, tree, captured)
  local n, to = next_of, min(next_end, captured)
  if to <= next_at then return end
  local first, second, own, register = next_1, next_2, n.own, n.register
  local d = own and (own:get_dissector(first) or register and register:get_dissector(first)
    or second and (own:get_dissector(second) or register and register:get_dissector(second)))
    or n.always and Dissector.get(n.always)
  -- Wireshark has shown what it found malformed when it raises an error here.
  if d then pcall(d.call, d, buf(next_at, to - next_at):tvb(), pinfo, tree) end
end
