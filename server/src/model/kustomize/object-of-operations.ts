import type { YamlEntry, YamlMap, YamlNode, YamlSeq } from '../../yaml/node.ts';
import type { Span } from '../../yaml/span.ts';
import { table } from '../../yaml/table.ts';
import { stepsOf, valueAt } from './json-patch.ts';
import type { PatchTarget } from './kustomization.ts';

/**
 * What a JSON patch writes, as a part of its target: the object that a strategic merge patch with the same values would have. Undefined if the
 * target has no kind whose fields are known, or if it may be any of several names.
 */
export function objectOfOperations(patch: YamlSeq, target: PatchTarget | undefined): YamlNode | undefined {
  const apiVersion = apiVersions[target?.kind ?? ''];
  if (target?.kind === undefined || apiVersion === undefined) return undefined;
  // Whether the objects of a build are those of a selector or of most patterns is unknown: they would be counted twice.
  if (target.selected || target.labels || target.annotations) return undefined;
  if (!/^\^?[a-z\d.-]*(?:\.\*)?\$?$/.test(target.name ?? '')) return undefined;
  let root = partOf(patch.span);
  for (const { value: operation } of patch.items) {
    const value = valueAt(operation, 'value');
    const path = valueAt(operation, 'path');
    const op = valueAt(operation, 'op');
    const adds = op?.kind === 'scalar' && (op.value === 'add' || op.value === 'replace');
    const steps = stepsOf(operation);
    if (adds && value !== undefined && path !== undefined && isKnownPlace(steps))
      root = withValue(root, steps, value, path.span);
  }
  if (root.entries.length === 0) return undefined;
  const own: readonly (readonly [path: readonly string[], value: string | undefined])[] = [
    [['apiVersion'], apiVersion],
    [['kind'], target.kind],
    // A pattern is the name of several.
    [['metadata', 'name'], /[^a-z\d.-]/.test(target.name ?? '') ? undefined : target.name],
  ];
  for (const [steps, value] of own)
    if (value !== undefined) root = withValue(root, steps, text(value, patch.span), patch.span);
  return root;
}

const apiVersions = table({
  Pod: 'v1',
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
});

/**
 * Only containers are known by their place: the item of another list says nothing without its name. In a table of names, a further step is the
 * rest of a name whose slash is not escaped, which json-patch-path reports. No object is nested so deeply.
 */
function isKnownPlace(steps: readonly string[]): boolean {
  if (steps.slice(0, -2).some((step) => tables.has(step))) return false;
  const inLists = steps.slice(0, -1).every((step, index) => !/^\d+$/.test(step) || lists.has(steps[index - 1] ?? ''));
  return steps.length > 1 && steps.length < 12 && inLists && !/^\d+$/.test(steps.at(-1) ?? '');
}

const tables: ReadonlySet<string> = new Set(['limits', 'requests', 'nodeSelector', 'labels', 'annotations']);
const lists: ReadonlySet<string> = new Set(['containers', 'initContainers']);

function withValue(map: YamlMap, steps: readonly string[], value: YamlNode, keySpan: Span): YamlMap {
  const [key = '', ...rest] = steps;
  const found = map.entries.find((entry) => entry.key === key)?.value;
  const made = rest.length === 0 ? value : inside(found, rest, value, keySpan);
  return made === undefined
    ? map
    : { ...map, entries: [...map.entries.filter((entry) => entry.key !== key), entryOf(key, made, keySpan)] };
}

/** Undefined if the steps do not fit what other operations have written. */
function inside(
  found: YamlNode | undefined,
  steps: readonly string[],
  value: YamlNode,
  keySpan: Span,
): YamlNode | undefined {
  const [step = '', ...rest] = steps;
  const isIndex = /^(?:\d+|-)$/.test(step);
  if (!isIndex) {
    if (found !== undefined && found.kind !== 'map') return undefined;
    return withValue(found ?? partOf(keySpan), steps, value, keySpan);
  }
  if (found !== undefined && found.kind !== 'seq') return undefined;
  const items = [...(found?.items ?? [])];
  const place = step === '-' ? items.length : Number(step);
  // The places before it belong to containers of which the patch says nothing.
  if (place > maxContainers) return undefined;
  while (items.length < place) items.push({ value: partOf(keySpan), shared: true });
  const before = items[place]?.value;
  const made = rest.length === 0 ? value : withValue(asMap(before, keySpan), rest, value, keySpan);
  items[place] = { value: made, shared: true };
  return { kind: 'seq', items, flow: false, incomplete: true, span: keySpan };
}

const maxContainers = 20;

function asMap(node: YamlNode | undefined, span: Span): YamlMap {
  return node?.kind === 'map' ? node : partOf(span);
}

function partOf(span: Span): YamlMap {
  return { kind: 'map', entries: [], flow: false, incomplete: true, span };
}

/** Its place in the text has other neighbours than its place in the object: shared, so that no edit applies to it. */
function entryOf(key: string, value: YamlNode, keySpan: Span): YamlEntry {
  return { key, keySpan, value, shared: true };
}

function text(value: string, span: Span): YamlNode {
  return { kind: 'scalar', value, source: value, style: 'plain', templated: false, span };
}
