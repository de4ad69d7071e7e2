import { existsSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFixture } from '../support/rule-fixture.ts';
import { entriesBelow } from './walk.ts';

/** A text to start from. */
export interface Seed {
  readonly text: string;
  /** Part of this repository; texts derived from other people's are never saved in it. */
  readonly own: boolean;
}

/** The texts of a run, shortest first, and their sources. */
export interface Seeds {
  readonly all: readonly Seed[];
  /** The number of texts from each source. */
  readonly sources: ReadonlyMap<string, number>;
}

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Longer texts are slow to check and contain little that shorter ones do not. */
const maxLength = 200_000;

/** All seeds on this machine. The corpora are optional folders outside the repository. */
export function readSeeds(): Seeds {
  const sources = new Map<string, number>();
  const all: Seed[] = [];
  const add = (source: string, own: boolean, texts: readonly string[]) => {
    const some = texts.filter((text) => text.trim() !== '' && text.length <= maxLength);
    if (some.length > 0) sources.set(source, some.length);
    all.push(...some.map((text) => ({ text, own })));
  };
  add('examples', true, textsIn('examples', manifest));
  add('test/fixtures', true, textsIn('test/fixtures', manifest, ['fuzz']).flatMap(casesOf));
  add('snippets', true, snippets());
  add('docs/rules', true, textsIn('docs/rules', /\.md$/).flatMap(yamlBlocks));
  for (const name of ['corpus/dev', 'corpus2/dev'])
    add(`../shared/${name}`, false, textsIn(`../shared/${name}`, manifest));
  add('../shared/robustness', false, textsIn('../shared/robustness', /\.yaml\.txt$/));
  return { all: all.sort((a, b) => a.text.length - b.text.length), sources };
}

const manifest = /\.(ya?ml|json|tpl)$/;

function textsIn(folder: string, name: RegExp, without: readonly string[] = []): readonly string[] {
  const top = path.join(root, folder);
  if (!existsSync(top)) return [];
  return entriesBelow(top)
    .filter((file) => name.test(file) && !without.some((inner) => file.startsWith(inner + path.sep)))
    .map((file) => path.join(top, file))
    .filter((file) => lstatSync(file).isFile())
    .map((file) => readFileSync(file, 'utf8'));
}

/** A rule's fixture contains many short cases, each a text of its own. */
function casesOf(text: string): readonly string[] {
  return /^#### /.test(text) ? readFixture(text).map((one) => one.text) : [text];
}

function yamlBlocks(page: string): readonly string[] {
  return [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
}

function snippets(): readonly string[] {
  const stored: Record<string, { body: string | string[] }> = JSON.parse(
    readFileSync(path.join(root, 'snippets/gpulint.json'), 'utf8'),
  );
  return Object.values(stored).map(({ body }) =>
    [body]
      .flat()
      .join('\n')
      .replace(/\$\{\d+\|([^,|}]*)[^}]*\}|\$\{\d+:([^}]*)\}|\$\d+/g, '$1$2'),
  );
}
