-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

-- Compares two keys number by number: less than zero, zero or more.
local function order(a, b)
  for i = 1, #a do
    if a[i] ~= b[i] then return a[i] - b[i] end
  end
  return 0
end

-- Decodes the element at o. seen counts the elements of every case so far, prev is the key before, nil at first.
local function element(list, o, stop, t, seen, prev, ...)
  if o + list.head > stop then return nil, 1, "", o end
  if o + list.head > held and not fetch(o + list.head) then return nil, 0, "", o end
  local key, length, skip = list.read(o, ...)
  if not key then return nil, length, "", o end
  if list.ascending and prev then
    local way = order(key, prev)
    if way < 0 or way == 0 and list.strict then return nil, 17, "", o end
  end
  local number = list.find(key)
  local case = list.cases[number]
  if not case and not skip then return nil, list.refuse, "", o end
  local path = ""
  if case then
    path = case.name
    if case.single and seen[number] then return nil, 15, path, o end
    if not case.single then path = path .. "[" .. (seen[number] or 0) .. "]" end
  end
  local from = o + list.head
  local to = from + length
  local e = to
  if (e - o) % list.align ~= 0 then e = e + list.align - (e - o) % list.align end
  if e > stop then return nil, 1, path, o end
  local u
  if t then
    u = t:add(case and case.field or list.unknown, range(o, e))
    if case then u:set_text(case.label) end
    list.tree(u, o)
  end
  if case then
--@if given
    local ok, code, inner, where = element_value(case, path, from, to, u, o, ...)
--@else
    local ok, code, inner, where = element_value(case, path, from, to, u, o)
--@end
    if not ok then return nil, code, inner, where end
    seen[number] = (seen[number] or 0) + 1
  end
  if not blank(to, e) then return nil, 11, path, o end
  return e, key
end

-- Whether all bytes from o up to e are what fills a list, as far as they were captured.
local function filled(list, o, e)
  if list.ignore then return true end
  if e > held then fetch(e) end
  local at = find(s, list.foreign, o + 1)
  return not at or at > e
end

-- Decodes a list that fills the bytes from o up to stop.
local function elements(list, o, stop, t, ...)
  if stop < o then return nil, 1, "", o end
  if stop - o > list.max then return nil, 7, "", o end
  local u = t and stop > o and o < cap and t:add(list.field, range(o, stop)) or nil
  local seen, prev = {}, nil
  while o < stop do
    if o >= held and not fetch(o + 1) then return nil, 0, "", o end
    local b = byte(s, o + 1)
    if list.bare[b] then
      if u then u:add(list.bare[b], range(o, o + 1)) end
      o = o + 1
    elseif b == list.stop then
      if not filled(list, o + 1, stop) then return nil, 11, "", o end
      if u then u:add(list.padding, range(o, stop)) end
      break
    else
      local e, key, path, where = element(list, o, stop, u, seen, prev, ...)
      if not e then return nil, key, path, where end
      o, prev = e, key
    end
  end
  for _, number in ipairs(list.required) do
    if not seen[number] then return nil, 16, list.cases[number].name, stop end
  end
  return stop
end

-- Puts what a list shows beside its elements' heads among their fields, so that filters find it.
local function list_fields(list, own)
  local function add(f) own[#own + 1] = f end
  add(list.field)
  add(list.unknown)
  add(list.padding)
  for _, f in pairs(list.bare) do add(f) end
  for _, c in pairs(list.cases) do
    if not c.decode then add(c.field) end
  end
end
