import { acceleratorResource } from '../../catalog/index.ts';
import { either, partOf, wordSet } from '../../catalog/word-patterns.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { countIn } from '../count.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { misspellsResource } from '../misspelled-resource.ts';
import { once } from '../once.ts';
import { imageOfParts, lowerContainer, text } from '../pod.ts';
import { byName } from '../requested-resource.ts';
import type { Container } from '../workload.ts';
import { partOfCard } from './shape-parts.ts';
import { singularsOf } from './shape-words.ts';

// The devices of a mapping that is not a pod spec, in an object of an unknown kind.

/** A container that a mapping stands for, and the devices that it has in words of its own. */
export interface BlockDevices {
  readonly containers: readonly Container[];
  readonly implicitDevices?: readonly ImplicitDevices[];
}

/**
 * The devices that a mapping requests; undefined if it requests none, or if nothing shows that it runs anything.
 * @param here the mapping and those above it, outermost first
 */
export function blockDevices(block: Cursor, here: readonly Cursor[]): BlockDevices | undefined {
  const image = imageOf(block);
  const container = { ...lowerContainer(block, 'app', 'main', resourcesOf(block)), image };
  if (container.accelerators.length > 0) return here.some(runsSomething) ? { containers: [container] } : undefined;
  const named = namedDevices(block);
  if (named !== undefined)
    return here.some(runsSomething) ? { containers: [container], implicitDevices: [named] } : undefined;
  if (misspellsResource({ containers: [container] }) && here.some(runsSomething)) return { containers: [container] };
  const count = plainCount(block);
  if (count === undefined || !isOfProgram(block, here)) return undefined;
  return { containers: [container], implicitDevices: [count] };
}

/** `resources`, or `limits` and `requests` without it. */
export function resourcesOf(block: Cursor): Cursor | undefined {
  const resources = getIn(block, 'resources') ?? getIn(block, 'computeResources') ?? getIn(block, 'resource');
  if (resources !== undefined) return resources;
  return (getIn(block, 'limits') ?? getIn(block, 'requests')) ? block : undefined;
}

function imageOf(block: Cursor): Container['image'] {
  const image = getIn(block, 'image');
  if (image?.node.kind !== 'map') return text(image);
  return imageOfParts(getIn(image, 'repository') ?? getIn(image, 'name'), getIn(image, 'tag'));
}

/** Signs that an object runs programs: what is run, with what, or how often. */
const programKeys = either(
  /^(?:image|imageName|containerImage|dockerImage|imageUri|imageRef|images)$/i,
  /^(?:command|args|entry-?point|script|container|env|envs|envVars|bento)$/i,
  /^(?:base-?_?)?models?(?:-?_?(?:name|id|ref|uri|source|path))?$|^datasets?$/i,
  /^(?:engine|runtime|framework|server|serving|inference|worker|trainer|notebook)$/i,
);
const runKeys = wordSet(
  'replicas replicaCount instances workers numWorkers parallelism',
  'port ports template podTemplate',
);

/** Whether a mapping describes a program, or the hardware of the one that the mapping above it describes. */
function isOfProgram(block: Cursor, here: readonly Cursor[]): boolean {
  if (here.some((step) => otherSubjects.test(keyOf(step)))) return false;
  if (runsProgram(block)) return true;
  const isHardware =
    hardwareKeys.has(keyOf(block).toLowerCase()) ||
    getIn(block, 'replicas') !== undefined ||
    entries(block).some((entry) => perUnit(entry));
  return isHardware && here.some(runsProgram);
}

/** Keys above machines, parameters and choices. */
const otherSubjects = partOf('node-?(?:pool|group|s$) machine host', 'hyper param config option default profile');

/** In lower case. */
const hardwareKeys = wordSet(
  'spec template instance instancespec deploy deployment scheduling',
  'compute hardware accelerator accelerators',
  'worker workers server servers replica replicas predictor runner',
  'master head leader launcher chief driver coordinator',
);

/** `gpusPerNode: 8` says whose devices they are, whatever the mapping is called. */
function perUnit(entry: Cursor): boolean {
  return /gpus?_?-?per_?-?[a-z]/i.test(keyOf(entry)) && countedGpus(entry) !== undefined;
}

const runsProgram = once((mapping: Cursor): boolean =>
  entries(mapping).some((entry) => programKeys.test(keyOf(entry))),
);

const runsSomething = once(
  (mapping: Cursor): boolean => runsProgram(mapping) || entries(mapping).some((entry) => runKeys.has(keyOf(entry))),
);

/** The mappings with amounts of a block's resources. */
function amountsOf(block: Cursor): readonly (Cursor | undefined)[] {
  const resources = resourcesOf(block);
  const [limits, requests] = [getIn(resources, 'limits'), getIn(resources, 'requests')];
  return [resources, limits, requests, getIn(limits, 'custom'), getIn(requests, 'custom')];
}

/** A resource name directly under `resources`, or under another key of its own. */
function namedDevices(block: Cursor): ImplicitDevices | undefined {
  for (const owner of amountsOf(block)) {
    for (const entry of entries(owner)) {
      const known = acceleratorResource(keyOf(entry));
      if (known === undefined || !isCount(entry)) continue;
      const { form, vendor } = known;
      const perPod = isTemplated(entry) ? null : countIn(asText(entry));
      return { requested: byName(keyOf(entry)), at: entry, form, vendor, perPod, each: form === 'whole' ? 1 : null };
    }
  }
  return undefined;
}

/** GPUs by a plain word: `gpu: 1`, `gpuCount: 2`, `gpu: {count: 4}`, `resources: {gpu: 1}`, `resources: {limits: {gpu: 1}}`. */
export function plainCount(block: Cursor): ImplicitDevices | undefined {
  for (const owner of [block, ...amountsOf(block)]) {
    for (const entry of entries(owner)) {
      const count = countedGpus(entry);
      if (count !== undefined) return devicesIn(count, entry, owner);
    }
  }
  return undefined;
}

const amountWords = wordSet(
  'num number of n count request limit required requested needed',
  'nvidia portion fraction device',
);

/** The scalar with the number of GPUs of one pod; undefined if the field is about something else. */
function countedGpus(entry: Cursor): Cursor | undefined {
  const words = singularsOf(keyOf(entry)).filter((word) => !amountWords.has(word));
  const [subject, per, unit, ...rest] = words;
  if (subject !== 'gpu' && subject !== 'accelerator') return undefined;
  if (
    rest.length > 0 ||
    (per !== undefined && (per !== 'per' || !/^(?:pod|replica|node|worker|instance|container)$/.test(unit ?? '')))
  )
    return undefined;
  if (entry.node.kind === 'scalar') return isAmount(entry) ? entry : undefined;
  const held = heldBy(entry);
  if (held.node.kind !== 'map' || asBoolean(getIn(held, 'enabled')) === false) return undefined;
  if (['vendor', 'type', 'mode'].some((key) => /^(?:none|cpu|off|disabled)$/i.test(asText(getIn(held, key)) ?? '')))
    return undefined;
  const named = ['count', 'num', 'number', 'quantity', 'limit', 'limits', 'request', 'value', 'amount', 'units'];
  return named.map((key) => getIn(held, key)).find((value) => value !== undefined && isAmount(value));
}

/** The only item of a list (`accelerators: [{type: l4, count: 2}]`). Several may be choices. */
function heldBy(entry: Cursor): Cursor {
  const [only, ...others] = items(entry);
  return only !== undefined && others.length === 0 ? only : entry;
}

function isCount(scalar: Cursor): boolean {
  return scalar.node.kind === 'scalar' && (isTemplated(scalar) || countIn(asText(scalar)) !== null);
}

/** A number of GPUs, or a share of one (`0.5`). */
function isAmount(scalar: Cursor): boolean {
  return isCount(scalar) || (scalar.node.kind === 'scalar' && /^0?\.\d+$/.test(asText(scalar) ?? ''));
}

/** The vendor is known only from the type, because the word GPU names none. */
function devicesIn(count: Cursor, entry: Cursor, owner: Cursor | undefined): ImplicitDevices {
  const near = [...entries(heldBy(entry)), ...entries(owner)].filter(({ node }) => node.kind === 'scalar');
  const types = near
    .filter((one) => /type|vendor|product|model|resource/i.test(keyOf(one)))
    .map((one) => asText(one) ?? '');
  const known = types.map((type) => acceleratorResource(type)).find((one) => one !== undefined);
  const vendor =
    known?.vendor ??
    (types.some((type) => /nvidia/i.test(type))
      ? 'nvidia'
      : types.some((type) => /\bamd\b/i.test(type))
        ? 'amd'
        : null);
  const part = known === undefined || known.form === 'whole' ? partOfCard(heldBy(entry), owner) : undefined;
  const isShare = !isCount(count);
  const resource = types.find((type) => acceleratorResource(type) !== undefined);
  const isSlice = part?.profile !== undefined && (vendor === null || vendor === 'nvidia');
  return {
    requested: isSlice
      ? byName(`nvidia.com/mig-${part.profile}`)
      : resource === undefined
        ? { kind: 'field', system: 'field', name: keyOf(entry) }
        : byName(resource),
    at: count,
    form: part?.form ?? known?.form ?? (isShare ? 'shared' : 'whole'),
    vendor: isSlice ? 'nvidia' : vendor,
    perPod: isTemplated(count) ? null : isShare ? Number(asText(count)) : countIn(asText(count)),
    each: part === undefined ? 1 : null,
    ...(isSlice && { profile: part.profile }),
  };
}
