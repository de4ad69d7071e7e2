import { expect, test } from 'vitest';
import { at, fields, list, text } from '../../server/src/fleet/json.ts';
import { parseQuantity } from '../../server/src/model/quantity.ts';
import { sequence } from '../cluster-real/sequence.ts';
import { isJudgedAlike, scenarios, skipped } from '../support/scheduler-cases.ts';

// What must not change a verdict: the order of lists whose order has no meaning, the names of labels, nodes and namespaces, and the notation of
// quantities.

type Random = ReturnType<typeof sequence>;

test.skipIf(skipped !== '')(`the same cluster in other words has the same verdicts${skipped}`, () => {
  const wrong: string[] = [];
  let judged = 0;
  for (const [index, scenario] of scenarios().entries()) {
    const random = sequence(index + 1);
    for (const each of list(at(scenario, 'cases'))) {
      const id = text(at(each, 'id')) ?? '';
      if (list(at(each, 'traits')).includes('upstream-quirk') || !random.chance(0.5)) continue;
      judged += 1;
      const { cluster, varied } = variation(scenario, each, random);
      if (!isJudgedAlike(cluster, varied)) wrong.push(id);
    }
  }
  expect(wrong).toEqual([]);
  expect(judged).toBeGreaterThan(2000);
});

function variation(scenario: unknown, each: unknown, random: Random) {
  const { id, namespaces, nodes, pods, dra } = Object(scenario);
  const input = { id, namespaces, nodes, pods, dra, each };
  const renamed = dra === undefined ? rename(input, newNames(input)) : input;
  const { each: varied, ...cluster } = Object(rewrite(renamed, '', random));
  return { cluster, varied };
}

/** New names for everything that is a label somewhere, and for nodes and namespaces. Numbers stay: they are compared. */
function newNames({
  namespaces,
  nodes,
  pods,
  each,
}: {
  readonly [part: string]: unknown;
}): ReadonlyMap<string, string> {
  const labels = [...list(nodes), ...list(pods), at(each, 'pod'), ...list(at(each, 'extraPods'))]
    .flatMap((object) => fields(at(object, 'labels')))
    .concat(fields(namespaces).flatMap(([, ofNamespace]) => fields(ofNamespace)))
    .flat();
  const names = [...list(nodes).map((node) => at(node, 'name')), ...fields(namespaces).map(([name]) => name)];
  const all = [...labels, ...names].filter((name): name is string => typeof name === 'string' && !/^\d*$/.test(name));
  return new Map([...new Set(all)].map((name, index) => [name, `r${index}-${name.split('').reverse().join('')}`]));
}

const untouched = new Set(['requests', 'limits', 'allocatable', 'parsed', 'message', 'traits', 'id']);

function rename(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return names.get(value) ?? renamedPod(value, names);
  if (Array.isArray(value)) return value.map((item) => rename(item, names));
  if (typeof value !== 'object' || value === null) return value;
  const entries = fields(value).map(([name, field]) => [
    names.get(name) ?? name,
    untouched.has(name) ? field : rename(field, names),
  ]);
  return Object.fromEntries(entries);
}

/** `namespace/name` of a victim. */
function renamedPod(value: string, names: ReadonlyMap<string, string>): string {
  const [namespace = '', ...name] = value.split('/');
  const renamed = names.get(namespace);
  return name.length === 1 && renamed !== undefined ? `${renamed}/${name[0]}` : value;
}

const unordered = new Set([
  'nodes',
  'taints',
  'tolerations',
  'containers',
  'matchExpressions',
  'matchFields',
  'nodeSelectorTerms',
  'values',
  'ports',
  'namespaces',
  'requiredDuringSchedulingIgnoredDuringExecution',
]);

function rewrite(value: unknown, key: string, random: Random): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => rewrite(item, '', random));
    return unordered.has(key) ? shuffled(items, random) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const isAmounts = key === 'requests' || key === 'limits' || key === 'allocatable';
  const entries = fields(value).map(([name, field]) => [
    name,
    isAmounts && typeof field === 'string' ? otherNotation(field, random) : rewrite(field, name, random),
  ]);
  return Object.fromEntries(isAmounts ? shuffled(entries, random) : entries);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.below(left.length), 1));
}

const units = {
  '': 1n,
  k: 10n ** 3n,
  M: 10n ** 6n,
  G: 10n ** 9n,
  Ki: 2n ** 10n,
  Mi: 2n ** 20n,
  Gi: 2n ** 30n,
  Ti: 2n ** 40n,
};

/** The same amount: `1500m` for 1.5, `0.5Gi` for 512Mi. */
function otherNotation(quantity: string, random: Random): string | number {
  const milli = BigInt(Math.round((parseQuantity(quantity) ?? Number.NaN) * 1000));
  const whole = milli % 1000n === 0n ? milli / 1000n : undefined;
  const forms: (string | number)[] = [
    quantity,
    `${milli}m`,
    `${milli * 1000n}u`,
    `${milli}e-3`,
    `+${milli}m`,
    ` ${milli}m`,
  ];
  if (milli < 10n ** 12n) forms.push(`${milli * 10n ** 6n}n`);
  if (whole !== undefined) forms.push(String(whole), Number(whole), `${whole}.000`, `00${whole}`);
  for (const [unit, size] of Object.entries(units)) {
    if (whole !== undefined && whole % size === 0n) forms.push(`${whole / size}${unit}`, `${whole / size}.0${unit}`);
    // Half a unit, and an eighth.
    if (whole !== undefined && whole > 0n && (whole * 8n) % size === 0n)
      forms.push(`${Number((whole * 8n) / size) / 8}${unit}`);
  }
  if (whole !== undefined && whole % 1000n === 0n) forms.push(`${whole / 1000n}e3`, `${whole / 1000n}E+3`);
  return random.pick(forms);
}
