-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

-- Decodes the value of one known element, which must fill the bytes from o up to e.
--@if given
local function element_value(case, path, o, e, u, at, ...)
--@else
local function element_value(case, path, o, e, u, at)
--@end
  if not case.decode then
    if o == e then return true end
    return nil, 13, path, at
  end
--@if deep
  local k = sum_n
--@end
--@if given
  local n, code, inner, where = case.decode(o, e, u, ...)
--@else
  local n, code, inner, where = case.decode(o, e, u)
--@end
--@if deep
  for i = k + 1, sum_n do sum_path[i] = inside(path, sum_path[i]) end
--@end
  if n == e then return true end
  if n or code == 1 or code == 8 then return nil, 13, path, at end
  return nil, code, inside(path, inner), where
end
