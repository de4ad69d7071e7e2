import { wordSet } from '../../catalog/word-patterns.ts';
import { wordsOf } from '../../command/name-words.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';
import { countIn } from '../count.ts';
import type { PodCount } from './kind.ts';
import { between, exactly } from './pod-sets.ts';

// The counts that one mapping of an unknown kind has, recognized by the words of their names.

/** What a mapping says of the number of pods below it. */
export interface MappingCounts {
  readonly written: readonly Written[];
  readonly bounds: Bounds | undefined;
  /** `shards: 4` next to replicas: each shard may have its own replicas. */
  readonly hasShards: boolean;
  /** The members of a replica according to a block next to the pods. */
  readonly members: PodCount | undefined;
}

/** The bounds of an autoscaler, and whether they are in a block of their own. */
export interface Bounds {
  readonly pods: PodCount;
  readonly inBlock: boolean;
}

/** A field that counts pods or groups of them. */
export interface Written {
  readonly noun: Noun;
  readonly roles: readonly string[];
  readonly at: Cursor;
  /** null: templated. */
  readonly value: number | null;
}

/** @param taken everything on the way to pods */
export function countsIn(mapping: Cursor, taken: ReadonlySet<YamlNode>): MappingCounts {
  const children = entries(mapping);
  return {
    written: withoutRanks(children.flatMap((entry) => countAt(entry) ?? [])),
    bounds: boundsOf(mapping),
    hasShards: children.some(isShardCount),
    members: besides(mapping, taken),
  };
}

/** Counts of pods. `worldSize` counts processes: other counts make it unnecessary, and alone it does not say how many share a pod. */
function withoutRanks(written: readonly Written[]): readonly Written[] {
  const pods = written.filter(({ at }) => !isWorldSize(at));
  return pods.length > 0 ? pods : written.map((count) => ({ ...count, value: count.value === 1 ? 1 : null }));
}

function isWorldSize(at: Cursor): boolean {
  return singularsOf(keyOf(at)).includes('world');
}

/** The members of a replica according to a block next to the pods: `multinode: {nodeCount: 2}`; undefined if there is none. */
function besides(mapping: Cursor, taken: ReadonlySet<YamlNode>): PodCount | undefined {
  // Roles with a size each: `worker: {size: 8}` next to `login: {size: 2}`.
  const isSized = (block: Cursor) =>
    entries(block).some((entry) => keyOf(entry) === 'size' && numberIn(entry) !== undefined);
  if (entries(mapping).some((block) => taken.has(block.node) && isSized(block))) return undefined;
  for (const block of entries(mapping)) {
    if (block.node.kind !== 'map' || taken.has(block.node) || asBoolean(getIn(block, 'enabled')) === false) continue;
    const [size] = entries(block)
      .flatMap((entry) => countAt(entry) ?? [])
      .filter(({ noun }) => noun === 'size');
    if (size === undefined || size.value === 1 || isStorage(keyOf(block))) continue;
    if (isWorldSize(size.at) && entries(mapping).some((entry) => countAt(entry) !== undefined)) continue;
    const isOfPods =
      /multi-?node|leader-?worker|lws|distributed|gang|group/i.test(keyOf(block)) ||
      (launchNodes.test(keyOf(size.at)) && !/cluster|pool|quota|infra|limit/i.test(keyOf(block)));
    return exactly(isOfPods ? size.value : null);
  }
  return undefined;
}

/** What launchers such as torchrun and Lightning call the nodes of one job. */
const launchNodes = /^(?:nnodes|num_?nodes)$/i;

/** Whether a block describes storage, which has sizes. */
function isStorage(key: string): boolean {
  return /storage|volume|disk|persist|cache|pool/i.test(key);
}

/** Whether a part of a mapping without pods counts something: it may count the pods (a trait, a policy, a scaler). */
export function countsElsewhere(cursor: Cursor, taken: ReadonlySet<YamlNode>, depth = 0): boolean {
  return [...entries(cursor), ...items(cursor)].some((child) => {
    if (
      taken.has(child.node) ||
      depth > 3 ||
      /^(?:status|metadata|resources|gpus?|accelerators?)$/i.test(keyOf(child)) ||
      isStorage(keyOf(child))
    )
      return false;
    if (child.node.kind !== 'scalar') return countsElsewhere(child, taken, depth + 1);
    const written = depth > 0 ? countAt(child) : undefined;
    return written !== undefined && written.noun !== 'process' && written.value !== 1 && written.roles.length === 0;
  });
}

/** `shards: 4` next to replicas: each shard may have its own replicas. */
function isShardCount(entry: Cursor): boolean {
  const words = singularsOf(keyOf(entry)).filter((word) => !fillers.has(word));
  return words.length === 1 && words[0] === 'shard' && (numberIn(entry) ?? 2) > 1 && entry.node.kind === 'scalar';
}

/** What a count counts: groups or pods, the members of a group, or workers, which may also be processes. */
export type Noun = 'group' | 'size' | 'plain' | 'process';

const groupNouns: ReadonlySet<string> = new Set(['replica', 'instance']);
const sizeNouns = wordSet('size node host machine member pod parallelism');
const processNouns: ReadonlySet<string> = new Set(['worker', 'server', 'executor', 'runner']);
const fillers = wordSet('num number of n desired count target nnode');

/** Words of names that limit a count, or count parts of the work, memory, parts of a server, devices, shares of a model, or states. */
const foreign = wordSet(
  'min max minimum maximum per limit',
  'batch chunk context window page sequence token history epoch step retry revision layer head',
  'shm disk storage memory volume block cache buffer',
  'queue thread process port pool image',
  'gpu cpu device accelerator',
  'shard partition tensor data pipeline expert',
  'ready available current unavailable surge failed successful',
);

/** A field that counts pods or groups of them by its name, with its number. */
function countAt(entry: Cursor): Written | undefined {
  const value = numberIn(entry);
  if (value === undefined) return undefined;
  const all = singularsOf(keyOf(entry));
  const found = (noun: Noun, roles: readonly string[]): Written => ({ noun, roles, at: entry, value });
  // A search runs as many trials at once, also as `maxParallelTrials`.
  if (all.includes('trial') && all.some((word) => /^(?:parallel|concurrent)/.test(word))) return found('group', []);
  if (all.some((word) => foreign.has(word))) return undefined;
  const words = all.filter((word) => !fillers.has(word));
  const rest = (nouns: ReadonlySet<string>) => words.filter((word) => !nouns.has(word));
  if (words.some((word) => groupNouns.has(word))) return found('group', rest(groupNouns).filter(isRole));
  if (words.includes('size')) return found('size', words.filter((word) => word !== 'size').filter(isRole));
  if (words.some((word) => sizeNouns.has(word))) {
    const roles = rest(sizeNouns).filter(isRole);
    return words.includes('parallelism') && roles.length > 0 ? undefined : found('size', roles);
  }
  if (all.includes('nnode')) return found('size', []);
  if (words.some((word) => processNouns.has(word)) && rest(processNouns).length === 0) return found('process', []);
  if (!all.includes('count')) return undefined;
  return words.length === 0 ? found('plain', []) : found('group', words.filter(isRole));
}

/** A word that distinguishes a role, not one that only describes any group. */
function isRole(word: string): boolean {
  return !/^(?:group|cluster|pod|set)$/.test(word);
}

/** Lower-case words without plural s. */
export function singularsOf(name: string): readonly string[] {
  return wordsOf(name).map((word) => (word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word));
}

/** The number of a scalar or of `{value: 1}`: null for a placeholder, undefined if it is not a count. */
function numberIn(entry: Cursor | undefined): number | null | undefined {
  const cursor = entry?.node.kind === 'map' ? getIn(entry, 'value') : entry;
  if (cursor?.node.kind !== 'scalar') return undefined;
  return isTemplated(cursor) ? null : (countIn(asText(cursor)) ?? undefined);
}

const scalerBlock = /^(?:auto-?scal\w*|scaling\w*|scaler|scale|hpa|keda|replicas|instances|workers)$/i;

/** The bounds of an autoscaler in a mapping, or in a block of it that is not turned off. */
function boundsOf(mapping: Cursor): Bounds | undefined {
  const blocks = entries(mapping).filter((entry) => entry.node.kind === 'map' && scalerBlock.test(keyOf(entry)));
  const active = blocks.filter((block) => asBoolean(getIn(block, 'enabled')) !== false);
  for (const owner of [...active, mapping]) {
    const [min, max] = (['min', 'max'] as const).map((side) => boundIn(owner, side, owner !== mapping));
    if (min === undefined && max === undefined) continue;
    // Bounds of a block that is turned off do not apply.
    if (owner === mapping && blocks.length > active.length) continue;
    const written = numberIn(getIn(mapping, 'replicas'));
    const pods = between(min === undefined ? (written ?? null) : min, max === undefined ? null : max);
    return { pods, inBlock: owner !== mapping };
  }
  return undefined;
}

function boundIn(owner: Cursor, side: 'min' | 'max', isBlock: boolean): number | null | undefined {
  const at = entries(owner).find((entry) => {
    const words = singularsOf(keyOf(entry)).filter((word) => !fillers.has(word));
    const [bound, ...nouns] = words;
    if (bound !== side && bound !== `${side}imum`) return false;
    const counted = (word: string) =>
      groupNouns.has(word) || processNouns.has(word) || /^(?:scale|size|node)$/.test(word);
    return nouns.length === 0 ? isBlock : nouns.length === 1 && nouns.every(counted);
  });
  return at && numberIn(at);
}
