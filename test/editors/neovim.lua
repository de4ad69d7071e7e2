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

  go('nvidia.com/gpu:')
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

  go('nvidia.com/gpu:')
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

local function driveMore()
  vim.lsp.codelens.refresh()
  wait('a code lens', function()
    return #vim.lsp.codelens.get(0) > 0
  end)
  seen.lenses = vim.tbl_map(function(lens)
    return lens.command and lens.command.title or ''
  end, vim.lsp.codelens.get(0))

  vim.api.nvim_buf_set_lines(0, -1, -1, true, { '          nvidia.com/mig' })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(0), 0 })
  local position = vim.lsp.util.make_position_params()
  position.position.character = #vim.api.nvim_get_current_line()
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/completion', position, 20000)
  seen.completions = {}
  for _, answer in pairs(answers or {}) do
    for _, item in ipairs(vim.lsp.util.text_document_completion_list_to_complete_items(answer.result, 'nvidia.com/mig')) do
      table.insert(seen.completions, item.abbr)
    end
  end
end

local ok, reason = pcall(drive)
if ok then
  ok, reason = pcall(driveMore)
end
if not ok then
  seen.failed = tostring(reason)
end
vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.GPULINT_SEEN)
vim.cmd('qall!')
