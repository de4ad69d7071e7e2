import { describe, expect, test } from 'vitest';
import { problemsOf } from './shown-problems.ts';

// Each was compared with kubectl 1.32: it rejects the first ones and reads the others.

const tab = 'Tab at the start of a line; remove it or use spaces [\t]';
const anchor = '& starts an anchor name, which may contain only letters, digits, - and _; quote the text';
const question = "Kubernetes' parser rejects ? in a plain value in brackets; quote the value";
const colon = 'A plain value in brackets cannot start with a colon; quote it';
const tag = 'Incomplete tag; complete it, or quote the text';
const slash = "Kubernetes' parser rejects \\/ in double quotes; write / without the backslash";
const apart = 'The colon must follow its key on the same line; move it there';
const object = 'apiVersion: v1\n';

describe("what YAML 1.2 accepts and Kubernetes' parser rejects", () => {
  test.each([
    ['a:\n  \t\n  b: 1\n', `2 ${tab}`],
    ['a: b # c\n  \t\nc: 1\n', `2 ${tab}`],
    ['a:\n  \t# c\n  b: 1\n', `2 ${tab}`],
    ['a:\r\n- \t{b: 1}\r\n', `2 ${tab}`],
    ['a: b\n\t\nc: 1\n', `2 ${tab}`],
    ['a:\n  b: c\n \t\n  d: 1\n', `3 ${tab}`],
    ['a: [b\n\t, c]\n', `2 ${tab}`],
    ['a: |\n   b\n \t\nc: 1\n', `3 ${tab}`],
    ['- a\n- && b\n', `2 ${anchor} [&&]`],
    ['a: &/bin/sh\n', `1 ${anchor} [&/bin/sh]`],
    ['a: !<b c\n', `1 ${tag} [!<b]`],
    ['a: !! b\n', `1 ${tag} [!!]`],
    [`${object}a: [http://b?c=1, d]\n`, `2 ${question} [http://b?c=1]`],
    [`${object}a: {b: c?}\n`, `2 ${question} [c?]`],
    ['a: [--listen, :8080]\n', `1 ${colon} [:8080]`],
    ['a: {b: :8080}\n', `1 ${colon} [:8080]`],
    ['a: {b:, c: 1}\n', '1 Missing space after the colon [:]'],
    ['a: {b: 1, c:}\n', '1 Missing space after the colon [:]'],
    [`${object}a: "b\\/c"\n`, `2 ${slash} [\\/]`],
    ['a: 1\nb\n : 2\n', `2 ${apart} [b]`],
    ['a: {b\n  : 2}\n', `1 ${apart} [b]`],
  ])('%j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  test.each([
    'a: b\n  \t\nc: 1\n',
    'a:\tb\t\nc: "d"\t# e\n',
    'a: |\n  b\n  \t\nc: 1\n',
    'a: [\n\tb,\n\tc]\n',
    'a: &b_1-2 c\nd: *b_1-2\ne: [&f g, *f]\n',
    'a: !b\nc: !\nd: !!str 1\ne: !<tag:f> g\n',
    'a: [http://b?c=1]\n',
    `${object}a: http://b?c=1\nb: :8080\nc: ["d?", ':1', e:80]\n`,
    'a: {b: , c: }\n',
    `${object}a: "b\\\\/c"\nd: 'e\\/f'\n`,
    '{"apiVersion": "v1", "a"\n: "b\\/c"}\n',
    '? a\n: 1\n',
    '? &b !c a\n: 1\n',
    `${object}a: {?b: 1}\n`,
  ])('others are silent: %j', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });
});
