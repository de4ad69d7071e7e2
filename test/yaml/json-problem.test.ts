import { expect, test } from 'vitest';
import { jsonProblem } from '../../server/src/yaml/json-problem.ts';

/** The text at the problem, and what is wrong. */
function found(text: string): string | undefined {
  const problem = jsonProblem(text);
  return problem && `${text.slice(problem.at, problem.at + 4)} | ${problem.message}`;
}

test.each([
  ['{"a": 1,}', ',} | JSON has no trailing commas; remove this one'],
  ['{"a": [1, 2,\n]}', ',\n]} | JSON has no trailing commas; remove this one'],
  ['{"a": 1\n "b": 2}', '1\n " | Missing comma after this value'],
  ['{"a" 1}', '" 1} | Missing colon after this key'],
  ['{"a": "b}\n', '"b}\n | Unclosed quote; add the closing quote'],
  ['{"a": [1}', '[1} | Unclosed bracket; add the closing ]'],
  ['{"a": {"b": 1}', '{"a" | Unclosed bracket; add the closing }'],
  ['{"a": 1}}', '} | Unexpected }; remove it'],
  ['{\n<<<<<<< HEAD\n "a": 1\n}', '<<<< | Unresolved merge conflict; choose one side and remove the marker lines'],
  ['{"a": 1,\n<<<<<<< HEAD\n}', '<<<< | Unresolved merge conflict; choose one side and remove the marker lines'],
  ['{"a": 1 // one\n}', '// o | JSON has no comments; remove this one'],
  ["{'a': 1}", "'a': | JSON has only double quotes; use them"],
  ['{a: 1}', 'a: 1 | a must be in double quotes'],
  ['{"a": 01}', '01} | 01 is not a valid JSON number'],
  ['[1.]', '1.] | 1. is not a valid JSON number'],
  ['{"a": 1e, "b": 2}', '1e,  | 1e is not a valid JSON number'],
  ['{"path": "C:\\x"}', '\\x"} | Unknown escape in quotes; write \\\\ for a backslash'],
  ['["\\\\\\u12"]', '\\u12 | Unknown escape in quotes; write \\\\ for a backslash'],
  ['{"a": "b\tc"}', '\tc"} | Tabs and other control characters need an escape; write \\t for a tab'],
  ['[=]', '=] | Unexpected =; this is not JSON'],
  ['', ' | The file has no value'],
  ['\uFEFF{"a": 1,}', ',} | JSON has no trailing commas; remove this one'],
])('%j has an error', (text, expected) => {
  expect(found(text)).toBe(expected);
});

test.each(['[-0.5e+3, 10, 0, "\\u00e9\\n"]', '{}', '\uFEFF[1, {"a": "b\\"c"}]\r\n', 'null', '"a"'])(
  '%j is JSON',
  (text) => {
    expect(found(text)).toBeUndefined();
  },
);

test('the time is linear', () => {
  for (const text of ['[', '{"a":', '[1,', '"', '[]', '{"a":1}\n', '\\"']) {
    expect(jsonProblem(text.repeat(200_000))).toBeDefined();
  }
});
