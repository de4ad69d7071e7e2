import { spawnSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { formatNames } from './command-line.ts';
import { configText } from './config-texts.ts';
import { mutate, mutatorNames, scale } from './mutate.ts';
import { related } from './related.ts';
import type { Seeds } from './seeds.ts';

/** An entry in a folder. */
export interface Entry {
  readonly kind: 'file' | 'latin1' | 'utf16' | 'folder' | 'link' | 'hard link' | 'pipe';
  /** Its path relative to the checked folder. */
  readonly name: string;
  readonly text?: string;
  /** The target of a link. */
  readonly target?: string;
  readonly mode?: number;
}

/** A folder and how to check it. */
export interface Tree {
  readonly entries: readonly Entry[];
  readonly paths: readonly string[];
  readonly format: string;
  readonly fix: boolean;
}

/** Creates the entries, except those that are impossible (the name is taken or too long). */
export function grow(folder: string, entries: readonly Entry[]): void {
  for (const { kind, name, text = '', target = '', mode } of entries) {
    const full = path.join(folder, name);
    if (!full.startsWith(folder + path.sep)) continue;
    try {
      mkdirSync(path.dirname(full), { recursive: true });
      if (kind === 'folder') mkdirSync(full, { recursive: true });
      else if (kind === 'link') symlinkSync(target, full);
      else if (kind === 'hard link') linkSync(path.join(folder, target), full);
      else if (kind === 'pipe') spawnSync('mkfifo', ['--', full]);
      else writeFileSync(full, bytesOf(kind, text), { flag: 'wx' });
      if (mode !== undefined && kind !== 'link') chmodSync(full, mode);
    } catch {
      // Some entries conflict with others.
    }
  }
}

function bytesOf(kind: Entry['kind'], text: string): Buffer {
  if (kind === 'utf16') return Buffer.from(`\ufeff${text}`, 'utf16le');
  return Buffer.from(kind === 'latin1' ? `# café\n${text}` : text, kind === 'latin1' ? 'latin1' : 'utf8');
}

const stem = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'values', 'kustomization', 'Chart', 'x') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '-rf',
      '--fix',
      '__proto__',
      'constructor',
      'a b',
      'a\nb',
      'a\rb',
      '\u001b[31mred',
      'ü🚀',
      '::error file=x::y',
      'a%0Ab',
      '*',
      '{a,b}',
      '[x]',
      '!a',
      '\\',
      'a,b:c',
      '"',
      "'",
      '<b>&',
      '|x|',
      '`',
      '\u2028',
      '\u009b31m',
      '#',
      '~',
      '$(x)',
      'a'.repeat(200),
    ),
  },
);
const ending = fc.constantFrom('.yaml', '.yaml', '.yml', '.json', '.tpl', '.yaml.j2', '.txt', '');
const folderName = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('', '', 'sub', 'templates', 'charts/c', 'base', 'overlays/x', '.git', 'node_modules/m'),
  },
  { weight: 1, arbitrary: stem },
  { weight: 1, arbitrary: fc.integer({ min: 5, max: 60 }).map((depth) => 'd/'.repeat(depth)) },
);
const name = fc.tuple(folderName, stem, ending).map(([folder, file, end]) => path.posix.join(folder, file + end));

const outward = [
  '..',
  '../outside.yaml',
  '../outside',
  '../../..',
  '/etc',
  '/etc/passwd',
  '/dev/zero',
  '/proc/self',
  '.',
  'a.yaml',
  'sub',
  'none',
  '../workspace',
  './sub/../..',
] as const;
const target = fc.oneof(fc.constantFrom(...outward), name);

const kustomization = fc
  .tuple(
    fc.constantFrom('resources', 'bases', 'components', 'patchesStrategicMerge', 'patches', 'configurations'),
    fc.array(target, { maxLength: 3 }),
  )
  .map(
    ([key, places]) =>
      `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n${key}: ${JSON.stringify(places)}\n`,
  );
const chart = fc.constant('apiVersion: v2\nname: c\nversion: 1.0.0\n');

/** Folders of manifests, charts, kustomizations and configs, with links, pipes and names that have a meaning to some tool. */
export function trees({ all }: Seeds): fc.Arbitrary<Tree> {
  const short = all.filter(({ text, own }) => own && text.length < 2000).map(({ text }) => text);
  const number = fc.nat(scale - 1);
  const manifest = fc
    .tuple(
      fc.constantFrom(...short, ...related),
      fc.array(fc.record({ kind: fc.constantFrom(...mutatorNames), at: number, choice: number }), { maxLength: 2 }),
    )
    .map(([seed, mutations]) => mutate(seed, '', mutations).slice(0, 20_000));
  const mode = fc.constantFrom(0o644, 0o644, 0o600, 0o755, 0o444, 0o400, 0o666);
  const entry: fc.Arbitrary<Entry> = fc.oneof(
    { weight: 10, arbitrary: fc.record({ kind: fc.constant('file' as const), name, text: manifest, mode }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('latin1' as const, 'utf16' as const), name, text: manifest }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('file' as const),
        name: folderName.map((folder) => path.posix.join(folder, 'kustomization.yaml')),
        text: kustomization,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('file' as const),
        name: folderName.map((folder) => path.posix.join(folder, 'Chart.yaml')),
        text: chart,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('file' as const),
        name: folderName.map((folder) => path.posix.join(folder, '.gpulint.yaml')),
        text: configText,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('link' as const), name, target }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('hard link' as const), name, target: name }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pipe' as const, 'folder' as const), name }) },
  );
  return fc
    .record({
      entries: fc.array(entry, { minLength: 1, maxLength: 12, size: 'max' }),
      argument: fc.oneof(
        { weight: 4, arbitrary: fc.constant(undefined) },
        { weight: 2, arbitrary: number },
        { weight: 1, arbitrary: fc.constantFrom('none.yaml', '', '/dev/null', 'sub', './sub/..') },
      ),
      format: fc.constantFrom(...formatNames, 'json'),
      fix: fc.boolean(),
    })
    .map(({ entries, argument, format, fix }) => {
      const named = typeof argument === 'number' ? entries[argument % entries.length]?.name : argument;
      return { entries, paths: [named ?? '.'], format, fix };
    });
}
