import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { lackingPrograms } from '../../server/src/catalog/image-programs.ts';
import { getIn, keyOf } from '../../server/src/yaml/cursor.ts';
import { takesSelectors } from './placement.ts';
import { type ContainerSite, containerSites, isWhole, manifestsOf, podSites, usesOneDevice } from './sites.ts';
import {
  add,
  appendUnder,
  drop,
  type Mistake,
  type Planters,
  put,
  putUnder,
  rename,
  type Step,
  set,
  write,
} from './steps.ts';

export const planters: Planters = {
  'gpu-limits-required': limitsRequired,
  'gpu-misplaced': misplaced,
  'gpu-quantity-empty': quantityEmpty,
  'gpu-quantity-whole': quantityWhole,
  'gpu-requests-equal-limits': requestsEqualLimits,
  'gpu-resource-name': resourceName,
  'gpus-exceed-node': exceedsNode,
  'idle-gpu-container': idleContainer,
  'image-not-pinned': imageNotPinned,
  'mixed-accelerators': mixed,
  'toleration-invalid': invalidTolerations,
  'toleration-key': tolerationKey,
  'toleration-missing': tolerationMissing,
  'whole-gpu-underused': underused,
};

// Mistakes in what a container asks for, and in what it does with it.

const misspelt: Readonly<Record<string, readonly string[]>> = {
  'nvidia.com/gpu': [
    'nvidia.com/gpus',
    'nvidia/gpu',
    'nvidia.com/GPU',
    'alpha.kubernetes.io/nvidia-gpu',
    'nvdia.com/gpu',
    'nvidia.com.gpu',
  ],
  'amd.com/gpu': ['amd.com/gpus', 'amd/gpu'],
  'google.com/tpu': ['google.com/tpus', 'cloud.google.com/tpu'],
  'aws.amazon.com/neuron': ['aws.amazon.com/neurons'],
};

function limitsRequired(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload }) => isWhole(workload))
    .flatMap(({ resource, resources, count }): readonly Mistake[] => {
      const limit = [...resources, 'limits', resource];
      const request = putUnder(resources, 'requests', resource, count);
      const place = { path: [...resources, 'requests', resource], part: 'key' } as const;
      return [
        { name: `${resource} in requests alone`, steps: [request, drop(limit)], place },
        { name: `${resource} with a limit of null`, steps: [request, write(limit, 'null')], place },
      ];
    });
}

function requestsEqualLimits(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).map(({ resource, resources, count }) => {
    const path = [...resources, 'requests', resource];
    return {
      name: `requests ${count + 1} of ${count}`,
      steps: [putUnder(resources, 'requests', resource, count + 1)],
      place: { path, part: 'key' },
    };
  });
}

function quantityWhole(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ resource, resources }) => {
    const path = [...resources, 'limits', resource];
    return [0.5, '500m', '1.5', -1].map(
      (wrong): Mistake => ({
        name: `${wrong} ${resource}`,
        steps: [set(path, wrong)],
        place: { path, part: 'value' },
      }),
    );
  });
}

function quantityEmpty(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis)
    .filter(({ workload }) => isWhole(workload))
    .map(({ resource, resources, requested }) => {
      const path = [...resources, 'limits', resource];
      const both = requested ? [path, [...resources, 'requests', resource]] : [path];
      return {
        name: `${resource} without a value`,
        steps: both.map((where) => write(where, 'null')),
        place: { path, part: 'key' },
      };
    });
}

function resourceName(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ resource, resources, requested, listed, podSet }) => {
    const wrong = [...(misspelt[resource] ?? []), ...(listed && resource === 'nvidia.com/gpu' ? ['gpu', 'GPU'] : [])];
    const elsewhere = podSet.accelerators.length > 1;
    return (elsewhere ? [] : wrong).map(
      (name): Mistake => ({
        name: `${name} for ${resource}`,
        steps: [
          rename([...resources, 'limits', resource], name),
          ...(requested ? [rename([...resources, 'requests', resource], name)] : []),
        ],
        place: { path: [...resources, 'limits', name], part: 'key' },
      }),
    );
  });
}

function misplaced(analysis: DocumentAnalysis): readonly Mistake[] {
  const inContainers = containerSites(analysis)
    .filter(({ listed }) => listed)
    .flatMap(({ path, resources, resource, count }): readonly Mistake[] => [
      {
        name: 'nodeSelector in the container',
        steps: [add(path, 'nodeSelector', { 'example.org/pool': 'gpu' })],
        place: { path: [...path, 'nodeSelector'], part: 'key' },
      },
      {
        name: 'tolerations in the container',
        steps: [add(path, 'tolerations', [{ key: 'nvidia.com/gpu', operator: 'Exists' }])],
        place: { path: [...path, 'tolerations'], part: 'key' },
      },
      {
        name: 'runtimeClassName in the container',
        steps: [add(path, 'runtimeClassName', 'nvidia')],
        place: { path: [...path, 'runtimeClassName'], part: 'key' },
      },
      {
        name: 'the count beside limits',
        steps: [drop([...resources, 'limits', resource]), add(resources, resource, count)],
        place: { path: [...resources, resource], part: 'key' },
      },
      {
        name: 'limits beside resources',
        steps: [drop([...resources, 'limits', resource]), add(path, 'limits', { [resource]: count })],
        place: { path: [...path, 'limits', resource], part: 'key' },
      },
    ]);
  const inPods = podSites(analysis).flatMap(({ pod, root, workload, first: { resource } }): readonly Mistake[] => {
    const template = pod.at(-1) === 'spec' && pod.at(-2) === 'template' ? pod.slice(0, -1) : undefined;
    const owned: readonly Mistake[] =
      // Kinds that are only partly known may have fields of their own there.
      template === undefined || workload.partial || getIn(root, ...pod, 'containers') === undefined
        ? []
        : [
            {
              name: 'nodeSelector beside the pod',
              steps: [add(template, 'nodeSelector', { 'example.org/pool': 'gpu' })],
              place: { path: [...template, 'nodeSelector'], part: 'key' },
            },
          ];
    const bare = getIn(root, ...pod, 'resources') === undefined && getIn(root, ...pod, 'containers') !== undefined;
    if (!bare) return owned;
    const relatedFiles = ['limits', 'requests'].map(
      (key): Mistake => ({
        name: `${key} beside the containers`,
        steps: [add(pod, key, { [resource]: 1 })],
        place: { path: [...pod, key, resource], part: 'key' },
      }),
    );
    return [
      ...owned,
      ...(workload.byShape ? [] : relatedFiles),
      {
        name: "accelerators in the pod's resources",
        steps: [add(pod, 'resources', { limits: { [resource]: 1 } })],
        place: { path: [...pod, 'resources', 'limits', resource], part: 'key' },
      },
    ];
  });
  const inSpecs = manifestsOf(analysis, 'InferenceService')
    .filter(({ manifest }) => analysis.workloads.some((one) => one.manifest === manifest && asks(analysis, one.name)))
    .map(
      ({ path }): Mistake => ({
        name: 'nodeSelector beside the predictor',
        steps: [add([...path, 'spec'], 'nodeSelector', { 'example.org/pool': 'gpu' })],
        place: { path: [...path, 'spec', 'nodeSelector'], part: 'key' },
      }),
    );
  return [...inContainers, ...inPods, ...inSpecs];
}

function mixed(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ resource, resources, podSet }) => {
    const others = ['amd.com/gpu', 'nvidia.com/mig-1g.10gb', 'nvidia.com/gpu'].filter(
      (other) => other !== resource && (!other.includes('mig') || podSet.selectors.length === 0),
    );
    return others.map(
      (other): Mistake => ({
        name: `${other} beside ${resource}`,
        steps: [add([...resources, 'limits'], other, 1)],
        place: { path: [...resources, 'limits', other], part: 'key' },
      }),
    );
  });
}

function idleContainer(analysis: DocumentAnalysis): readonly Mistake[] {
  const waits = [
    { command: ['sleep', 'infinity'], word: '', item: 0 },
    { command: ['tail', '-f', '/dev/null'], word: '', item: 0 },
    { command: ['/bin/sh', '-c', 'while true; do sleep 60; done'], word: 'sleep', item: 2 },
    { command: ['bash', '-c', 'nvidia-smi && sleep infinity'], word: 'sleep', item: 2 },
    { command: ['sh', '-c', 'pip install -r requirements.txt; tail -f /dev/null'], word: 'tail', item: 2 },
    { command: ['bash', '-c', 'python train.py; sleep infinity'], word: 'sleep', item: 2 },
    { command: ['sleep', '365d'], word: '', item: 0 },
    { command: ['bash', '-c', 'while :; do sleep 3600; done'], word: 'sleep', item: 2 },
    { command: ['bash', '-c', 'trap : TERM INT; sleep infinity & wait'], word: 'sleep', item: 2 },
  ];
  return containerSites(analysis)
    .filter(runs)
    .flatMap(({ path, container, podSet }) =>
      // On spot a job that trains is told of its checkpoints as well.
      waits
        .filter(({ command }) => podSet.placement.capacity !== 'spot' || !command.join(' ').includes('train'))
        .filter(({ command }) => ![...(lackingPrograms(container.image?.value ?? '') ?? [])].some(isIn(command)))
        .map(
          ({ command, word, item }): Mistake => ({
            name: command.join(' '),
            steps: [...(container.args.length > 0 ? [drop([...path, 'args'])] : []), ...put(path, 'command', command)],
            place: { path: [...path, 'command', item], part: 'value', word },
          }),
        ),
    );
}

function isIn(command: readonly string[]): (program: string) => boolean {
  const words = new Set(command.join(' ').split(/[\s;]+/));
  return (program) => words.has(program);
}

function imageNotPinned(analysis: DocumentAnalysis): readonly Mistake[] {
  return containerSites(analysis).flatMap(({ path, container: { image }, workload }) => {
    if (image === undefined || image.at.shared || workload.role === 'infrastructure') return [];
    const name = /^([a-z0-9][\w./-]*?)(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?$/.exec(image.value)?.[1];
    if (name === undefined || /your|placeholder|replace|xxx/.test(name)) return [];
    const where = [...path, 'image'];
    const moving = ['latest', 'main', 'nightly'].map(
      (tag): Mistake => ({
        name: `image tag ${tag}`,
        steps: [set(where, `${name}:${tag}`)],
        place: { path: where, part: 'value', word: tag },
      }),
    );
    return [
      ...moving,
      { name: 'image without a tag', steps: [set(where, name)], place: { path: where, part: 'value' } },
    ];
  });
}

function exceedsNode(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ root, pod, podSet, workload, first }) => {
    const { resource, resources, requested, vendor, request, count } = first;
    const holders = podSet.containers.filter(({ accelerators }) => accelerators.length > 0).length;
    const product = 'nvidia.com/gpu.product';
    // Where processes are counted too, they would no longer fit their GPUs.
    const line = podSet.containers.flatMap(({ command, args }) => [...command, ...args]);
    // Twelve GPUs also have too few cores, or a rollout that needs twelve more.
    const counted =
      /^(PyTorchJob|Deployment)$/.test(workload.kind) ||
      getIn(root, ...resources, 'limits', 'cpu') !== undefined ||
      line.some(({ value }) => /nproc|num_(processes|gpus)/.test(value));
    const type = vendor === 'nvidia' ? 'g5.xlarge' : vendor === 'aws' ? 'inf2.xlarge' : undefined;
    if (
      type === undefined ||
      holders > 1 ||
      request.form !== 'whole' ||
      podSet.selectors.length > 0 ||
      !takesSelectors(workload)
    )
      return [];
    const three: readonly Step[] = [
      [...resources, 'limits', resource],
      [...resources, 'requests', resource],
    ]
      .slice(0, requested ? 2 : 1)
      // Several already are too many for a machine of one.
      .flatMap((where) => (count > 1 ? [] : [set(where, 3)]));
    return [
      {
        name: `too many ${resource} for ${type}`,
        steps: [...three, putUnder(pod, 'nodeSelector', 'node.kubernetes.io/instance-type', type)],
        place: { path: [...resources, 'limits', resource], part: 'value' },
      },
      ...(resource === 'nvidia.com/gpu' && !counted && !usesOneDevice(first)
        ? [
            {
              name: 'more than any node of the model has',
              steps: [
                set([...resources, 'limits', resource], 12),
                ...(requested ? [set([...resources, 'requests', resource], 12)] : []),
                putUnder(pod, 'nodeSelector', product, 'NVIDIA-H100-80GB-HBM3'),
              ],
              place: { path: [...resources, 'limits', resource], part: 'value' } as const,
            },
          ]
        : []),
    ];
  });
}

function invalidTolerations(analysis: DocumentAnalysis): readonly Mistake[] {
  const wrong = [
    {
      says: 'Exists with a value',
      value: { key: 'example.org/x', operator: 'Exists', value: 'yes' },
      part: 'key',
      of: 'value',
    },
    { says: 'an unknown operator', value: { key: 'example.org/x', operator: 'exist' }, part: 'value', of: 'operator' },
    {
      says: 'an unknown effect',
      value: { key: 'example.org/x', operator: 'Exists', effect: 'NoScheduled' },
      part: 'value',
      of: 'effect',
    },
    {
      says: 'seconds without NoExecute',
      value: { key: 'example.org/x', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 60 },
      part: 'key',
      of: 'tolerationSeconds',
    },
    { says: 'Equal without a key', value: { operator: 'Equal', value: 'yes' }, part: 'value', of: 'operator' },
  ] as const;
  return podSites(analysis).flatMap(({ pod, podSet }) =>
    wrong.map(
      ({ says, value, part, of }): Mistake => ({
        name: says,
        steps: [appendUnder(pod, 'tolerations', value)],
        place: { path: [...pod, 'tolerations', podSet.tolerations.length, of], part },
      }),
    ),
  );
}

function tolerationKey(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, podSet }) => {
    const keys = podSet.tolerations.map(({ key }) => key?.value);
    const known = keys.indexOf('nvidia.com/gpu');
    return ['nvidia.com/gpus', 'nvidia/gpu', 'nvidia.com/GPU'].flatMap((wrong): readonly Mistake[] => {
      if (known >= 0) {
        const path = [...pod, 'tolerations', known, 'key'];
        if (keys.indexOf('nvidia.com/gpu', known + 1) >= 0) return [];
        return [{ name: `tolerates ${wrong}`, steps: [set(path, wrong)], place: { path, part: 'value' } }];
      }
      return [
        {
          name: `tolerates ${wrong}`,
          steps: [appendUnder(pod, 'tolerations', { key: wrong, operator: 'Exists', effect: 'NoSchedule' })],
          place: { path: [...pod, 'tolerations', podSet.tolerations.length, 'key'], part: 'value' },
        },
      ];
    });
  });
}

/** Nodes with a taint that the pod knows nothing of, and with one that it tolerated before. */
function tolerationMissing(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap(({ pod, podSet, workload, first }): readonly Mistake[] => {
    const { tolerations } = podSet;
    const queued = [...podSet.labels, ...workload.manifest.labels].some(({ at: label }) =>
      keyOf(label).includes('kueue'),
    );
    const classed = getIn(podSet.pod, 'runtimeClassName') !== undefined;
    if (!isWhole(workload) || !/nvidia|amd|intel/.test(first.vendor) || queued || classed) return [];
    // KAITO makes the nodes of a Workspace for it, and their taints are its own.
    if (tolerations.some(({ key }) => key === undefined) || workload.kind === 'Workspace') return [];
    const place: Mistake['place'] =
      tolerations.length > 0
        ? { path: [...pod, 'tolerations'], part: 'key' }
        : { path: [...first.resources, 'limits', first.resource], part: 'key' };
    const config = 'taints: [{key: example.org/pool, value: gpu, effect: NoSchedule}]';
    const other = { key: 'example.org/pool', operator: 'Equal', value: 'cpu' };
    return [
      { name: 'a taint of the nodes', steps: [], place, config },
      {
        name: 'another value tolerated',
        steps: [appendUnder(pod, 'tolerations', other)],
        place: { path: [...pod, 'tolerations'], part: 'key' },
        config,
      },
    ];
  });
}

function asks(analysis: DocumentAnalysis, workload: string | null): boolean {
  return containerSites(analysis).some((site) => site.workload.name === workload);
}

/** Its command is its own, and nothing drives it from outside. */
function runs({ listed, workload, podSet, container }: ContainerSite): boolean {
  if (!listed || !isWhole(workload) || container.type !== 'app' || podSet.pods.max === 0) return false;
  if (container.args.some(({ at: place }) => place.shared) || container.command.some(({ at: place }) => place.shared))
    return false;
  return !(workload.kind === 'MPIJob' && podSet.name === 'Worker');
}

/** A small model on a card that is large, alone, and known. */
function underused(analysis: DocumentAnalysis): readonly Mistake[] {
  const servers: readonly (readonly string[])[] = [
    ['vllm', 'serve', 'Qwen/Qwen3-1.7B', '--max-model-len', '8192'],
    ['python3', '-m', 'vllm.entrypoints.openai.api_server', '--model=google/gemma-2-2b-it'],
    ['sglang', 'serve', '--host=0.0.0.0', '--model-path', 'unsloth/Llama-3.2-1B', '--context-length=16384'],
    ['text-generation-launcher', '--model-id', 'google/gemma-2b-it'],
  ];
  return containerSites(analysis)
    .filter(
      ({ container, podSet, workload, resource, count }) =>
        resource === 'nvidia.com/gpu' &&
        Number.isInteger(count) &&
        container.type === 'app' &&
        workload.podSets.length === 1 &&
        workload.role === 'serving' &&
        workload.roleConfidence === 'certain' &&
        !workload.partial &&
        podSet.pods.max === 1 &&
        !/latency/i.test(analysis.document.text) &&
        getIn(container.at, 'storageUri') === undefined &&
        podSet.accelerators.some(
          ({ requested, model, devices, perPod }) =>
            requested.name === resource && devices === perPod && /^(a100|h100|h200|l40s)/.test(model ?? ''),
        ),
    )
    .flatMap(({ path, container, resources, resource, count }) =>
      // Those that use one of several GPUs are another rule's.
      servers
        .filter(([program]) => count === 1 || program === 'text-generation-launcher')
        .map(
          (command): Mistake => ({
            name: command.join(' '),
            steps: [...(container.args.length > 0 ? [drop([...path, 'args'])] : []), ...put(path, 'command', command)],
            place: { path: [...resources, 'limits', resource], part: 'key' },
          }),
        ),
    );
}
