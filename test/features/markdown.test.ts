import { describe, expect, test } from 'vitest';
import { escapeMarkdown, renderMarkdown, renderPlain } from '../../server/src/features/hover/render.ts';

describe('escapeMarkdown', () => {
  test.each([
    ['code', '`rm -rf`', '\\`rm -rf\\`'],
    ['a table cell', 'a | b', 'a \\| b'],
    ['a link', '[click](command:evil)', '\\[click\\](command:evil)'],
    ['an image', '![x](https://evil.example/p.png)', '!\\[x\\](https\\://evil.example/p.png)'],
    ['HTML', '<img src=x onerror=alert(1)>', '\\<img src=x onerror=alert(1)\\>'],
    ['an entity', '&lt;b&gt;', '\\&lt;b\\&gt;'],
    ['a bare address', 'see https://evil.example', 'see https\\://evil.example'],
    ['an address without scheme', 'www.evil.example', 'www\\.evil.example'],
    ['a mail address', 'me@evil.example', 'me\\@evil.example'],
    ['emphasis', '**a** __b__ ~~c~~', '\\*\\*a\\*\\* \\_\\_b\\_\\_ \\~\\~c\\~\\~'],
    ['a heading', '# title', '\\# title'],
    ['a list', '- item', '\\- item'],
    ['a numbered list', '1. item', '1\\. item'],
    ['a rule under a heading', '=== x', '\\=== x'],
    ['a backslash before markup', '\\`x`', '\\\\\\`x\\`'],
    ['a line end', 'a\n\n# b', 'a \\# b'],
    ['control characters', 'a\u0000\u001b[31mb\u2028c', 'a \\[31mb c'],
    ['changes of direction', 'a\u202eb\u2066c', 'abc'],
    ['money and ranges', '$6.88–$20.64/h · 1–3 × H100', '$6.88–$20.64/h · 1–3 × H100'],
  ])('%s', (_, text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
  });

  test('cuts long text', () => {
    const cut = escapeMarkdown('x'.repeat(10_000));
    expect(cut).toHaveLength(201);
    expect(cut.endsWith('…')).toBe(true);
  });
});

test('any text stays within its table cell', () => {
  const table = { kind: 'table', head: ['a|b', 'c'], rows: [['1\n2', '`3`']] } as const;
  expect(renderMarkdown([table])).toBe('| a\\|b | &emsp;c |\n| :--- | :--- |\n| 1 2 | &emsp;\\`3\\` |');
});

test('plain text aligns the columns of a table', () => {
  const text = renderPlain([
    { kind: 'lead', text: '1 × L4 · $0.80/h' },
    {
      kind: 'table',
      head: ['Pod set', '$/h'],
      rows: [
        ['predictor', '$0.80'],
        ['worker', '$10.00'],
      ],
    },
    { kind: 'list', title: 'Assumptions', items: ['one', 'two'] },
  ]);
  expect(text).toBe(
    '1 × L4 · $0.80/h\n\nPod set       $/h\npredictor   $0.80\nworker     $10.00\n\nAssumptions:\n- one\n- two',
  );
});

test('an action is a link where the client has its command, and text elsewhere', () => {
  const action = {
    kind: 'action',
    why: 'Select [x](y): 30% less.',
    label: 'Change…',
    command: 'show-fixes',
    target: { start: 1, end: 2 },
    text: 'Select it.',
  } as const;
  expect(renderMarkdown([action], () => 'command:a?b')).toBe('Select \\[x\\](y): 30% less. [Change…](command:a?b)');
  expect(renderMarkdown([action])).toBe('Select it.');
  expect(renderPlain([action])).toBe('Select it.');
});
