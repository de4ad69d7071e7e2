import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { gpus, gpusByLabel, migByResource, migTables, providerOfLabel } from '../../server/src/catalog/index.ts';
import { asText, getIn, items } from '../../server/src/yaml/cursor.ts';
import { containerSites, isWhole, manifestsOf, type PodSite, podSites, splitsModel } from './sites.ts';
import {
  add,
  append,
  drop,
  type Mistake,
  type Path,
  type Planters,
  put,
  putUnder,
  rename,
  type Step,
  set,
} from './steps.ts';

export const planters: Planters = {
  'requests-exceed-node': exceedsMachine,
  'instance-without-gpu': instanceWithoutGpu,
  'mig-profile-not-on-gpu': migNotOnGpu,
  'mig-profile-unknown': migUnknown,
  'mig-resource-spelling': migSpelling,
  'node-pool-impossible': poolImpossible,
  'node-pool-short-lived': poolShortLived,
  'node-pool-unconsolidated': poolUnconsolidated,
  'node-pool-unlimited': poolUnlimited,
  'node-pool-untainted': poolUntainted,
  'selector-conflict': selectorConflict,
  'selector-value': selectorValue,
  'spot-serving': spotServing,
  'spot-without-checkpoint': spotWithoutCheckpoint,
};

// Mistakes in MIG profiles, selectors, spot capacity and node pools.

const product = 'nvidia.com/gpu.product';
const instanceType = 'node.kubernetes.io/instance-type';
const profiles = [...new Set(migTables().flatMap((table) => table.profiles.map(({ resource }) => resource)))];

function migUnknown(analysis: DocumentAnalysis): readonly Mistake[] {
  return asSlices(
    analysis,
    ['mig-3g.30gb', 'mig-9g.5gb', 'mig-1g.7gb', 'mig-2g.80gb'].map((name) => `nvidia.com/${name}`),
  );
}

function migSpelling(analysis: DocumentAnalysis): readonly Mistake[] {
  const wrong = profiles.flatMap((name) => [
    name.replace('gb', 'GB'),
    name.replace('g.', 'g-'),
    ...(name.endsWith('.me') ? [name.replace('.me', '+me')] : []),
  ]);
  return asSlices(analysis, wrong);
}

/** Every profile on every GPU that has it not. */
function migNotOnGpu(analysis: DocumentAnalysis): readonly Mistake[] {
  const models = [...gpus.values()].filter(
    ({ vendor, migCapable, id }) =>
      vendor === 'nvidia' && (!migCapable || migTables().some((table) => table.gpus.includes(id))),
  );
  return podSites(analysis).flatMap(({ pod, podSet, first }): readonly Mistake[] => {
    const free = podSet.selectors.length === 0 && podSet.accelerators.length === 1 && !splitsModel(first);
    if (!free || first.vendor !== 'nvidia' || podSet.containers.filter((one) => one.accelerators.length > 0).length > 1)
      return [];
    return models.flatMap((model) => {
      const value = model.labels[product]?.[0];
      const selected = value === undefined ? [] : gpusByLabel(product, value);
      if (value === undefined || selected.length === 0 || /SHARED|MIG/.test(value)) return [];
      return profiles
        .filter((resource) => !migByResource(resource).some(({ gpu }) => selected.includes(gpu)))
        .filter((_, index) => index % 5 === 0)
        .map((resource) => ({
          name: `${resource} on ${value}`,
          steps: [...renamed(first, resource), putUnder(pod, 'nodeSelector', product, value)],
          place: { path: [...first.resources, 'limits', resource], part: 'key' as const },
        }));
    });
  });
}

function instanceWithoutGpu(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap((site) => {
    const types =
      site.first.vendor === 'nvidia'
        ? ['m5.2xlarge', 'ml.c6i.xlarge', 'inf2.xlarge', 'Standard_F8s_v2']
        : ['m5.2xlarge', 'g5.xlarge'];
    // Another selector of machines would contradict these, and be told as well.
    const others = site.podSet.selectors.some(
      ({ key, from }) => (key !== instanceType || from === 'affinity') && tells(key),
    );
    // So would network devices that they have not.
    return others || !takesSelectors(site.workload) || /efa/.test(analysis.text)
      ? []
      : types.map((type) => selecting(site, instanceType, type, 'value'));
  });
}

function selectorValue(analysis: DocumentAnalysis): readonly Mistake[] {
  const wrong = [
    ['cloud.google.com/gke-accelerator', 'nvidia-h100', 'nvidia'],
    ['cloud.google.com/gke-accelerator', 'nvidia-a100', 'nvidia'],
    ['cloud.google.com/gke-accelerator', 'NVIDIA-L4', 'nvidia'],
    ['cloud.google.com/gke-tpu-accelerator', 'v5e', 'google'],
    ['cloud.google.com/gke-tpu-accelerator', 'tpu-v6e', 'google'],
    [product, 'nvidia-h100-80gb', 'nvidia'],
    [product, 'H100', 'nvidia'],
    [product, 'Tesla-A100', 'nvidia'],
    ['karpenter.k8s.aws/instance-family', 'p4', 'nvidia'],
  ] as const;
  const misspelled = [
    'nvidia.com/gpu-product',
    'nvidia.com/gpu_product',
    'nvidia.com/gpu.prodcut',
    'nvidia.com/GPU.product',
  ];
  return podSites(analysis).flatMap((site) => [
    ...wrong
      .filter(([key, , vendor]) => vendor === site.first.vendor && fits(site, key))
      .map(([key, value]) => selecting(site, key, value, 'value')),
    ...misspelled
      .filter(() => site.first.vendor === 'nvidia' && fits(site, product))
      .map((key) => selecting(site, key, 'NVIDIA-L4', 'key')),
  ]);
}

function selectorConflict(analysis: DocumentAnalysis): readonly Mistake[] {
  const pairs = [
    [instanceType, 'p4d.24xlarge', product, 'NVIDIA-H100-80GB-HBM3'],
    [instanceType, 'g5.xlarge', product, 'NVIDIA-L4'],
    ['cloud.google.com/gke-accelerator', 'nvidia-l4', 'eks.amazonaws.com/nodegroup', 'gpu'],
    ['cloud.google.com/gke-accelerator', 'nvidia-tesla-t4', 'karpenter.k8s.aws/instance-family', 'g4dn'],
    ['karpenter.k8s.aws/instance-family', 'g5', 'kubernetes.azure.com/agentpool', 'gpu'],
  ] as const;
  return podSites(analysis).flatMap((site) => {
    const { root, pod, podSet, first } = site;
    const topology = 'cloud.google.com/gke-tpu-topology';
    const chips = first.resource === 'google.com/tpu' && podSet.selectors.some(({ key }) => key === topology);
    if (chips) {
      const path = [...pod, 'nodeSelector', topology];
      return [{ name: 'more chips than the slice', steps: [set(path, '1x1')], place: { path, part: 'key' } }];
    }
    // Kinds of machines alone: counts are another rule's.
    if (first.vendor !== 'nvidia' || first.count > 1 || first.request.form !== 'whole') return [];
    if (podSet.selectors.length > 0 || getIn(root, ...pod, 'nodeSelector') !== undefined) return [];
    return pairs.map(
      ([key, value, other, otherValue]): Mistake => ({
        name: `${key} ${value} with ${other} ${otherValue}`,
        steps: [putUnder(pod, 'nodeSelector', key, value), putUnder(pod, 'nodeSelector', other, otherValue)],
        place: { path: [...pod, 'nodeSelector', other], part: 'key' },
      }),
    );
  });
}

function spotServing(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis)
    .filter(({ workload, podSet }) => workload.role === 'serving' && isWhole(workload) && podSet.pods.min === 1)
    .filter(({ workload }) => workload.podSets.filter(({ accelerators }) => accelerators.length > 0).length === 1)
    .flatMap(onSpot);
}

function spotWithoutCheckpoint(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis)
    .filter(({ workload }) => workload.role === 'training' && isWhole(workload) && workload.kind !== 'XGBoostJob')
    .filter(({ workload }) => workload.podSets.every(keepsNothing))
    .filter(
      ({ workload: { podSets }, podSet }) => podSets.find(({ accelerators }) => accelerators.length > 0) === podSet,
    )
    .filter(({ workload: { name } }) => !/bench|nccl|test|burn|smoke/.test(name ?? ''))
    .flatMap(onSpot);
}

function poolUntainted(analysis: DocumentAnalysis): readonly Mistake[] {
  // What a template puts there cannot be taken away.
  if (analysis.document.template) return [];
  const pools = manifestsOf(analysis, 'NodePool').flatMap(({ root, path }): readonly Mistake[] => {
    const spec = [...path, 'spec', 'template', 'spec'];
    if (getIn(root, ...spec, 'taints') === undefined) return [];
    return [
      {
        name: 'no taints',
        steps: [drop([...spec, 'taints'])],
        place: { path: [...spec, 'requirements'], part: 'key' },
      },
    ];
  });
  const groups = manifestsOf(analysis, 'ClusterConfig').flatMap(({ root, path }) =>
    ['nodeGroups', 'managedNodeGroups'].flatMap((list) =>
      items(getIn(root, ...path, list)).flatMap((group, index): readonly Mistake[] => {
        if (getIn(group, 'taints') === undefined || !/^[pg]\d/.test(asText(getIn(group, 'instanceType')) ?? ''))
          return [];
        const where = [...path, list, index];
        return [
          {
            name: 'no taints',
            steps: [drop([...where, 'taints'])],
            place: { path: [...where, 'name'], part: 'value' },
          },
        ];
      }),
    ),
  );
  return [...pools, ...groups];
}

function poolUnlimited(analysis: DocumentAnalysis): readonly Mistake[] {
  if (analysis.document.template) return [];
  return manifestsOf(analysis, 'NodePool').flatMap(({ root, path }): readonly Mistake[] => {
    const spec = [...path, 'spec'];
    // A static pool is bounded by its count.
    if (getIn(root, ...spec, 'limits') === undefined || getIn(root, ...spec, 'replicas') !== undefined) return [];
    return [{ name: 'no limits', steps: [drop([...spec, 'limits'])], place: { path: spec, part: 'key' } }];
  });
}

function poolImpossible(analysis: DocumentAnalysis): readonly Mistake[] {
  if (analysis.document.template) return [];
  return manifestsOf(analysis, 'NodePool').flatMap(({ root, path }): readonly Mistake[] => {
    const spec = [...path, 'spec'];
    const requirements = [...spec, 'template', 'spec', 'requirements'];
    // Machines of a family could contradict another one.
    if (!items(getIn(root, ...requirements)).some((one) => /instance-category$/.test(asText(getIn(one, 'key')) ?? '')))
      return [];
    const type = { key: instanceType, operator: 'In', values: ['p5.48xlarge'] };
    const place = { path: [...spec, 'limits', 'memory'], part: 'value' as const };
    const steps = [append(requirements, type), ...put(spec, 'limits', { memory: '8Gi' })];
    return [{ name: 'a limit of 8Gi', steps, place }];
  });
}

function poolShortLived(analysis: DocumentAnalysis): readonly Mistake[] {
  if (analysis.document.template || /kwok|expireAfter/.test(analysis.text)) return [];
  return manifestsOf(analysis, 'NodePool').flatMap(({ root, path }): readonly Mistake[] => {
    const spec = [...path, 'spec', 'template', 'spec'];
    // A pool of a fixed size need not say that its nodes have GPUs.
    if (getIn(root, ...path, 'spec', 'replicas') !== undefined) return [];
    return [
      {
        name: 'a life of 20 minutes',
        steps: [add(spec, 'expireAfter', '20m')],
        place: { path: [...spec, 'expireAfter'], part: 'value' },
      },
    ];
  });
}

function poolUnconsolidated(analysis: DocumentAnalysis): readonly Mistake[] {
  if (analysis.document.template) return [];
  return manifestsOf(analysis, 'NodePool').flatMap(({ root, path }): readonly Mistake[] => {
    const spec = [...path, 'spec'];
    // Nobody pays for reserved capacity by the hour, or for simulated nodes.
    const isFree = /reserved|reservation|kwok/.test(analysis.text);
    if (isFree || getIn(root, ...spec, 'replicas') !== undefined) return [];
    const place = { path: [...spec, 'disruption', 'budgets', 0, 'nodes'], part: 'value' as const };
    return ['0', '0%'].map((nodes) => ({
      name: `a budget of ${nodes}`,
      steps: put(spec, 'disruption', { consolidateAfter: '5m', budgets: [{ nodes }] }),
      place,
    }));
  });
}

function asSlices(analysis: DocumentAnalysis, names: readonly string[]): readonly Mistake[] {
  return containerSites(analysis)
    .filter((site) => site.vendor === 'nvidia' && site.podSet.accelerators.length === 1 && !splitsModel(site))
    .flatMap((site) =>
      names.map(
        (name): Mistake => ({
          name: `${name} for ${site.resource}`,
          steps: renamed(site, name),
          place: { path: [...site.resources, 'limits', name], part: 'key' },
        }),
      ),
    );
}

function renamed(
  {
    resources,
    resource,
    requested,
  }: { readonly resources: Path; readonly resource: string; readonly requested: boolean },
  name: string,
): readonly Step[] {
  const held = requested ? ['limits', 'requests'] : ['limits'];
  return held.map((where) => rename([...resources, where, resource], name));
}

/** The pod with one more selector, or with another value of one it has. */
function selecting(site: PodSite, key: string, value: string, part: 'key' | 'value'): Mistake {
  const path = [...site.pod, 'nodeSelector', key];
  return {
    name: `${key}: ${value}`,
    steps: [putUnder(site.pod, 'nodeSelector', key, value)],
    place: { path, part },
  };
}

/** Spot, by the labels of the platform that the pod is on already. */
export function onSpot(site: PodSite): readonly Mistake[] {
  const labels = [
    ['karpenter.sh/capacity-type', 'spot', null],
    ['eks.amazonaws.com/capacityType', 'SPOT', 'aws'],
    ['cloud.google.com/gke-spot', 'true', 'gcp'],
  ] as const;
  const { placement, selectors } = site.podSet;
  if (placement.capacity !== 'unknown') return [];
  const owner =
    placement.provider ?? selectors.map(({ key }) => providerOfLabel(key)).find((one) => one !== null) ?? null;
  return labels
    .filter(([, , provider]) => owner === null || provider === owner || (provider === null && owner === 'aws'))
    .map(([key, value]) => selecting(site, key, value, 'key'));
}

function keepsNothing({ pod, volumes, containers, placement }: PodSite['podSet']): boolean {
  if (placement.capacity === 'spot' || getIn(pod, 'serviceAccountName') !== undefined) return false;
  if (volumes.some(({ source }) => !['emptyDir', 'configMap', 'secret'].includes(source))) return false;
  const plain = containers.every(
    ({ volumeMounts, at: place }) =>
      getIn(place, 'envFrom') === undefined &&
      volumeMounts.every(({ name }) => volumes.some((volume) => volume.name === name)),
  );
  const words = containers.flatMap(({ command, args, env }) => [
    ...[...command, ...args].map(({ value }) => value),
    ...env.map(({ name, value }) => `${name}=${value?.value ?? '://'}`),
  ]);
  return plain && !/:\/\/|output|save|ckpt|checkpoint|resume|bucket|min-np|config/i.test(words.join(' '));
}

/** KAITO chooses the machines of a Workspace, whatever its pods select. */
export function takesSelectors({ kind }: PodSite['workload']): boolean {
  return kind !== 'Workspace';
}

/** The key tells which machines: their provider, their type or their GPU. */
function tells(key: string): boolean {
  return (
    key === product ||
    key === instanceType ||
    providerOfLabel(key) !== null ||
    /accelerator|gpu|tpu|instance-type/.test(key)
  );
}

/** No other selector would contradict this one. */
function fits({ podSet }: PodSite, key: string): boolean {
  return podSet.selectors.every((other) => other.key === key || !tells(other.key)) && podSet.placement.provider === null
    ? true
    : podSet.selectors.some((other) => other.key === key && other.from === 'nodeSelector') &&
        podSet.selectors.length === 1;
}

/** All cores or all memory of a machine with the one GPU that the pod requests. */
function exceedsMachine(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ root, pod, podSet, workload, first }) => {
    const { resources, resource, request, count } = first;
    const free = podSet.selectors.length === 0 && takesSelectors(workload) && podSet.containers.length === 1;
    if (
      resource !== 'nvidia.com/gpu' ||
      request.form !== 'whole' ||
      count !== 1 ||
      !free ||
      workload.role === 'definition'
    )
      return [];
    const isSet = (key: string) =>
      ['limits', 'requests'].some((list) => getIn(root, ...resources, list, key) !== undefined);
    return (
      [
        ['cpu', 4],
        ['cpu', 20],
        ['memory', '16Gi'],
        ['memory', '64Gi'],
      ] as const
    )
      .filter(() => !isSet('cpu') && !isSet('memory'))
      .map(([key, size]) => ({
        name: `${key} ${size} on a machine that has no more`,
        steps: [
          putUnder(resources, 'requests', key, size),
          putUnder(pod, 'nodeSelector', 'node.kubernetes.io/instance-type', 'g5.xlarge'),
        ],
        place: { path: [...resources, 'requests', key], part: 'value' },
      }));
  });
}
