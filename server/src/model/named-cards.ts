import { acceleratorResource } from '../catalog/index.ts';
import { asBoolean, asText, type Cursor, entries, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';
import { excludes, holdsDevices, isAboutDevices, modelsInList } from './named-models.ts';
import { requestOf } from './values-parts.ts';
import type { AcceleratorRequest } from './workload.ts';

// The keys of values files are free, and a number under `gpu` may mean anything. Next to the name of a card, it is a count of cards.

/**
 * Accelerators that a mapping of a chart's values counts and names: `gpuCount: 4` with `gpuModel: A100`, `gpu: {count: 2, type: l40s}`. Empty if
 * either is missing, if the number is not a plain count, or if the mapping describes nodes.
 */
export function namedCards(block: Cursor): readonly AcceleratorRequest[] {
  for (let at: Cursor | undefined = block; at !== undefined; at = at.parent) if (describesNodes(at)) return [];
  for (const holder of holdersIn(block)) {
    const isOwn = holder === block || keyOf(holder) === 'resources';
    if (asBoolean(getIn(holder, 'enabled')) === false) continue;
    const count = [holder, getIn(holder, 'limits'), getIn(holder, 'requests')]
      .flatMap((amounts) => entries(amounts))
      .find((entry) => (isOwn ? countKey : innerCountKey).test(keyOf(entry)));
    if (count === undefined || isTemplated(count) || !/^[1-9]\d?$/.test(asText(count) ?? '')) continue;
    const [card] = cardsIn(holder, isOwn);
    if (card !== undefined) return requestOf(card, count);
  }
  return [];
}

/** The resource of the card that a mapping, or its resources, name: `resources: {limits: {gpu: 1}, gpuProduct: L40S}`. */
export function namedResource(block: Cursor): string | undefined {
  const isOwn = (holder: Cursor) => holder === block || keyOf(holder) === 'resources';
  const cards = new Set(holdersIn(block).flatMap((holder) => cardsIn(holder, isOwn(holder))));
  return cards.size === 1 ? [...cards][0] : undefined;
}

/** The mappings that describe a block's devices: itself, its resources, and those for devices alone. */
function holdersIn(block: Cursor): readonly Cursor[] {
  const resources = getIn(block, 'resources');
  const inner = entries(block).filter((entry) => entry.node.kind === 'map' && holdsDevices(keyOf(entry)));
  return [block, ...(resources === undefined ? [] : [resources]), ...inner];
}

function cardsIn(holder: Cursor, isOwn: boolean): readonly string[] {
  const above = isOwn ? '' : `${keyOf(holder)}.`;
  return entries(holder).flatMap((entry) => cardOf(entry, above));
}

/** Pools and inventories have cards; they request none. */
function describesNodes(at: Cursor): boolean {
  return /node|pool|flavou?r|machine|instance|inventory|topology|hardware/i.test(String(at.step ?? ''));
}

const countKey = /^(?:(?:num|n)[-_]?)?(?:gpu|accelerator)s?(?:[-_]?(?:count|num|number|quantity))?$/i;
const innerCountKey = /^(?:count|num|number|quantity)$/i;

/** The resource of the card that an entry names. */
function cardOf(entry: Cursor, above: string): readonly string[] {
  const key = above + keyOf(entry);
  const name = asText(entry);
  if (name === undefined || isTemplated(entry) || !isAboutDevices(key) || excludes(key)) return [];
  const vendors = new Set(modelsInList(name).map(({ vendor }) => vendor));
  const resource = vendors.has('nvidia') ? 'nvidia.com/gpu' : vendors.has('amd') ? 'amd.com/gpu' : '';
  return vendors.size === 1 && acceleratorResource(resource) !== undefined ? [resource] : [];
}
