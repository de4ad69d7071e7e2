import { wordsOf } from '../../command/name-words.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';
import { countIn } from '../count.ts';
import type { PodCount } from './kind.ts';
import { between, exactly, times } from './pod-sets.ts';

// How many pods of a template an object of an unknown kind runs: the product of the counts in the mappings above the template. A count is
// recognized by the words of its name. Counts that contradict each other, or may count something else, make the number unknown.

export interface ShapeCount {
  readonly pods: PodCount;
  /** A size counts the members of a group, so that an amount may be for each of them or for all. */
  readonly hasSize?: boolean;
  /** The innermost written number. */
  readonly replicas: Cursor | undefined;
}

/** A place of pods within an object. */
export interface ShapePlace {
  readonly pod: Cursor;
  /** Everything from the object's fields to the pods, outermost first. */
  readonly path: readonly Cursor[];
  /** The mappings above the pods that may count them, innermost first. */
  readonly above: readonly Cursor[];
  /** The words of the keys and names between a mapping above and the pods. */
  readonly wordsBelow: (above: Cursor) => readonly string[];
}

/** The number of pods at a place. */
export function countPods(place: ShapePlace, others: readonly ShapePlace[]): ShapeCount {
  // A list of templates to choose from: the roles that name them have the numbers.
  if (place.path.some((step) => /templates$/i.test(keyOf(step)))) return { pods: exactly(null), replicas: undefined };
  const taken = new Set([place, ...others].flatMap(({ path }) => path.map(({ node }) => node)));
  let pods = exactly(1);
  let replicas: Cursor | undefined;
  let counted = false;
  let scaled = false;
  let hasSize = false;
  for (const mapping of place.above) {
    const factor = factorOf(mapping, place, others);
    const members = besides(mapping, taken);
    if (factor === undefined && members === undefined) continue;
    // A part with an autoscaler of its own is not in the autoscaler of the whole.
    if (factor?.scales === true && scaled) continue;
    // The replicas of a component that has parts with their own replicas: of the component alone, or of all of it.
    const ambiguous = factor !== undefined && isAmbiguous(mapping, place, counted, factor);
    pods = ambiguous ? exactly(null) : multiply(multiply(pods, factor?.pods ?? exactly(1)), members ?? exactly(1));
    replicas ??= factor?.replicas;
    counted = true;
    scaled ||= factor?.scales === true;
    hasSize ||= factor?.hasSize === true;
  }
  if (!counted && place.above.some((mapping) => countsElsewhere(mapping, taken, 0)))
    return { pods: exactly(null), replicas };
  return { pods, replicas, hasSize };
}

function multiply(a: PodCount, b: PodCount): PodCount {
  return { min: times(a, b.min).min, max: times(a, b.max).max };
}

/** Whether the counts of a mapping above pods may be for the mapping's own pods: it has an image or resources itself. */
function isAmbiguous(mapping: Cursor, { pod }: ShapePlace, counted: boolean, { scales }: Factor): boolean {
  if (mapping.node === pod.node) return false;
  const owned = getIn(mapping, 'resources', 'limits') ?? getIn(mapping, 'resources', 'requests');
  return owned !== undefined || (counted && (scales === true || getIn(mapping, 'image') !== undefined));
}

/** The members of a replica according to a block next to the pods: `multinode: {nodeCount: 2}`; undefined if there is none. */
function besides(mapping: Cursor, taken: ReadonlySet<YamlNode>): PodCount | undefined {
  for (const block of entries(mapping)) {
    if (block.node.kind !== 'map' || taken.has(block.node) || asBoolean(getIn(block, 'enabled')) === false) continue;
    const [size] = entries(block)
      .flatMap((entry) => countAt(entry) ?? [])
      .filter(({ noun }) => noun === 'size');
    if (size === undefined || size.value === 1 || isStorage(keyOf(block))) continue;
    return exactly(/multi-?node|leader-?worker|lws|distributed|gang|group/i.test(keyOf(block)) ? size.value : null);
  }
  return undefined;
}

/** Whether a block describes storage, which has sizes. */
function isStorage(key: string): boolean {
  return /storage|volume|disk|persist|cache|pool/i.test(key);
}

/** Whether a part of a mapping without pods counts something: it may count the pods (a trait, a policy, a scaler). */
function countsElsewhere(cursor: Cursor, taken: ReadonlySet<YamlNode>, depth: number): boolean {
  return [...entries(cursor), ...items(cursor)].some((child) => {
    if (
      taken.has(child.node) ||
      depth > 3 ||
      /^(?:status|metadata|resources)$/.test(keyOf(child)) ||
      isStorage(keyOf(child))
    )
      return false;
    if (child.node.kind !== 'scalar') return countsElsewhere(child, taken, depth + 1);
    const written = depth > 0 ? countAt(child) : undefined;
    return written !== undefined && written.noun !== 'process' && written.value !== 1 && written.roles.length === 0;
  });
}

interface Written {
  readonly noun: Noun;
  readonly roles: readonly string[];
  readonly at: Cursor;
  /** null: templated. */
  readonly value: number | null;
}

interface Factor extends ShapeCount {
  /** By the bounds of an autoscaler in a block of its own, which may be for one component alone. */
  readonly scales?: boolean;
}

/** By what one mapping multiplies the pods below it; undefined if it has no counts for them. */
function factorOf(mapping: Cursor, place: ShapePlace, others: readonly ShapePlace[]): Factor | undefined {
  const below = place.wordsBelow(mapping);
  const rivals = others.filter(({ above }) => above.some(({ node }) => node === mapping.node));
  const counts = entries(mapping).flatMap((entry) => {
    const written = countAt(entry);
    return written !== undefined && appliesTo(written, mapping, below, rivals) ? [written] : [];
  });
  const bounds = boundsOf(mapping);
  const of = (noun: Noun) => counts.filter((count) => count.noun === noun);
  const [size, plain, processes] = [of('size'), of('plain'), of('process')].map(agreed);
  // The replicas of the whole and those of one role in it.
  const [group, role] = [true, false].map((own) =>
    agreed(of('group').filter(({ roles }) => (roles.length === 0) === own)),
  );
  const [at] = counts.map((count) => count.at);
  if (bounds !== undefined) {
    const pods = multiply(bounds.pods, exactly(factorFrom(size)));
    return { pods, replicas: at, scales: bounds.inBlock };
  }
  if (entries(mapping).some(isShardCount)) return { pods: exactly(null), replicas: at };
  if (at === undefined) return undefined;
  if (counts.some((count) => mayBeProcesses(count, mapping, place))) return { pods: exactly(null), replicas: at };
  // A server's workers are processes; next to replicas they may be either.
  if (plain !== undefined && counts.length > of('plain').length) return { pods: exactly(null), replicas: at };
  if (processes !== undefined && counts.length > of('process').length) return { pods: exactly(null), replicas: at };
  const members = size === undefined ? (processes ?? plain) : size;
  const each = shareOf(factorFrom(members), size !== undefined && rivals.length > 0, below);
  const pods = times(times(exactly(factorFrom(group)), factorFrom(role)), each);
  return { pods, replicas: at, hasSize: members !== undefined && members.value !== 1 };
}

/** `shards: 4` next to replicas: each shard may have its own replicas. */
function isShardCount(entry: Cursor): boolean {
  const words = singularsOf(keyOf(entry)).filter((word) => !fillers.has(word));
  return words.length === 1 && words[0] === 'shard' && (numberIn(entry) ?? 2) > 1 && entry.node.kind === 'scalar';
}

/** `workers: 4` or `parallelism: 4` of a program without a pod template: pods, or processes in a pod. */
function mayBeProcesses({ at, value }: Written, mapping: Cursor, { pod }: ShapePlace): boolean {
  if (value === 1 || !/^(?:workers|servers|parallelism)$/i.test(keyOf(at))) return false;
  return (
    mapping.node === pod.node && !entries(mapping).some((entry) => /per_?-?(?:worker|server|pod)/i.test(keyOf(entry)))
  );
}

/** One value if all of them are equal, null if they differ; undefined if there are none. */
function agreed(counts: readonly Written[]): { readonly value: number | null } | undefined {
  const [first, ...others] = counts;
  if (first === undefined) return undefined;
  return { value: others.every(({ value }) => value === first.value) ? first.value : null };
}

function factorFrom(count: { readonly value: number | null } | undefined): number | null {
  return count === undefined ? 1 : count.value;
}

const leaders = /^(?:leader|head|master|launcher|driver|coordinator|chief|main)$/;

/** The part of a group's size that one of its templates takes: one leader, and all others. */
function shareOf(size: number | null, isShared: boolean, below: readonly string[]): number | null {
  if (!isShared || size === null) return size;
  if (below.some((word) => leaders.test(word))) return 1;
  return below.some((word) => /^(?:worker|follower|slave)$/.test(word)) ? Math.max(size - 1, 0) : null;
}

/** Whether a count is about the pods at a place: its name names no role, or the role of the place. */
function appliesTo(
  { noun, roles, at }: Written,
  mapping: Cursor,
  below: readonly string[],
  rivals: readonly ShapePlace[],
): boolean {
  const own = noun === 'process' ? singularsOf(keyOf(at)) : roles;
  if (own.length === 0 || own.some((role) => below.includes(role))) return true;
  if (noun !== 'process') return false;
  return !rivals.some((rival) => own.some((role) => rival.wordsBelow(mapping).includes(role)));
}

/** What a count counts: groups or pods, the members of a group, or workers, which may also be processes. */
type Noun = 'group' | 'size' | 'plain' | 'process';

const groupNouns: ReadonlySet<string> = new Set(['replica', 'instance']);
const sizeNouns: ReadonlySet<string> = new Set(['size', 'node', 'host', 'machine', 'member', 'pod', 'parallelism']);
const processNouns: ReadonlySet<string> = new Set(['worker', 'server', 'executor', 'runner']);
const fillers: ReadonlySet<string> = new Set(['num', 'number', 'of', 'n', 'desired', 'count', 'target', 'nnode']);

/** Words of names that count something else, or limit it. */
const foreign =
  /^(?:min|max|minimum|maximum|per|limit|batch|shm|disk|storage|memory|volume|block|cache|chunk|context|window|page|queue|thread|process|gpu|cpu|device|accelerator|token|history|revision|retry|epoch|step|shard|port|partition|tensor|data|pipeline|expert|sequence|ready|available|current|unavailable|surge|failed|successful|image|image|layer|head|port|pool|buffer)$/;

/** A field that counts pods or groups of them by its name, with its number. */
function countAt(entry: Cursor): Written | undefined {
  const value = numberIn(entry);
  if (value === undefined) return undefined;
  const all = singularsOf(keyOf(entry));
  if (all.some((word) => foreign.test(word))) return undefined;
  const words = all.filter((word) => !fillers.has(word));
  const rest = (nouns: ReadonlySet<string>) => words.filter((word) => !nouns.has(word));
  const found = (noun: Noun, roles: readonly string[]): Written => ({ noun, roles, at: entry, value });
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
function boundsOf(mapping: Cursor): { readonly pods: PodCount; readonly inBlock: boolean } | undefined {
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
