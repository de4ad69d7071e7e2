import { wordSet } from '../../catalog/word-patterns.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { entries, getIn, keyOf } from '../../yaml/cursor.ts';
import type { YamlNode } from '../../yaml/node.ts';
import { once } from '../once.ts';
import type { PodCount } from './kind.ts';
import { exactly, times } from './pod-sets.ts';
import { countsElsewhere, countsIn, type MappingCounts, type Noun, singularsOf, type Written } from './shape-words.ts';

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

/** The number of pods at each place of one object. */
export function countPods(places: readonly ShapePlace[]): readonly ShapeCount[] {
  const taken = new Set(places.flatMap(({ path }) => path.map(({ node }) => node)));
  const below = new Map<YamlNode, ShapePlace[]>();
  for (const place of places) {
    for (const { node } of place.above) {
      const same = below.get(node) ?? [];
      below.set(node, same);
      same.push(place);
    }
  }
  // Objects may have thousands of pods below one mapping.
  const counts = once((mapping: Cursor) => countsIn(mapping, taken));
  const elsewhere = once((mapping: Cursor) => countsElsewhere(mapping, taken));
  const known = { counts, elsewhere, rivals: ({ node }: Cursor) => below.get(node) ?? [] };
  return places.map((place) => countAt(place, known));
}

/** What is known of the mappings of one object. */
interface Known {
  readonly counts: (mapping: Cursor) => MappingCounts;
  readonly elsewhere: (mapping: Cursor) => boolean;
  /** The places below a mapping. */
  readonly rivals: (mapping: Cursor) => readonly ShapePlace[];
}

function countAt(place: ShapePlace, known: Known): ShapeCount {
  // A list of templates to choose from: the roles that name them have the numbers.
  if (place.path.some((step) => /templates$/i.test(keyOf(step)))) return { pods: exactly(null), replicas: undefined };
  let pods = exactly(1);
  let replicas: Cursor | undefined;
  let counted = false;
  let scaled = false;
  let hasSize = false;
  for (const mapping of place.above) {
    const { members } = known.counts(mapping);
    const factor = factorOf(mapping, place, known);
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
  if (!counted && place.above.some(known.elsewhere)) return { pods: exactly(null), replicas };
  return { pods, replicas, hasSize };
}

function multiply(a: PodCount, b: PodCount): PodCount {
  return { min: times(a, b.min).min, max: times(a, b.max).max };
}

/** Whether the counts of a mapping above pods may be for the mapping's own pods: it has an image or resources itself. */
function isAmbiguous(mapping: Cursor, { pod }: ShapePlace, counted: boolean, { scales, isLoose }: Factor): boolean {
  if (mapping.node === pod.node) return false;
  const { hasResources, hasImage } = ownedBy(mapping);
  return hasResources || (counted && (scales === true || isLoose === true || hasImage));
}

const ownedBy = once((mapping: Cursor) => ({
  hasResources: ['limits', 'requests'].some((part) => getIn(mapping, 'resources', part) !== undefined),
  hasImage: getIn(mapping, 'image') !== undefined,
}));

interface Factor extends ShapeCount {
  /** By the bounds of an autoscaler in a block of its own, which may be for one component alone. */
  readonly scales?: boolean;
  /** By a number that names no replicas: workers or a count. */
  readonly isLoose?: boolean;
}

/** The places whose roles are compared with the name of a count. */
const maxRivals = 20;

/** By what one mapping multiplies the pods below it; undefined if it has no counts for them. */
function factorOf(mapping: Cursor, place: ShapePlace, known: Known): Factor | undefined {
  const { written, bounds, hasShards } = known.counts(mapping);
  if (written.length === 0 && bounds === undefined && !hasShards) return undefined;
  const below = place.wordsBelow(mapping);
  const all = known.rivals(mapping);
  const rivals = all.slice(0, maxRivals).filter((rival) => rival !== place);
  const counts = written.filter((count) => appliesTo(count, mapping, below, rivals));
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
  if (hasShards) return { pods: exactly(null), replicas: at };
  if (at === undefined) return undefined;
  if (counts.some((count) => mayBeProcesses(count, mapping, place))) return { pods: exactly(null), replicas: at };
  // A server's workers are processes; next to replicas they may be either.
  if (plain !== undefined && counts.length > of('plain').length) return { pods: exactly(null), replicas: at };
  if (processes !== undefined && counts.length > of('process').length) return { pods: exactly(null), replicas: at };
  const members = size === undefined ? (processes ?? plain) : size;
  const each = shareOf(factorFrom(members), size !== undefined && rivals.length > 0, below);
  const pods = times(times(exactly(factorFrom(group)), factorFrom(role)), each);
  const isLoose = (processes ?? plain) !== undefined;
  return { pods, replicas: at, hasSize: members !== undefined && members.value !== 1, isLoose };
}

/** `workers: 4` or `parallelism: 4` of a program without a pod template: pods, or processes in a pod. */
function mayBeProcesses({ at, value }: Written, mapping: Cursor, { pod }: ShapePlace): boolean {
  if (value === 1 || !/^(?:workers|servers|parallelism)$/i.test(keyOf(at))) return false;
  const fields = entries(mapping).flatMap((entry) => [entry, ...entries(entry)]);
  return mapping.node === pod.node && !fields.some((entry) => /per_?-?(?:worker|server|pod)/i.test(keyOf(entry)));
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

const leaders = wordSet('leader head master launcher driver coordinator chief main');

/** The part of a group's size that one of its templates takes: one leader, and all others. */
function shareOf(size: number | null, isShared: boolean, below: readonly string[]): number | null {
  if (!isShared || size === null) return size;
  if (below.some((word) => leaders.has(word))) return 1;
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
  // The only pods of an object are its workers: `workerReplicas: 4`.
  if (noun === 'group' && rivals.length === 0 && own.every((role) => role === 'worker')) return true;
  if (noun !== 'process') return false;
  return !rivals.some((rival) => own.some((role) => rival.wordsBelow(mapping).includes(role)));
}
