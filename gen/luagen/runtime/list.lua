-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0
-- Decodes the element at o. seen counts the elements of every case so far, prev is the key before.
local function element(list, o, stop, t, seen, prev)
  if o + list.head > stop then return nil, 1, "", o end
  if o + list.head > held and not fetch(o + list.head) then return nil, 0, "", o end
  local key, length, skip = list.read(o)
  if not key then return nil, length, "", o end
  if list.ascending and key < prev then return nil, 17, "", o end
  local case = list.cases[key]
  if not case and not skip then return nil, 14, "", o end
  local path, label = "", nil
  if case then
    path = case.name
    if case.single and seen[key] then return nil, 15, path, o end
    if not case.single then path = path .. "[" .. (seen[key] or 0) .. "]" end
  end
  local from = o + list.head
  local to = from + length
  local e = o + list.head + length
  if (e - o) % list.align ~= 0 then e = e + list.align - (e - o) % list.align end
  if e > stop then return nil, 1, path, o end
  local u
  if t then
    u = t:add(case and case.field or list.unknown, range(o, e))
    if case then u:set_text(case.label) end
    list.tree(u, o)
  end
  if case then
    local ok, code, inner, where = element_value(case, path, from, to, u, o)
    if not ok then return nil, code, inner, where end
  end
  if not blank(to, e) then return nil, 11, path, o end
  seen[key] = (seen[key] or 0) + 1
  return e, key
end

-- Decodes a list that fills the bytes from o up to stop.
local function elements(list, o, stop, t)
  if stop < o then return nil, 1, "", o end
  if stop - o > list.max then return nil, 7, "", o end
  local u = t and stop > o and o < cap and t:add(list.field, range(o, stop)) or nil
  local seen, prev = {}, 0
  while o < stop do
    if o >= held and not fetch(o + 1) then return nil, 0, "", o end
    if list.stop and byte(s, o + 1) == list.stop then
      if not blank(o + 1, stop) then return nil, 11, "", o end
      if u then u:add(list.padding, range(o, stop)) end
      break
    end
    local e, key, path, where = element(list, o, stop, u, seen, prev)
    if not e then return nil, key, path, where end
    o, prev = e, key
  end
  for _, key in ipairs(list.required) do
    if not seen[key] then return nil, 16, list.cases[key].name, stop end
  end
  return stop
end
