import { type FieldPlace, fieldWords, type WordRow } from '../../catalog/field-words.ts';
import type { ProjectConfig } from '../../config.ts';
import type { Word } from './completion-item.ts';

/**
 * Keys that decide how GPUs are queued, claimed, scaled and shared. Most editors have no schema for an operator's kinds; for all other kinds
 * another extension has one.
 * @param path the keys from the root, `-` for an item
 */
export function fieldKeys(kind: string, path: readonly string[]): readonly Word[] {
  return fieldWords.fields.filter((place) => fits(place, kind, path)).flatMap(({ keys }) => ranked(keys));
}

/** The usual values of such a key. */
export function fieldValues(
  kind: string,
  path: readonly string[],
  key: string,
  config: ProjectConfig,
): readonly Word[] {
  if (key === 'apiVersion' && path.length === 0 && claimKinds.includes(kind)) return claimVersions(config);
  return fieldWords.values
    .filter((one) => one.key === key && fits(one, kind, path))
    .flatMap((one) => ranked(one.values));
}

function fits({ kinds, path: end }: FieldPlace, kind: string, path: readonly string[]): boolean {
  if (kinds.length > 0 && !kinds.includes(kind)) return false;
  const here = path.join(' ');
  return here === end || (kinds.length === 0 && here.endsWith(` ${end}`));
}

function ranked(inOrder: readonly WordRow[]): readonly Word[] {
  return inOrder.map(([text, detail, value], rank) => ({ text, detail, ...(value !== undefined && { value }), rank }));
}

const claimKinds = ['ResourceClaim', 'ResourceClaimTemplate'];

/** The newest version that the cluster serves comes first. */
function claimVersions({ kubernetesVersion }: ProjectConfig): readonly Word[] {
  const minor = Number(/^v?1\.(\d+)/.exec(kubernetesVersion ?? '')?.[1] ?? Number.POSITIVE_INFINITY);
  const known: readonly (readonly [version: string, since: number])[] = [
    ['v1', 34],
    ['v1beta2', 33],
    ['v1beta1', 32],
  ];
  return known
    .filter(([, since]) => since <= minor)
    .map(([version, since], rank) => ({
      text: `resource.k8s.io/${version}`,
      detail: `from Kubernetes 1.${since}`,
      rank,
    }));
}
