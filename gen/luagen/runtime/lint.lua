-- SPDX-License-Identifier: GPL-2.0-or-later OR Apache-2.0

-- Rules that a packet may break: what is wrong with it, and where.
local lint_n, lint_text, lint_at = 0, {}, {}
local f_lint = field(ProtoField.string(PROTO .. ".lint", "Note", base.ASCII, "A rule that the packet should keep"))
local e_lint = expert_item(ProtoExpert.new(PROTO .. ".expert.lint", "a rule that the packet should keep",
  expert.group.PROTOCOL, expert.severity.NOTE))

local function lint(text, at)
  lint_n = lint_n + 1
  lint_text[lint_n], lint_at[lint_n] = text, at
end

-- Shows the broken rules of a packet that decodes.
local function notes(tree, t)
  for i = 1, lint_n do
    local item = t and t:add(f_lint, range(lint_at[i], lint_at[i] + 1), lint_text[i]):set_generated() or tree
    item:add_proto_expert_info(e_lint, lint_text[i])
  end
end
