import { modelsOfGoogleFamily } from '../catalog/google-families.ts';
import { gpusByLabel, instanceType } from '../catalog/index.ts';
import { plural } from '../cost/money.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asNumber, asText, type Cursor, getIn, isUnseen } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { placesAt } from './written.ts';

/** GPUs that the machines of a pool in Google Cloud cannot have. */
export interface ImpossibleCard {
  readonly at: Cursor;
  readonly problem: string;
}

/** Where the kinds name machines, and below them GPUs. */
const kinds = table<{ readonly machines: string; readonly cards: string }>({
  'cloud.google.com/ComputeClass': { machines: 'spec.priorities.*', cards: 'gpu' },
  'container.cnrm.cloud.google.com/ContainerNodePool': { machines: 'spec.nodeConfig', cards: 'guestAccelerator.*' },
});

/** The GPUs of compute classes and node pools with which Google Cloud has no machine of the type or family next to them. */
export function impossibleCards({ apiVersion, kind, root }: Manifest): readonly ImpossibleCard[] {
  const paths = kinds[`${groupOf(apiVersion)}/${kind}`];
  if (paths === undefined) return [];
  return placesAt(root, paths.machines).flatMap((machine) =>
    placesAt(machine, paths.cards).flatMap((card) => problemOf(machine, card) ?? []),
  );
}

function problemOf(machine: Cursor, card: Cursor): ImpossibleCard | undefined {
  const [type, count] = [getIn(card, 'type'), getIn(card, 'count')];
  const [family, name] = [getIn(machine, 'machineFamily'), getIn(machine, 'machineType')];
  if ([type, count, family, name].some((at) => at !== undefined && isUnseen(at))) return undefined;
  const written = asText(name) ?? asText(family) ?? '';
  const models = gpusByLabel('cloud.google.com/gke-accelerator', asText(type) ?? '');
  const offered = modelsOfGoogleFamily(written.split('-')[0] ?? '');
  const [first] = models;
  if (type !== undefined && first !== undefined && offered && !models.some((model) => offered.includes(model)))
    return { at: type, problem: `${shorten(written, 30)} machines have no ${first.name}` };
  const part = instanceType(asText(name) ?? '')?.gpuCount ?? undefined;
  // A part of a GPU is one device.
  const devices = part === undefined ? undefined : Math.ceil(part);
  const wanted = asNumber(count);
  return count === undefined || devices === undefined || wanted === undefined || wanted === devices
    ? undefined
    : { at: count, problem: `${shorten(written, 30)} has ${plural(devices, 'GPU')}, not ${wanted}` };
}
