import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { getIn } from '../../server/src/yaml/cursor.ts';
import { type ContainerSite, containerSites, isWhole, type PodSite, podSites, splitsModel } from './sites.ts';
import { type Mistake, type Path, type Planters, put, putUnder, rename, type Step } from './steps.ts';

export const planters: Planters = {
  'command-single-string': commandSingleString,
  'cpu-device': cpuDevice,
  'cpu-image-with-gpu': cpuImage,
  'cuda-too-old': cudaTooOld,
  'efa-impossible': efaImpossible,
  'image-invalid': imageInvalid,
  'mig-many-slices': migManySlices,
  'program-missing': missingProgram,
  'server-too-old': serverTooOld,
  'shared-request-many': sharedMany,
};

// Mistakes in what runs: images, command lines, and parts of cards for them.

function cpuImage(analysis: DocumentAnalysis): readonly Mistake[] {
  return judged(analysis)
    .filter(({ resource }) => /^(nvidia|amd)\.com\//.test(resource))
    .flatMap(({ path, resource }) => {
      const otherVendor = resource.startsWith('amd.com/') ? '1.4-cuda12.4' : '1.4-rocm6.2';
      return [
        'registry.example/embed:1.4-cpu',
        'registry.example/embed-cpu:1.4',
        `registry.example/embed:${otherVendor}`,
      ].map(imageOf(path));
    });
}

function missingProgram(analysis: DocumentAnalysis): readonly Mistake[] {
  return judged(analysis).flatMap(({ path, container }): readonly Mistake[] => {
    const isPlain = container.env.length === 0 && container.volumeMounts.length === 0 && container.args.length === 0;
    if (!isPlain || getIn(container.at, 'envFrom') !== undefined || container.type !== 'app') return [];
    return [
      ['alpine:3.20', 'bash'],
      ['ollama/ollama:0.12.3', 'curl'],
      ['nvidia/cuda:12.4.1-base-ubuntu22.04', 'python3'],
    ].map(([image = '', program = '']) => ({
      name: `${program} in ${image}`,
      steps: [...put(path, 'image', image), ...put(path, 'command', [program, '--version'])],
      place: { path: [...path, 'command', 0], part: 'value' },
    }));
  });
}

function cpuDevice(analysis: DocumentAnalysis): readonly Mistake[] {
  return judged(analysis).flatMap(({ path, resource, container, podSet }): readonly Mistake[] => {
    const words = [...container.command, ...container.args].map(({ value }) => value);
    const isOpen = getIn(container.at, 'env') === undefined && container.type === 'app' && podSet.pods.max !== 0;
    // A script may run several programs, and other words may name a device or be unknown.
    if (
      !/^(?:nvidia|amd)\.com\//.test(resource) ||
      !isOpen ||
      words.some((word) => /[\s<{$]|^(?:ba)?sh$|gpu|cuda/i.test(word))
    )
      return [];
    return ['DEVICE', 'TORCH_DEVICE'].map((name) => ({
      name: `${name}=cpu`,
      steps: put(path, 'env', [{ name, value: 'cpu' }]),
      place: { path: [...path, 'env', 0, 'value'], part: 'value' },
    }));
  });
}

function cudaTooOld(analysis: DocumentAnalysis): readonly Mistake[] {
  const cases = [
    ['NVIDIA-H100-80GB-HBM3', 'registry.example/trainer:2.1-cuda11.3'],
    ['NVIDIA-H100-80GB-HBM3', 'registry.example/trainer:1.12-cu116'],
    ['NVIDIA-B200', 'registry.example/trainer:2.4-cuda12.4'],
  ] as const;
  return podSites(analysis).flatMap((site): readonly Mistake[] => {
    const { pod, first } = site;
    if (!isOpenForSelectors(site) || first.resource !== 'nvidia.com/gpu') return [];
    return cases.map(([product, image]) => {
      const { name, steps, place } = imageOf(first.path)(image);
      const selector = putUnder(pod, 'nodeSelector', 'nvidia.com/gpu.product', product);
      return { name: `${name} on ${product}`, steps: [selector, ...steps], place };
    });
  });
}

function imageInvalid(analysis: DocumentAnalysis): readonly Mistake[] {
  // Braces in a file with others are a template's.
  const bare = /\{[A-Za-z_]\w*\}/.test(analysis.text) ? [] : ['registry.example/server:{TAG}'];
  return judged(analysis).flatMap(({ path }) =>
    [
      ...bare,
      'registry.example/Team/Server:1.4',
      'registry.example/server :1.4',
      'registry.example/team//server:1.4',
    ].map(imageOf(path)),
  );
}

function commandSingleString(analysis: DocumentAnalysis): readonly Mistake[] {
  const lines = ['python train.py --epochs 3', 'torchrun train.py', '/bin/sh -c', '--port=8000'];
  return (
    judged(analysis)
      // KubeRay gives the command to bash.
      .filter(({ workload }) => !workload.byShape && !workload.apiVersion.startsWith('ray.io/'))
      .flatMap(({ path }) =>
        lines.map(
          (line): Mistake => ({
            name: `one item "${line}"`,
            steps: put(path, 'command', [line]),
            place: { path: [...path, 'command', 0], part: 'value' },
          }),
        ),
      )
  );
}

function serverTooOld(analysis: DocumentAnalysis): readonly Mistake[] {
  return judged(analysis).flatMap(({ path, workload, count, container, podSet }): readonly Mistake[] => {
    // Volumes and variables may be for another model.
    const isBare = podSet.volumes.length === 0 && container.env.length === 0;
    if (workload.byShape || workload.role !== 'serving' || !isBare || count !== 1) return [];
    const { name, steps, place } = imageOf(path)('vllm/vllm-openai:v0.9.2');
    const start = [...put(path, 'command', ['vllm', 'serve', 'openai/gpt-oss-20b']), ...put(path, 'args', [])];
    return [{ name: `gpt-oss on ${name}`, steps: [...steps, ...start], place }];
  });
}

function migManySlices(analysis: DocumentAnalysis): readonly Mistake[] {
  return asParts(analysis, 'nvidia.com/mig-1g.10gb', 3);
}

function sharedMany(analysis: DocumentAnalysis): readonly Mistake[] {
  return asParts(analysis, 'nvidia.com/gpu.shared', 2);
}

function efaImpossible(analysis: DocumentAnalysis): readonly Mistake[] {
  return podSites(analysis).flatMap((site): readonly Mistake[] => {
    const { pod, first } = site;
    if (!isOpenForSelectors(site) || first.resource !== 'nvidia.com/gpu' || first.count > 8) return [];
    const efa = 'vpc.amazonaws.com/efa';
    return [
      {
        name: '32 EFA devices on p4d',
        steps: [
          putUnder(pod, 'nodeSelector', 'node.kubernetes.io/instance-type', 'p4d.24xlarge'),
          putUnder(first.resources, 'limits', efa, 32),
        ],
        place: { path: [...first.resources, 'limits', efa], part: 'value' },
      },
    ];
  });
}

/** Containers of pods as Kubernetes writes them, which run by themselves. */
function judged(analysis: DocumentAnalysis): readonly ContainerSite[] {
  return containerSites(analysis).filter(({ workload, listed }) => listed && isWhole(workload));
}

/** Makes the container run another image. */
function imageOf(path: Path): (image: string) => Mistake {
  return (image) => ({
    name: `image ${image}`,
    steps: put(path, 'image', image),
    place: { path: [...path, 'image'], part: 'value' },
  });
}

/** One process with so many parts of cards instead of its GPUs. */
function asParts(analysis: DocumentAnalysis, name: string, count: number): readonly Mistake[] {
  return podSites(analysis).flatMap((site): readonly Mistake[] => {
    const { workload, podSet, first } = site;
    const { resources, resource, requested, path, container } = first;
    if (resource !== 'nvidia.com/gpu' || !isOpenForSelectors(site) || container.type === 'init') return [];
    if (podSet.containers.length > 1 || workload.role === 'interactive' || splitsModel(first)) return [];
    // Its image has no Python.
    if (/ollama\/ollama/.test(container.image?.value ?? '')) return [];
    // A queue without a quota for the part would be told, too.
    if (/kueue\.x-k8s\.io\/queue-name/.test(analysis.text)) return [];
    // What gives each process its slice is right.
    if (/VISIBLE_DEVICES|nvidia-smi/.test(analysis.text)) return [];
    const held = requested ? ['limits', 'requests'] : ['limits'];
    const steps: readonly Step[] = held.flatMap((where) => [
      rename([...resources, where, resource], name),
      ...put([...resources, where], name, count),
    ]);
    const process = put(path, 'command', ['python', '/app/embed.py']);
    return [
      {
        name: `${count} ${name}`,
        steps: [...steps, ...process],
        place: { path: [...resources, 'limits', name], part: 'value' },
      },
    ];
  });
}

/** Whole, and with no selector that another one could contradict. */
function isOpenForSelectors({ workload, podSet, first }: PodSite): boolean {
  const { selectors, accelerators, placement } = podSet;
  const free = selectors.length === 0 && placement.provider === null && workload.kind !== 'Workspace';
  return free && isWhole(workload) && accelerators.length === 1 && first.request.form === 'whole';
}
