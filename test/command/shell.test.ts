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
    ['a "x\\.y \\$z \\\\" x\\.y', '<a><x\\.y $z \\><x.y>'],
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
    const words = allCommands(readCommandLine(['sh', '-c', script], []).statements).flatMap(({ words }) => words);
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
    [['bash', '-c', '--', 'a b'], [], '<a><b>'],
    [['sh', '-ec', 'a'], [], '<a>'],
    [['/bin/bash', '-lc'], ['a'], '<a>'],
    [['bash', '-euo', 'pipefail', '-c', 'a'], [], '<a>'],
    [['bash', '-c', '-x', 'a'], [], '<a>'],
    [['tini', '-g', '--', 'bash', '-c', 'a'], [], '<a>'],
    [['dumb-init', '--', 'bash', '-c', 'a'], [], '<a>'],
    [['conda', 'run', '-n', 'x', '--no-capture-output', 'bash', '-c', 'a'], [], '<a>'],
    [['uv', 'run', '--with', 'x', 'sh', '-c', 'a'], [], '<a>'],
    [['/opt/nvidia/nvidia_entrypoint.sh'], ['bash', '-c', 'a'], '<a>'],
    [['stdbuf', '-oL', 'numactl', '--cpunodebind', '0', 'timeout', '-k', '5', '60', 'sh', '-c', 'a'], [], '<a>'],
    [['sudo', '-u', 'me', 'env', 'X=1', 'nohup', 'sh', '-c', 'a'], [], '<a>'],
    [['su', '-', 'me', '-c', 'a b'], [], '<a><b>'],
    [['mpirun', '-np', '4', 'bash', '-c', 'a b'], [], 'subshell{<mpirun><-np><4>; <a><b>}'],
  ])('%j %j', (command, args, expected) => {
    expect(show(readCommandLine(command, args).statements)).toBe(expected);
  });
});

describe('scripts in scripts', () => {
  test.each([
    [`bash -c "a 'b c'" && d`, 'subshell{<a><b c>}; && <d>'],
    [`eval "a b" &`, 'subshell{<a><b>} &'],
    ['eval a b', 'subshell{<a><b>}'],
    [`exec su me -c 'a; b'`, 'subshell{<a>; <b>}'],
    [`srun --gpus 8 bash -lc 'a'`, 'subshell{<srun><--gpus><8>; <a>}'],
  ])('%s', (script, expected) => {
    expect(show(readScript(script).statements)).toBe(expected);
  });

  test.each([
    ['bash <<EOF\na b\nc\nEOF\nd', 'subshell{<a><b>; <c>}; <d>'],
    ["sh -s <<-'END' && d\na\nEND", 'subshell{<a>}; && <d>'],
    ['bash x.sh <<EOF\na b\nEOF', '<bash><x.sh>'],
    ['bash <<EOF\nEOF', 'subshell{}'],
  ])('%s', (script, expected) => {
    expect(show(readScript(script).statements)).toBe(expected);
  });

  test('in heredocs have positions in the whole text', () => {
    const script = 'x; bash <<EOF\n  a "b c"\nEOF';
    const words = allCommands(readScript(script).statements).flatMap(({ words }) => words);
    expect(words.map(({ start, end }) => script.slice(start, end))).toEqual(['x', 'a', '"b c"']);
  });

  test('have positions in the whole text', () => {
    const script = `x; bash -c 'a "b c"'`;
    const words = allCommands(readScript(script).statements).flatMap(({ words }) => words);
    expect(words.map(({ start, end }) => script.slice(start, end))).toEqual(['x', 'a', '"b c"']);
  });

  test('end after a few levels', () => {
    const nested = Array.from({ length: 50 }).reduce<string>((inner) => `eval ${inner}`, 'a');
    expect(readScript(nested).complete).toBe(true);
  });
});

describe('variables', () => {
  const env = [
    { name: 'GPUS', value: '8' },
    { name: 'SECRET', value: undefined },
    { name: 'ROOT', value: '/data' },
    { name: 'OUT', value: '$(ROOT)/out' },
  ];
  test.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ['a $GPUS ${GPUS} "$GPUS" $(GPUS) x${GPUS}y', '<a><8><8><8><8><x8y>'],
    ['a $OUT', '<a></data/out>'],
    ["a '$GPUS'", '<a><$GPUS>'],
    ['a $SECRET $OTHER $1 $(nproc) `x`', '<a><$SECRET><$OTHER><$1><$(nproc)><`x`>'],
    ['N=2; a --n $N; N=3; a $N', '<N=2>; <a><--n><2>; <N=3>; <a><3>'],
    ['export N=2 M=$N; a $N', '<export><N=2><M=$N>; <a><2>'],
    ['N=2 a $N', '<N=2><a><$N>'],
    ['ARGS="--x 1 \\\n --y 2"; a $ARGS "$ARGS"', '<ARGS=--x 1  --y 2>; <a><--x><1><--y><2><--x 1  --y 2>'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ['ARGS=(--x 1); ARGS=(--y "b c"); a "${ARGS[@]}"', '<ARGS=>; <ARGS=>; <a><--y><b c>'],
    ['A="b"; A+=" c"; a $A', '<A=b>; <A+= c>; <a><b><c>'],
    ['if x; then GPUS=4; fi; a $GPUS', 'if{<x>; <GPUS=4>}; <a><$GPUS>'],
    ['for i in 1 2; do a $N; N=2; done', 'for(){<a><$N>; <N=2>}'],
    ['(GPUS=1); a $GPUS', 'subshell{<GPUS=1>}; <a><8>'],
    ['GPUS=$(nproc); a $GPUS', '<GPUS=$(nproc)>; <a><$GPUS>'],
  ])('%s', (script, expected) => {
    const read = readCommandLine(['bash', '-c', script.replaceAll('\\n', '\n')], [], env);
    expect(show(read.statements)).toBe(expected);
  });

  test('of the container are expanded without a shell', () => {
    expect(show(readCommandLine(['a', '$(GPUS)', '$GPUS', '--n=$(GPUS)', '$(NONE)'], [], env).statements)).toBe(
      '<a><8><$GPUS><--n=8><$(NONE)>',
    );
  });

  test('that grow without end are left alone', () => {
    const script = `A=${'x'.repeat(99)}\n${'A=$A$A$A$A\n'.repeat(50)}${'a $A $A\n'.repeat(5000)}`;
    const started = performance.now();
    readScript(script);
    expect(performance.now() - started).toBeLessThan(1000);
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

describe('words of bash', () => {
  test.each([
    [
      'if [[ -f a && ( -d b || ! -e c ) ]]; then d; fi\ne',
      'if{<[[><-f><a><&&><(><-d><b><||><!><-e><c><)><]]>; <d>}; <e>',
    ],
    ['[[ a < b &&\n c > d ]] || e', '<[[><a><<><b><&&><c><>><d><]]>; || <e>'],
    ['[[ $x =~ ^(a|b)#$ ]]\nc', '<[[><$x><=~><^><(><a><|><b><)><#$><]]>; <c>'],
    ['echo [[ a; b', '<echo><[[><a>; <b>'],
    ['(( a > 1 && b )) && c; ((n++))', '<((><a > 1 && b>; && <c>; <((><n++>'],
    ['N=2; ((N += 1)); a $N', '<N=2>; <((><N += 1>; <a><$N>'],
    ['for ((i = 0; i < 8; i++)); do a; done; b', 'for(){<a>}; <b>'],
    ['((a; b) | c); d', 'subshell{subshell{<a>; <b>}; | <c>}; <d>'],
    ['function f {\n a\n}\nfunction g() ( b )\nc', 'function{braces{<a>}}; function{subshell{<b>}}; <c>'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ['declare -a x=(a b)\nc "${x[@]}"', '<declare><-a><x=>; <c><a><b>'],
    ['x[0]=a\nm+=([b]=c)\nd', '<x[0]=a>; <m+=>; <d>'],
    ['while read a; do b; done < <(c | d)\ne', '<c>; | <d>; while(<read><a>){<b>}; <e>'],
    ['exec > >(tee x) 2>&1\na', '<tee><x>; <exec>; <a>'],
    ['a <(b) <(c) d', '<b>; <c>; <a><d>'],
    ['>&2 a; { b; } > c 2>&1; (d) 2>> e &', '<a>; braces{<b>}; subshell{<d>} &'],
    ['exec 200> /tmp/lock; a', '<exec>; <a>'],
    ["IFS=$'\\n' a $'it\\'s' $\"b c\"; d", "<IFS=\\n><a><it\\'s><b c>; <d>"],
    ['a "^b$" c$; d', '<a><^b$><c$>; <d>'],
    ['a "$(b "c)")" d; e $(f \')\' # it\'s\n)', "<a><$(b \"c)\")><d>; <e><$(f ')' # it's\n)>"],
    [
      "a $(cat <<EOF\nit's )\nEOF\n) b; c $((1 << (2 + 3)))",
      "<a><$(cat <<EOF\nit's )\nEOF\n)><b>; <c><$((1 << (2 + 3)))>",
    ],
    ['read a <<< "$b"; c &> d; e |& f; until g; do h; done', '<read><a>; <c>; <e>; | <f>; until(<g>){<h>}'],
  ])('%j', (script, expected) => {
    const read = readScript(script);
    expect(show(read.statements)).toBe(expected);
    expect(read.complete).toBe(true);
  });

  test.each(['[[ a && b', '[[ a; b', '(( a', 'a <(b', 'a $(b "c)', "a $'b"])('%j is not complete', (script) => {
    expect(readScript(script).complete).toBe(false);
  });

  test.each([
    ['[[ ', 60_000],
    ['((', 100_000],
    [';((', 60_000],
    ['<(', 100_000],
    ['a $("', 40_000],
    ['$(<<E\n', 30_000],
    ["$'", 99_999],
    ['function ', 20_000],
  ])('%j times %i is read within limits', (piece, times) => {
    expect(readScript(piece.repeat(times)).complete).toBe(false);
  });
});
