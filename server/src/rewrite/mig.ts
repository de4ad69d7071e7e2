import type { MigProfile } from '../catalog/index.ts';
import { migShare, migTable } from '../catalog/index.ts';
import type { Range } from '../cost/types.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { TextEdit } from '../yaml/span.ts';
import type { Fix } from './fix.ts';

/** A legal slice of a GPU, with what it costs. */
export interface MigOption {
  readonly profile: MigProfile;
  /** Of a whole card: the larger of its compute and its memory share. */
  readonly share: number;
  /** Dollars an hour for one slice; null when the card has no known price. */
  readonly hourly: Range | null;
}

/**
 * What a GPU can be cut into, smallest first. Media-engine variants (`+me`, `+gfx`, `-me`) are left out: they fit one special case
 * each and differ in nothing that a compute workload sees.
 * @param perDeviceHourly dollars an hour for the whole card, or null
 */
export function migOptions(gpuId: string, perDeviceHourly: Range | null): readonly MigOption[] {
  const table = migTable(gpuId);
  if (table === undefined) return [];
  return table.profiles
    .filter((profile) => /^\d+g\.\d+gb$/.test(profile.name))
    .map((profile) => {
      const share = migShare(table, profile);
      const hourly = perDeviceHourly && { min: perDeviceHourly.min * share, max: perDeviceHourly.max * share };
      return { profile, share, hourly };
    })
    .sort((a, b) => a.share - b.share || a.profile.memoryGiB - b.profile.memoryGiB);
}

/** Whether a request can become a slice: one whole NVIDIA GPU of which nothing is written elsewhere. */
export function canBecomeMig(request: AcceleratorRequest): boolean {
  const written = [request.limit, request.request].filter((quantity) => quantity !== undefined);
  const several = written.some(({ value }) => value !== null && value > 1);
  return (
    request.resource === 'nvidia.com/gpu' && written.length > 0 && !several && written.every(({ at }) => !at.shared)
  );
}

/**
 * Asks for one slice instead of the whole GPU, in limits and requests alike. Never safe: the pod gets less memory and compute, and
 * needs nodes cut that way (MIG strategy `mixed`). Undefined where the text cannot be edited without damage.
 */
export function rewriteToMig(
  document: YamlDocument,
  request: AcceleratorRequest,
  container: Container,
  profile: MigProfile,
): Fix | undefined {
  if (!canBecomeMig(request)) return undefined;
  const edits: TextEdit[] = [];
  for (const quantity of [request.limit, request.request]) {
    if (quantity === undefined) continue;
    const renamed = renameKey(document, quantity.at, profile.resource);
    const counted = quantity.text === '1' ? [] : replaceScalar(document, quantity.at, 1);
    if (renamed === undefined || counted === undefined) return undefined;
    edits.push(...renamed, ...counted);
  }
  const title = `Rewrite to MIG slice ${profile.name} (${profile.memoryGiB} GB)`;
  return { title: container.name === '' ? title : `${title} in ${container.name}`, safe: false, edits };
}
