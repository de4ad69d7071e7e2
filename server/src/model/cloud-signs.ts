import { providerOfLabel } from '../catalog/index.ts';
import { asText, type Cursor, entries, getIn, isTemplated, items, keyOf, type Located } from '../yaml/cursor.ts';
import { lazy } from '../yaml/lazy.ts';
import { table, tableOf } from '../yaml/table.ts';
import type { CloudSign } from './cloud-sign.ts';
import type { CrossReferences } from './cross-references.ts';
import type { Container, Placement, Toleration, Volume } from './workload.ts';

// The cloud for which an object is written, if its selectors name none.

/** The parts of a pod that may have such signs. */
export interface SignedPod {
  readonly root: Cursor;
  readonly pod: Cursor;
  readonly namespace: string | null;
  readonly labels: readonly Located<string>[];
  readonly marks: readonly Located<string>[];
  readonly tolerations: readonly Toleration[];
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

/** A placement with what tells the cloud that the signs of a pod name, if nothing else does, or their region of its cloud. */
export function withCloudSign(placement: Placement, signed: SignedPod, crossReferences: CrossReferences): Placement {
  const { provider, providers, region, regions, otherCloud, ownMachine } = placement;
  if (providers !== undefined || otherCloud !== undefined || ownMachine !== undefined) return placement;
  if (provider !== null && (region !== null || regions !== undefined)) return placement;
  const sign = lazy(() => {
    const found = cloudSign(signed, crossReferences);
    const isOther = provider !== null && (found?.provider !== provider || found.region === null);
    return isOther ? undefined : found;
  });
  return { ...placement, sign };
}

/** The cloud on which all signs of a pod and of the objects around it agree; undefined without signs. */
function cloudSign(signed: SignedPod, crossReferences: CrossReferences): CloudSign | undefined {
  const found = signsOf(signed, crossReferences);
  const [first, ...others] = found;
  // What the pod says itself takes precedence over pools that it may not use.
  if (first === undefined) return crossReferences.cloudOfPools();
  if (others.some(({ provider }) => provider !== first.provider)) return undefined;
  const own = found.find(({ region }) => region !== null) ?? first;
  const clusters = own.provider === 'gcp' ? crossReferences.cloudOfPools() : undefined;
  return clusters?.provider === 'gcp' && clusters.isAutopilot ? { ...clusters, region: own.region } : own;
}

function signsOf(
  { root, pod, namespace, labels, marks, tolerations, containers, volumes }: SignedPod,
  crossReferences: CrossReferences,
): readonly CloudSign[] {
  const account = asText(getIn(pod, 'serviceAccountName')) ?? '';
  const services = crossReferences.servicesOf(namespace, tableOf(labels.map(({ value, at }) => [keyOf(at), value])));
  const claims = volumes.flatMap(({ at }) => asText(getIn(at, 'persistentVolumeClaim', 'claimName')) ?? []);
  const classes = [
    ...items(getIn(root, 'spec', 'volumeClaimTemplates')).map((one) => asText(getIn(one, 'spec', 'storageClassName'))),
    ...claims.map((name) => crossReferences.volumeClaim(namespace, name)?.facts.storageClass),
  ];
  const sign = (text: string, provider: string | null | undefined) =>
    provider ? [{ provider, region: null, text }] : [];
  return [
    ...containers.flatMap(({ image }) => {
      if (image === undefined) return [];
      return isTemplated(image.at) ? ofTemplatedRegistry(image.value) : ofRegistry(image.value);
    }),
    ...tolerations.flatMap(({ key }) => sign(`toleration ${key?.value}`, providerOfLabel(key?.value ?? ''))),
    ...marks.flatMap(({ at }) => sign(keyOf(at), cloudOfKey(keyOf(at)))),
    ...sign(`ServiceAccount ${account}`, account === '' ? null : crossReferences.accountCloud(namespace, account)),
    ...services.flatMap(({ name, facts }) => sign(`Service ${name}`, facts.cloud)),
    ...volumes.flatMap(({ source, at }) => sign(`volume ${source}`, ofVolume(source, at))),
    ...classes.flatMap((name) => sign(`StorageClass ${name}`, storageClasses[name ?? ''])),
  ];
}

/** Private registries of a cloud: ECR, Artifact Registry, ACR. */
function ofRegistry(image: string): readonly CloudSign[] {
  const host = image.split('/')[0] ?? '';
  const [account = '', service, , region = null] = host.split('.');
  if (service === 'dkr') return [{ provider: 'aws', region, text: 'image in ECR' }];
  if (host.endsWith('.azurecr.io')) return [{ provider: 'azure', region: null, text: 'image in ACR' }];
  if (!host.endsWith('-docker.pkg.dev')) return [];
  // Public images are in multi-regions.
  const place = account.slice(0, -'-docker'.length);
  return /\d$/.test(place) ? [{ provider: 'gcp', region: place, text: 'image in Artifact Registry' }] : [];
}

/** `123456789012.dkr.ecr.${REGION}.amazonaws.com/app`: a template fills in the account or the region of the registry. */
function ofTemplatedRegistry(image: string): readonly CloudSign[] {
  const domain = '.amazonaws.com/';
  const end = image.indexOf(domain);
  const isPrivate = end > 0 && image.lastIndexOf('.dkr.ecr.', end) > 0;
  return isPrivate ? [{ provider: 'aws', region: null, text: 'image in ECR' }] : [];
}

/** The cloud that reads an annotation or a label. */
function cloudOfKey(key: string): string | null {
  if (!/[/.]/.test(key)) return null;
  const [domain = '', name = ''] = key.split('/');
  const words = [...domain.split(/[.-]/), ...name.split('-').slice(0, 1)];
  return providerOfLabel(key) ?? words.flatMap((word) => cloudWords[word] ?? [])[0] ?? null;
}

/** The cloud that reads one of the annotations of an object; null if none does. */
export function cloudOfAnnotations(root: Cursor): string | null {
  return entries(getIn(root, 'metadata', 'annotations')).flatMap((one) => cloudOfKey(keyOf(one)) ?? [])[0] ?? null;
}

const cloudWords = table<string>({ aws: 'aws', amazonaws: 'aws', gke: 'gcp', azure: 'azure' });

function ofVolume(source: string, at: Cursor): string | null | undefined {
  return source === 'csi' ? cloudOfKey(asText(getIn(at, 'csi', 'driver')) ?? '') : volumeSources[source];
}

/** https://kubernetes.io/docs/concepts/storage/volumes/ */
const volumeSources = table<string>({
  awsElasticBlockStore: 'aws',
  gcePersistentDisk: 'gcp',
  azureDisk: 'azure',
  azureFile: 'azure',
});

/** Those that a platform installs. https://cloud.google.com/kubernetes-engine/docs/concepts/storage-class https://learn.microsoft.com/azure/aks/concepts-storage */
const storageClasses = table<string>({
  gp2: 'aws',
  'gp3-csi': 'aws',
  'standard-rwo': 'gcp',
  'premium-rwo': 'gcp',
  'standard-rwx': 'gcp',
  'premium-rwx': 'gcp',
  'managed-csi': 'azure',
  'managed-csi-premium': 'azure',
  'managed-premium': 'azure',
  'azurefile-csi': 'azure',
  'azurefile-csi-premium': 'azure',
});
