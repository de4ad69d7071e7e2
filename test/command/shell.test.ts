import { describe, expect, test } from 'vitest';
import { readFlags } from '../../server/src/command/flags.ts';
import { allCommands, readCommandLine, readScript, type Statement } from '../../server/src/command/shell.ts';

/** Statements as one line of text, to compare at a glance. */
function show(statements: readonly Statement[]): string {
  return statements
    .map((statement) => {
      const end = statement.background ? ' &' : '';
      const before = statement.after === null ? '' : `${statement.after} `;
      if (statement.kind === 'command') {
        return `${before}${[...statement.assignments, ...statement.words].map(({ text }) => `<${text}>`).join('')}${end}`;
      }
      if (statement.kind === 'loop') {
        return `${before}${statement.keyword}(${show(statement.condition)}){${show(statement.body)}}${end}`;
      }
      return `${before}${statement.keyword}{${show(statement.body)}}${end}`;
    })
    .join('; ');
}

describe('readScript', () => {
  test.each([
    ['a b  c', '<a><b><c>'],
    ['a "b c" \'d e\' f\\ g', '<a><b c><d e><f g>'],
    ['a \\\n  --b \\\n  c', '<a><--b><c>'],
    ['X=1 Y="2 3" a', '<X=1><Y=2 3><a>'],
    ['a && b || c; d | e & f\ng', '<a>; && <b>; || <c>; <d>; | <e> &; <f>; <g>'],
    ['a # comment ; b\nc#d', '<a>; <c#d>'],
    ['a > /dev/null 2>&1 < in; b', '<a>; <b>'],
    ['while true; do a; sleep 1; done; b', 'while(<true>){<a>; <sleep><1>}; <b>'],
    ['until a\ndo\n b\ndone &', 'until(<a>){<b>} &'],
    ['for i in 1 2 3; do a $i; done', 'for(){<a><$i>}'],
    ['if a; then b; elif c; then d; else e; fi; f', 'if{<a>; <b>; <c>; <d>; <e>}; <f>'],
    ['case $x in a|b) c ;; *) d ;; esac\ne', 'case{<c>; <d>}; <e>'],
    ['f() { a; b; }\nf', 'function{braces{<a>; <b>}}; <f>'],
    ['( a; b ) && { c; }', 'subshell{<a>; <b>}; && braces{<c>}'],
    ['cat <<EOF > x\nnot a command; nor this\nEOF\nb', '<cat>; <b>'],
    ['A=(a b c)\nd', '<A=>; <d>'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ['a $(b c) ${D:-e f} `g h`', '<a><$(b c)><${D:-e f}><`g h`>'],
    ['', ''],
  ])('%j', (script, expected) => {
    const read = readScript(script);
    expect(show(read.statements)).toBe(expected);
    expect(read.complete).toBe(true);
  });

  test.each(['a "b', "a 'b", 'a $(b', 'while true; do a', 'if a; then b', 'a; done; b', '( a'])(
    '%j is not complete',
    (script) => {
      expect(readScript(script).complete).toBe(false);
    },
  );

  test('a word has its position', () => {
    const script = 'a\n  "b c" d';
    const words = allCommands(readScript(script, 2).statements).flatMap(({ words }) => words);
    expect(words.map(({ item, start, end }) => [item, script.slice(start, end)])).toEqual([
      [2, 'a'],
      [2, '"b c"'],
      [2, 'd'],
    ]);
  });

  test.each([
    ['(', 200_000],
    ['if ', 60_000],
    ['f()', 60_000],
    ['$(', 100_000],
    ['"', 199_999],
    ['a<<b ', 40_000],
    ['while ', 30_000],
  ])('%j times %i is read within limits', (piece, times) => {
    expect(readScript(piece.repeat(times)).complete).toBe(false);
  });
});

describe('readCommandLine', () => {
  test.each([
    [['python', 'train.py'], ['--x', 'y'], '<python><train.py><--x><y>'],
    [['/bin/bash', '-c'], ['a; b'], '<a>; <b>'],
    [['bash', '-exc', 'a && b'], [], '<a>; && <b>'],
    [['tini', '--', 'sh', '-e', '-c', 'a'], [], '<a>'],
    [['bash', '-o', 'pipefail', '-c', 'a'], [], '<a>'],
    [['bash', 'run.sh'], [], '<bash><run.sh>'],
    [[], [], ''],
  ])('%j %j', (command, args, expected) => {
    expect(show(readCommandLine(command, args).statements)).toBe(expected);
  });
});

test('readFlags reads every form of a flag', () => {
  const { statements } = readScript(
    'train.py --save_steps 5 --output-dir=/out -lr -1 --bf16 trainer.max_steps=10 +new.key=a --path $X',
  );
  const flags = allCommands(statements).flatMap(({ words }) => readFlags(words));
  expect(flags.map(({ name, value, dynamic }) => [name, value, dynamic])).toEqual([
    ['save-steps', '5', false],
    ['output-dir', '/out', false],
    ['lr', '-1', false],
    ['bf16', 'trainer.max_steps=10', false],
    ['trainer.max-steps', '10', false],
    ['new.key', 'a', false],
    ['path', '$X', true],
  ]);
});
