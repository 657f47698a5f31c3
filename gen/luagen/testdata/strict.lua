-- SPDX-License-Identifier: Apache-2.0

-- Loaded before the dissector under test: any write to a global, and any read of one that does not exist, is an error.
setmetatable(_G, {
  __newindex = function(_, name) error("global written: " .. tostring(name), 2) end,
  __index = function(_, name) error("no such global: " .. tostring(name), 2) end,
})
