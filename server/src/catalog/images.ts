import { lazy } from '../yaml/lazy.ts';
import imagesJson from './data/images.json' with { type: 'json' };
import type { Use } from './program-records.ts';

/** An image whose entrypoint is a known program. It is identified by the end of its repository, since registries and builds vary. */
export interface ImageRecord {
  /**
   * `name`: the last part of the repository; `owner/name`: its last two parts; `name/`: any part before the last. `-*` at the end: more words
   * may follow, after a hyphen or as a number. `*-` at the start: one more word may come before.
   */
  readonly image: string;
  readonly program: string;
  readonly use: Use;
}

const records = (imagesJson as unknown as { readonly images: readonly ImageRecord[] }).images;

const byPattern: () => ReadonlyMap<string, ImageRecord> = lazy(
  () => new Map(records.map((record) => [record.image, record])),
);

/** The length that registries accept: https://github.com/distribution/reference */
const maxRepository = 255;

/** The record for an image's repository (without tag and digest). The most specific pattern wins. */
export function imageOf(repository: string): ImageRecord | undefined {
  if (repository.length > maxRepository) return undefined;
  const parts = repository.split('/');
  const last = parts.pop() ?? '';
  const owner = parts.at(-1);
  const withoutFirst = last.slice(last.indexOf('-') + 1);
  return (
    (owner === undefined ? undefined : firstOf(patternsOf(last).map((pattern) => `${owner}/${pattern}`))) ??
    firstOf(patternsOf(last)) ??
    firstOf([...patternsOf(last), ...patternsOf(withoutFirst)].map((pattern) => `*-${pattern}`)) ??
    firstOf(parts.flatMap(patternsOf).map((pattern) => `${pattern}/`))
  );
}

function firstOf(patterns: readonly string[]): ImageRecord | undefined {
  return patterns.map((pattern) => byPattern().get(pattern)).find((record) => record !== undefined);
}

/** The patterns that a part of a repository matches, most specific first: `a-b`, `a-b-*`, `a-*`. */
function patternsOf(part: string): readonly string[] {
  const cuts = [...part.matchAll(/-|(?<=[a-z])(?=\d)/g)].map(({ index }) => `${part.slice(0, index)}-*`);
  return [part, `${part}-*`, ...cuts.reverse()];
}
