-- Drives Neovim as a person would: waits for the findings, applies a quick fix where one stands, asks for a hover.
-- What was seen is written as JSON to the file that the environment names.
local seen = {}

local function wait(what, condition)
  if not vim.wait(20000, condition, 20) then
    error('nothing came: ' .. what)
  end
end

local function drive()
  wait('findings', function()
    return #vim.diagnostic.get(0) > 0
  end)
  seen.diagnostics = vim.tbl_map(function(found)
    return { line = found.lnum, source = found.source, code = found.code, message = found.message }
  end, vim.diagnostic.get(0))

  local function go(pattern)
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    vim.fn.search(pattern, 'c')
  end

  go('nvidia.com/gpu')
  local offered
  vim.ui.select = function(items, options, choose)
    offered = vim.tbl_map(options.format_item, items)
    choose(items[1], 1)
  end
  local before = vim.api.nvim_buf_get_changedtick(0)
  vim.lsp.buf.code_action()
  wait('an edit', function()
    return vim.api.nvim_buf_get_changedtick(0) > before
  end)
  seen.offered = offered
  seen.text = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  wait('the finding to go', function()
    return #vim.diagnostic.get(0) < #seen.diagnostics
  end)

  go('nvidia.com/gpu')
  local windows = #vim.api.nvim_list_wins()
  vim.lsp.buf.hover()
  wait('a hover', function()
    return #vim.api.nvim_list_wins() > windows
  end)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      seen.hover = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    end
  end
end

local ok, reason = pcall(drive)
if not ok then
  seen.failed = tostring(reason)
end
vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.GPULINT_SEEN)
vim.cmd('qall!')
