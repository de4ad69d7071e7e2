import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');

/** The rooms of the server in their order: a file imports only from its own room and from rooms to its left. */
const order = [
  'yaml',
  'catalog',
  'command',
  'model',
  'fleet',
  'memory',
  'cost',
  'rewrite',
  'evidence',
  'rules',
  'config',
  'workspace',
  'analysis',
  'features',
];
/** Behind all others, and unknown to each other. */
const ends = ['lsp', 'cli'];
/** Each behind a small interface; nothing in the core knows them. */
const adapters = ['cluster', 'price-sources'];
/** What the running process has, for ends and adapters. */
const base = ['process'];

/** Packages, and the places that may import them. */
const packages: readonly { readonly name: RegExp; readonly places: RegExp }[] = [
  { name: /^yaml$/, places: /^server\/src\/yaml\// },
  {
    name: /^zod(\/mini)?$/,
    places: /^server\/src\/(config\.ts|config\/|cluster\/|price-sources\/|cli\/|lsp\/)/,
  },
  { name: /^vscode-languageserver/, places: /^server\/src\/lsp\// },
  { name: /^vscode-languageclient/, places: /^client\/src\// },
  { name: /^vscode$/, places: /^client\/src\// },
  { name: /^@kubernetes\/client-node$/, places: /^server\/src\/cluster\// },
  { name: /^@marcbachmann\/cel-js$/, places: /^server\/src\/cluster\// },
  { name: /^commander$/, places: /^server\/src\/cli\// },
  {
    name: /^node:/,
    places:
      /^(server\/src\/(lsp\/node(?:-\w+)?\.ts|cli\/|cluster\/|price-sources\/|process\/)|client\/src\/node(?:-\w+)?\.ts)/,
  },
];

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

const sources = [...filesIn('server/src'), ...filesIn('client/src')].filter((file) => file.endsWith('.ts'));
const imports = sources.flatMap(importsOf);

describe('the order of the rooms', () => {
  test('a file imports from its own room and from rooms to its left', () => {
    const wrong = imports.filter(({ file, target }) => {
      const from = roomOf(file);
      const to = roomOf(target);
      return from !== undefined && to !== undefined && !mayImport(from, to);
    });
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
    expect(imports.length).toBeGreaterThan(0);
  });

  test('every file of the server is in a room', () => {
    const rooms = new Set([...order, ...ends, ...adapters, ...base]);
    expect(sources.filter((file) => file.startsWith('server/') && !rooms.has(roomOf(file) ?? ''))).toEqual([]);
  });

  test('the client knows only the protocol, which brings nothing of the server along', () => {
    const protocol = ['protocol', 'cost-protocol', 'cluster-protocol'].map((name) => `server/src/lsp/${name}.ts`);
    const wrong = imports.filter(
      ({ file, target }) => file.startsWith('client/') && target.startsWith('server/') && !protocol.includes(target),
    );
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
    expect(imports.filter(({ file, typeOnly }) => protocol.includes(file) && !typeOnly)).toEqual([]);
  });

  test('the server knows nothing of the client', () => {
    expect(imports.filter(({ file, target }) => file.startsWith('server/') && target.startsWith('client/'))).toEqual(
      [],
    );
  });
});

test('a package is imported only where it belongs', () => {
  const wrong = imports.filter(({ file, target }) => {
    if (isFile(target) || target === 'package.json') return false;
    return !packages.some(({ name, places }) => name.test(target) && places.test(file));
  });
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test('one file imports values of the language server library, because the bundle copies its exports for each', () => {
  const importing = imports.filter(({ target, typeOnly }) => target === 'vscode-languageserver' && !typeOnly);
  expect([...new Set(importing.map(({ file }) => file))]).toEqual(['server/src/lsp/library.ts']);
});

describe('cycles', () => {
  test('no file imports itself through others, not even a type', () => {
    expect([...cyclesOf(imports)]).toEqual([]);
  });

  test('are found, over types and values alike', () => {
    const edge = (file: string, target: string, typeOnly = false) => ({ file, target, typeOnly });
    const found = cyclesOf([edge('b', 'c'), edge('c', 'a', true), edge('a', 'b'), edge('d', 'a'), edge('c', 'e')]);
    expect([...found]).toEqual(['a → b → c']);
  });
});

test('a rule makes its fixes by fix(), and leaves aliases to yaml/edit.ts', () => {
  const byHand = sources
    .filter((file) => file.startsWith('server/src/rules/'))
    .filter((file) => /[\w)\]]\.shared\b(?!['`])|\bsafe: (?!false \})/.test(codeOf(file)));
  expect(byHand).toEqual([]);
});

test('relative imports name a file, with its ending', () => {
  const wrong = imports.filter(({ target }) => isFile(target) && !/\.(ts|json)$/.test(target));
  expect(wrong).toEqual([]);
});

describe('the size and the names of things', () => {
  const written = [...sources, ...filesIn('scripts'), ...filesIn('test')].filter((file) =>
    /\.(ts|mts|mjs)$/.test(file),
  );

  test('no file is longer than 350 lines, no test longer than 450', () => {
    const most = (file: string) => (file.startsWith('test/') ? 450 : 350);
    const long = written.filter((file) => !isGenerated(file) && read(file).split('\n').length - 1 > most(file));
    expect(long).toEqual([]);
  });

  test('files and folders are in kebab-case', () => {
    const wrong = written.filter((file) => !/^[a-z0-9/-]+(\.[a-z0-9]+)*\.(ts|mts|mjs)$/.test(file));
    expect(wrong).toEqual([]);
  });

  test('no folder is a drawer for odds and ends', () => {
    const drawers = new Set(['utils', 'util', 'common', 'types', 'helpers', 'services', 'shared', 'misc', 'lib']);
    expect(written.filter((file) => file.split('/').some((folder) => drawers.has(folder)))).toEqual([]);
  });

  test('only rules have default exports', () => {
    const wrong = sources.filter(
      (file) => /^export default /m.test(read(file)) && !file.startsWith('server/src/rules/'),
    );
    expect(wrong).toEqual([]);
  });
});

function mayImport(from: string, to: string): boolean {
  if (from === to) return true;
  if (base.includes(to)) return ends.includes(from) || adapters.includes(from);
  if (base.includes(from)) return false;
  if (ends.includes(to) || adapters.includes(to)) return ends.includes(from) && adapters.includes(to);
  if (ends.includes(from) || adapters.includes(from)) return true;
  return order.indexOf(to) < order.indexOf(from);
}

/** `server/src/yaml/parse.ts` is in yaml, `server/src/config.ts` in config. */
function roomOf(file: string): string | undefined {
  return /^server\/src\/([\w-]+)/.exec(file)?.[1];
}

function importsOf(file: string): readonly Import[] {
  const found = codeOf(file).matchAll(
    /^(?:import|export)\s+(type\s+)?(?:[^;'"]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm,
  );
  return [...found].map(([, type, target = '', dynamic]) => ({
    file,
    target: resolve(file, dynamic ?? target),
    typeOnly: type !== undefined,
  }));
}

/** The shortest cycle through each file that is on one, from the first of its files by name. */
function cyclesOf(edges: readonly Import[]): ReadonlySet<string> {
  const targets = new Map<string, string[]>();
  for (const { file, target } of edges) targets.set(file, [...(targets.get(file) ?? []), target]);
  const found = new Set<string>();
  for (const file of targets.keys()) {
    const cycle = wayBack(file, targets);
    if (cycle === undefined) continue;
    const first = cycle.indexOf([...cycle].sort()[0] ?? '');
    found.add([...cycle.slice(first), ...cycle.slice(0, first)].join(' → '));
  }
  return found;
}

function wayBack(file: string, targets: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const ways = new Map<string, readonly string[]>([[file, [file]]]);
  for (const [here, way] of ways) {
    for (const target of targets.get(here) ?? []) {
      if (target === file) return way;
      if (!ways.has(target)) ways.set(target, [...way, target]);
    }
  }
  return undefined;
}

/** A relative target as a path from the root; a package's name as it is. */
function resolve(file: string, target: string): string {
  return target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : target;
}

function isFile(target: string): boolean {
  return /^(server|client|scripts|test)\//.test(target);
}

function isGenerated(file: string): boolean {
  return /^\/\/ Generated by /.test(read(file));
}

/** A file's text without its block comments. */
function codeOf(file: string): string {
  return read(file).replace(/\/\*[\s\S]*?\*\//g, '');
}

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

/** Every file below a folder, as paths from the root with forward slashes. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => !file.includes('/fixtures/') && !file.includes('node_modules'));
}
