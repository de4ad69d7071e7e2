import fc from 'fast-check';
import { splitDocuments } from '../../server/src/yaml/parse.ts';
import type { Sequence, Step } from './edits.ts';
import { type Mutation, type MutatorName, mutate, scale } from './mutate.ts';
import { related } from './related.ts';
import type { Seed, Seeds } from './seeds.ts';

const uris = [
  'file:///w/a.yaml',
  'file:///w/b.yaml',
  'file:///w/sub/a.yaml',
  'file:///w/sub/c.yaml',
  'file:///w/other/d.yaml',
] as const;
const configTexts = [
  '',
  'platform: eks-karpenter\ngpu: h100-80gb-sxm\n',
  'extends: strict\nregion: us-east-1\n',
] as const;

/** A step before it is known what the files hold then. */
interface Move {
  readonly kind: (typeof moveKinds)[number];
  readonly file: number;
  readonly other: number;
  readonly at: number;
  readonly choice: number;
  readonly compare: boolean;
}

const moveKinds = [
  'type',
  'type',
  'paste',
  'paste',
  'duplicate',
  'take',
  'move',
  'rename',
  'swap',
  'close',
  'delete',
  'reopen',
  'save',
  'config',
  'empty',
] as const;

const edits: readonly MutatorName[] = [
  'deleteLine',
  'duplicateBlock',
  'deleteBlock',
  'moveBlock',
  'swapWords',
  'number',
  'key',
  'copyKey',
  'insertMark',
  'mergeDocuments',
  'splitDocument',
  'truncate',
  'indentLine',
  'value',
  'lineEnds',
  'duplicateLine',
];

const number = fc.nat(scale - 1);

/** What may happen to a handful of files that are made of documents which name each other. */
export function sequences({ all }: Seeds): fc.Arbitrary<Sequence> {
  const families = all.filter(
    ({ text }) =>
      text.length < 8000 &&
      /^---/m.test(text) &&
      /\b(?:HorizontalPodAutoscaler|ScaledObject|LocalQueue|NodePool|ServingRuntime|ResourceClaim\w*|PersistentVolumeClaim|PodGroup|ClusterQueue|RayService)\b/.test(
        text,
      ),
  );
  const move: fc.Arbitrary<Move> = fc.record({
    kind: fc.constantFrom(...moveKinds),
    file: fc.nat(uris.length - 1),
    other: fc.nat(uris.length - 1),
    at: number,
    choice: number,
    compare: fc.boolean(),
  });
  return fc
    .record({
      seed: fc.option(number, { freq: 3 }),
      objects: fc.array(
        fc.record({ file: fc.nat(uris.length - 1), object: fc.nat(related.length - 1), disk: fc.boolean() }),
        { maxLength: 8 },
      ),
      moves: fc.array(move, { minLength: 1, maxLength: 12 }),
    })
    .map(({ seed, objects, moves }) => {
      const family = seed === null ? undefined : families[Math.floor((seed / scale) * families.length)];
      return { steps: play(family, objects, moves), own: family?.own ?? true };
    });
}

function play(
  family: Seed | undefined,
  objects: readonly { file: number; object: number; disk: boolean }[],
  moves: readonly Move[],
): Sequence['steps'] {
  const steps: Sequence['steps'][number][] = [];
  const texts = new Map<string, string>();
  const set = (uri: string, text: string, compare: boolean) => {
    texts.set(uri, text);
    steps.push({ do: 'set', uri, text, compare });
  };
  const parts = family === undefined ? [] : partsOf(family.text);
  for (const [index, part] of parts.slice(0, 8).entries()) add(texts, uriAt(index % 3), part);
  for (const { file, object } of objects) add(texts, uriAt(file), related[object] ?? '');
  for (const [uri, text] of texts) {
    const disk = objects.some(({ file, disk: is }) => is && uriAt(file) === uri);
    steps.push(disk ? { do: 'disk', uri, text, compare: false } : { do: 'set', uri, text, compare: false });
  }
  for (const { kind, file, other, at, choice, compare } of moves) {
    const [uri, to] = [uriAt(file), uriAt(other)];
    const text = texts.get(uri) ?? '';
    const own = partsOf(text);
    const index = own.length === 0 ? 0 : Math.floor((at / scale) * own.length);
    const part = own[index] ?? '';
    const without = joined(own.filter((_, place) => place !== index));
    const step = (one: Step) => steps.push({ ...one, compare });
    if (kind === 'type')
      set(
        uri,
        mutate(text, '', [{ kind: edits[choice % edits.length] ?? 'deleteLine', at, choice } satisfies Mutation]),
        compare,
      );
    else if (kind === 'paste') set(uri, joined([...own, related[choice % related.length] ?? '']), compare);
    else if (kind === 'duplicate')
      set(
        uri,
        joined([...own.slice(0, choice % (own.length + 1)), part, ...own.slice(choice % (own.length + 1))]),
        compare,
      );
    else if (kind === 'take') set(uri, without, compare);
    else if (kind === 'move') {
      set(uri, without, compare);
      set(to, joined([...partsOf(texts.get(to) ?? ''), part]), compare);
    } else if (kind === 'swap') set(uri, joined([...own].reverse()), compare);
    else if (kind === 'empty') set(uri, '', compare);
    else if (kind === 'reopen') set(uri, text, compare);
    else if (kind === 'save') step({ do: 'disk', uri, text });
    else if (kind === 'config') step({ do: 'config', text: configTexts[choice % configTexts.length] ?? '' });
    else if (kind === 'rename') {
      step({ do: 'delete', uri });
      texts.delete(uri);
      set(to, text, compare);
    } else step({ do: kind, uri });
  }
  return steps;
}

function uriAt(index: number): string {
  return uris[index] ?? uris[0];
}

function add(texts: Map<string, string>, uri: string, part: string): void {
  texts.set(uri, joined([...partsOf(texts.get(uri) ?? ''), part]));
}

function partsOf(text: string): readonly string[] {
  return text === '' ? [] : splitDocuments(text).map((part) => part.text.replace(/^---[ \t]*\r?\n/, ''));
}

function joined(parts: readonly string[]): string {
  return parts.map((part) => (part.endsWith('\n') || part === '' ? part : `${part}\n`)).join('---\n');
}
