import { migByResource, migPriceShare } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';
import type { ImplicitDevices } from './implicit-devices.ts';

/** A request of a claim, with the devices that it stands for. */
interface ClaimRequest {
  readonly name: string | undefined;
  readonly devices: readonly ImplicitDevices[];
}

/**
 * The devices of a claim's requests. Slices that a constraint keeps on one card, and that leave no room for others, are that card: by themselves,
 * each of them costs more than it takes, because it leaves a remainder that cannot be used.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
 */
export function onOneCard(
  requests: readonly ClaimRequest[],
  constraints: Cursor | undefined,
): readonly ImplicitDevices[] {
  const kept = items(constraints).map((constraint) => sameCard(constraint, requests));
  const [card] = kept.flatMap((some) => wholeCard(some) ?? []);
  const [group = []] = kept.filter((some) => wholeCard(some) !== undefined);
  if (card === undefined) return requests.flatMap(({ devices }) => devices);
  const first = group[0];
  return requests.flatMap((one) => (one === first ? [card] : group.includes(one) ? [] : one.devices));
}

/** The requests whose devices are parts of one card. https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/tree/main/demo/specs/quickstart */
function sameCard(constraint: Cursor, requests: readonly ClaimRequest[]): readonly ClaimRequest[] {
  if (!/^gpu\.nvidia\.com\/parent(?:UUID|Index)$/.test(asText(getIn(constraint, 'matchAttribute')) ?? '')) return [];
  const names = items(getIn(constraint, 'requests')).map(asText);
  return names.length === 0 ? requests : requests.filter(({ name }) => names.includes(name));
}

/** The slice of a whole card that stands for some slices, if they fill it on every card that has them all; undefined for others. */
function wholeCard(requests: readonly ClaimRequest[]): ImplicitDevices | undefined {
  const all = requests.flatMap(({ devices }) => devices);
  const [first] = all;
  if (first === undefined || all.some(({ profile, perPod }) => profile === undefined || perPod === null))
    return undefined;
  const kinds = all.map(({ profile = '', perPod }) => ({
    count: perPod ?? 0,
    of: migByResource(`nvidia.com/mig-${profile.replace('+', '.')}`),
  }));
  const cards = (kinds[0]?.of ?? []).filter(({ gpu }) => kinds.every(({ of }) => of.some((one) => one.gpu === gpu)));
  const whole = cards.map(({ gpu, table }) => {
    const slices = kinds.flatMap(({ count, of }) => {
      const profile = of.find((one) => one.gpu === gpu)?.profile;
      return profile === undefined ? [] : [{ count, profile }];
    });
    const sum = (amountOf: (slice: (typeof slices)[number]) => number) =>
      slices.reduce((total, slice) => total + slice.count * amountOf(slice), 0);
    const fits =
      sum(({ profile }) => profile.computeSlices) <= table.computeSlices &&
      sum(({ profile }) => profile.memorySlices) <= table.memorySlices;
    const isFull = sum(({ profile }) => migPriceShare(table, profile)) >= 1;
    return fits && isFull
      ? table.profiles.find(({ computeSlices }) => computeSlices === table.computeSlices)?.name
      : undefined;
  });
  const [name, ...others] = new Set(whole);
  return name === undefined || others.length > 0 ? undefined : { ...first, perPod: 1, each: null, profile: name };
}
