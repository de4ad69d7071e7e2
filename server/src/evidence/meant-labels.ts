import {
  familiesMeant,
  gpus,
  gpusByLabel,
  instanceType,
  instanceTypesMeant,
  isInstanceTypeLabel,
  labelCandidates,
  meantNodeLabel,
} from '../catalog/index.ts';
import { meantProductLabel } from '../catalog/product-labels.ts';
import { table } from '../yaml/table.ts';

/** Known values that a certainly wrong one may mean: those of the same card, in the form factor that it names. */
export function meantValues(key: string, value: string): readonly string[] {
  // The longest valid label value.
  if (value.length > 63) return [];
  const product = key === productLabel ? meantProductLabel(value) : undefined;
  if (product !== undefined) return [product];
  const known = labelCandidates(key);
  // The driver's name is written with hyphens for spaces.
  const letters = key === productLabel ? value.toLowerCase().replaceAll('_', '-') : value.toLowerCase();
  const sameLetters = known.filter((candidate) => candidate.toLowerCase() === letters);
  if (sameLetters.length > 0) return sameLetters;
  const branded = key === productLabel ? known.filter((one) => one.toLowerCase() === `nvidia-${letters}`) : [];
  if (branded.length > 0) return branded;
  // Cards of the brand Tesla have no other, and the name of an Ada card ends in a word that people omit.
  const renamed = [letters.replace(/^nvidia-(?=tesla-)/, ''), `${letters}-generation`, `nvidia-${letters}-generation`];
  const whole = key === productLabel ? known.filter((one) => renamed.includes(one.toLowerCase())) : [];
  if (whole.length > 0) return whole;
  const card = cardOf(value);
  if (card === undefined || !isCertainlyWrong(key, value)) return [];
  const same = known.filter((candidate) => cardOf(candidate) === card);
  const memory = /\d{1,5}gb/i.exec(value)?.[0].toLowerCase();
  const fitting = same.filter(
    (candidate) =>
      (!/sxm/i.test(value) || modelIds(key, candidate).some((id) => id.endsWith('-sxm'))) &&
      (!/pcie/i.test(value) || modelIds(key, candidate).some((id) => id.endsWith('-pcie'))) &&
      (memory === undefined || modelIds(key, candidate).some((id) => id.includes(memory))),
  );
  return fitting.length > 0 ? fitting : same;
}

/** Products among several that no driver reports, without those whose right name is also in the list. */
export function deadAlternatives<One extends { readonly value: string }>(key: string, values: readonly One[]): One[] {
  if (key !== productLabel) return [];
  const written = new Set(values.map(({ value }) => value));
  return values.filter(({ value }) => {
    if (gpusByLabel(key, value).length > 0) return false;
    const meant = meantValues(key, value);
    return meant.length > 0 && !meant.some((one) => written.has(one)) && !isOldName(key, value, meant);
  });
}

/** The instance types or families that a value of their label means instead. */
export function machinesMeant(key: string, value: string): readonly string[] {
  return isInstanceTypeLabel(key) ? instanceTypesMeant(value) : familiesMeant(key, value);
}

/** The label in which NVIDIA's GPU feature discovery names the card. */
export const productLabel = 'nvidia.com/gpu.product';

/** Whether drivers before 470 named a card as written, without its brand; later cards need later drivers. */
export function isOldName(key: string, value: string, [meant = '']: readonly string[]): boolean {
  if (meant !== `NVIDIA-${value}` || isCertainlyWrong(key, value)) return false;
  return gpusByLabel(key, meant).some(({ architecture }) => architecture === 'Ampere');
}

/** The word that names the card: `h100` in NVIDIA-H100-80GB-HBM3, `v5e` in tpu-v5e. */
function cardOf(value: string): string | undefined {
  const tpu = /^(?:tpu-)?v(\d)(-lite|litepod|[ep])?/.exec(value.toLowerCase());
  if (tpu !== null) return `v${tpu[1] ?? ''}${/lite/.test(tpu[2] ?? '') ? 'e' : (tpu[2] ?? '')}`;
  const words = value.toLowerCase().split(/[^a-z0-9]+/);
  return words.find((word) => /^(?:[abhlptv]\d{1,3}[gs]?|g[bh]\d{3}|k80)$/.test(word));
}

function modelIds(key: string, value: string): readonly string[] {
  return gpusByLabel(key, value).map(({ id }) => id);
}

/**
 * Platforms add values before the catalog does, so only a form that is never used is certainly wrong: on GKE any other value for a
 * known card, elsewhere a bare card name or a form factor that the card does not have.
 */
function isCertainlyWrong(key: string, value: string): boolean {
  if (key === 'cloud.google.com/gke-accelerator') return !/vws|shared|mig/i.test(value);
  if (key === 'cloud.google.com/gke-tpu-accelerator') return /^(?:tpu-)?v\d[ep]?(?:-?litepod)?$/i.test(value);
  if (key === productLabel) {
    // Product pages write `Tensor Core GPU`, drivers never do.
    const name = value
      .replaceAll('_', '-')
      .replace(/-tensor-core/i, '')
      .replace(/-gpu$/i, '');
    return (
      /^(?:nvidia-)?(?:tesla-)?[abhltv]\d{1,3}[gs]?(?:-\d+gb)?$/i.test(name) ||
      /h[12]00.*sxm|a100.*sxm[^4]/i.test(value) ||
      // The other order, or a memory that the card's name does not have; old drivers have the right one without a brand.
      (/^(?:nvidia-)?[ah]\d00-(?:\d+gb-pcie|pcie-\d+gb)$/i.test(name) &&
        gpusByLabel(key, `NVIDIA-${value}`).length === 0)
    );
  }
  return /^nvidia-[a-z]\d+[a-z]?$/i.test(value) && gpus.size > 0;
}

/** A label that nodes have, of which another one is a slip. */
export interface MeantLabel {
  readonly meant: string;
  /** Nodes may have the written one: it has no domain, so a project may have chosen it. */
  readonly mayExist: boolean;
}

/**
 * The label that is meant by one that nodes do not have by default: another spelling of it, or its name in another domain or in none.
 * @param values what is selected: with a value of the right label, a name without a domain is that label's
 */
export function meantLabel(key: string, values: readonly { readonly value: string }[]): MeantLabel | undefined {
  const spelled = meantNodeLabel(key) ?? inOtherDomain(key);
  if (spelled !== undefined) return { meant: spelled, mayExist: false };
  const meant = shortened.find(([written]) => written.test(key))?.[1];
  const isOfMeant = ({ value }: { readonly value: string }) =>
    meant === instanceTypeLabel ? instanceType(value) !== undefined : gpusByLabel(meant ?? '', value).length > 0;
  if (meant === undefined || values.length === 0 || !values.every(isOfMeant)) return undefined;
  return { meant, mayExist: !key.includes('/') };
}

/** Kubernetes defines the labels of its domains. https://kubernetes.io/docs/reference/labels-annotations-taints/ */
function inOtherDomain(key: string): string | undefined {
  const name = /^(?:(?:node|topology)\.)?kubernetes\.io\/(.+)$/.exec(key)?.[1];
  const meant = name === undefined ? undefined : ofKubernetes[name];
  return meant === key ? undefined : meant;
}

const instanceTypeLabel = 'node.kubernetes.io/instance-type';

const ofKubernetes = table<string>({
  'instance-type': instanceTypeLabel,
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
  hostname: 'kubernetes.io/hostname',
  arch: 'kubernetes.io/arch',
  os: 'kubernetes.io/os',
});

/** What people write for labels whose values say which one is meant. */
const shortened: readonly (readonly [written: RegExp, meant: string])[] = [
  [/^(?:node[-.])?instance[-_]?type$/i, instanceTypeLabel],
  [/^(?:gke|google)[-.]accelerator$/, 'cloud.google.com/gke-accelerator'],
  [/^(?:gpu[-.]product|nvidia\.com\/gpu[-.](?:name|model|type|card))$/, productLabel],
];
