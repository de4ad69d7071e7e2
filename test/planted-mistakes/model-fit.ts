import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { spansPods } from '../../server/src/evidence/gpu-assignment.ts';
import { getIn } from '../../server/src/yaml/cursor.ts';
import { containerSites } from './sites.ts';
import { drop, type Mistake, type Path, type Planters, pathOf, put } from './steps.ts';

export const planters: Planters = {
  'model-does-not-fit': (analysis) =>
    withServers(analysis, (count) => [
      ['vllm', 'serve', 'unsloth/Llama-3.1-405B-Instruct', `--tensor-parallel-size=${count}`],
      ['vllm', 'serve', '/mnt/models/Llama-3.1-405B-Instruct', '--tensor-parallel-size', String(count)],
      [
        'python3',
        '-m',
        'sglang.launch_server',
        '--host=0.0.0.0',
        '--model-path=deepseek-ai/DeepSeek-R1',
        `--tp=${count}`,
      ],
    ]),
  'kv-cache-too-small': (analysis) =>
    withServers(analysis, (count) => [
      ['vllm', 'serve', 'unsloth/Llama-3.1-8B-Instruct', '--max-model-len=2000000', `--tensor-parallel-size=${count}`],
      ['vllm', 'serve', 'lab/Phi-3-mini-128k-instruct', '--max-model-len', '900000', `-tp=${count}`],
    ]),
  'context-too-long': (analysis) =>
    withServers(analysis, () => [
      ['vllm', 'serve', 'Qwen/Qwen3-8B', '--max-model-len=131072'],
      ['python3', '-m', 'sglang.launch_server', '--model-path=microsoft/phi-4', '--context-length=32768'],
    ]).map((mistake) => ({ ...mistake, place: { path: lastWord(mistake), part: 'value' } })),
  'cheaper-gpu-fits': cheaperGpu,
  'attention-heads': (analysis) =>
    withServers(analysis, () => [
      ['vllm', 'serve', 'tiiuae/falcon-7b', '--max-model-len=1024', '--tensor-parallel-size=2'],
      [
        'python3',
        '-m',
        'sglang.launch_server',
        '--host=0.0.0.0',
        '--model-path=tiiuae/falcon-7b',
        '--context-length=1024',
        '--tp=2',
      ],
    ]).flatMap((mistake) => withGpus(analysis, mistake, 2)),
  'dtype-unsupported': (analysis) =>
    withServers(analysis, () => [['vllm', 'serve', 'lab/novels-8b', '--dtype=bfloat16']]).flatMap((mistake) =>
      onNodes(analysis, mistake, { 'cloud.google.com/gke-accelerator': 'nvidia-tesla-t4' }, lastWord(mistake)),
    ),
  'tensor-parallel-link': (analysis) =>
    withServers(analysis, () => [['vllm', 'serve', 'lab/novels-70b', '--tensor-parallel-size=4']]).flatMap((mistake) =>
      withGpus(analysis, mistake, 4).flatMap((wider) =>
        onNodes(
          analysis,
          { ...wider, place: mistake.place },
          { 'node.kubernetes.io/instance-type': 'g6.12xlarge' },
          lastWord(mistake),
        ),
      ),
    ),
};

/** The mistake with so many GPUs, whose processes share memory. */
function withGpus(analysis: DocumentAnalysis, mistake: Mistake, count: number): readonly Mistake[] {
  const site = siteOf(analysis, mistake);
  if (site === undefined || site.requested || !site.listed) return [];
  const gpus = put([...site.resources, 'limits'], site.resource, count);
  const memory = put(pathOf(site.podSet.pod), 'hostIPC', true);
  return [
    { ...mistake, steps: [...mistake.steps, ...gpus, ...memory], place: { path: lastWord(mistake), part: 'value' } },
  ];
}

/** The place of the last word of the planted command. */
function lastWord({ name, place }: Mistake): Path {
  return [...place.path.slice(0, -3), 'command', name.split(' ').length - 1];
}

function siteOf(analysis: DocumentAnalysis, { place }: Mistake) {
  return containerSites(analysis).find(({ resources }) => isUnder(place.path, resources));
}

/** The mistake on other nodes, if nothing else selects them. */
function onNodes(
  analysis: DocumentAnalysis,
  mistake: Mistake,
  labels: Readonly<Record<string, string>>,
  path: Path,
): readonly Mistake[] {
  const site = siteOf(analysis, mistake);
  if (site === undefined || getIn(site.podSet.pod, 'affinity') !== undefined) return [];
  const steps = [...mistake.steps, ...put(pathOf(site.podSet.pod), 'nodeSelector', labels)];
  return [{ ...mistake, steps, place: { path, part: 'value' } }];
}

// Mistakes in the size of a model for its GPUs.

/** Servers in the place of those of pods with few GPUs of a known model. */
function withServers(
  analysis: DocumentAnalysis,
  servers: (count: number) => readonly (readonly string[])[],
): readonly Mistake[] {
  return containerSites(analysis)
    .filter(
      ({ container, podSet, workload, resource, count }) =>
        resource === 'nvidia.com/gpu' &&
        (count === 1 || count === 2) &&
        container.type === 'app' &&
        workload.role === 'serving' &&
        workload.roleConfidence === 'certain' &&
        !workload.partial &&
        !spansPods(workload) &&
        ['env', 'envFrom', 'storageUri', 'runtime'].every((key) => getIn(container.at, key) === undefined) &&
        podSet.accelerators.some(
          ({ requested, model, devices, perPod, modelHint }) =>
            requested.name === resource && devices === perPod && model !== null && modelHint === undefined,
        ),
    )
    .flatMap(({ path, container, resources, resource, count }) =>
      servers(count).map(
        (command): Mistake => ({
          name: command.join(' '),
          steps: [...(container.args.length > 0 ? [drop([...path, 'args'])] : []), ...put(path, 'command', command)],
          place: { path: [...resources, 'limits', resource], part: 'key' },
        }),
      ),
    );
}

/** A model that needs half of an A100, where an L40S holds it. */
function cheaperGpu(analysis: DocumentAnalysis): readonly Mistake[] {
  const command = ['vllm', 'serve', 'mistralai/Mistral-Nemo-Instruct-2407', '--max-model-len=81920'];
  const selector = {
    'node.kubernetes.io/instance-type': 'p4de.24xlarge',
    'topology.kubernetes.io/region': 'us-east-1',
  };
  return withServers(analysis, () => [command]).flatMap((mistake): Mistake[] => {
    const site = containerSites(analysis).find(({ resources }) => isUnder(mistake.place.path, resources));
    if (site === undefined || site.count !== 1 || site.podSet.pods.max !== 1) return [];
    // The image says that Triton serves, whatever the command is.
    if (/triton/i.test(site.container.image?.value ?? '')) return [];
    const { podSet, workload } = site;
    if (getIn(podSet.pod, 'affinity') !== undefined || workload.podSets.length > 1) return [];
    if (/latency|spot/i.test(analysis.document.text)) return [];
    return [{ ...mistake, steps: [...mistake.steps, ...put(pathOf(podSet.pod), 'nodeSelector', selector)] }];
  });
}

function isUnder(path: Path, owner: Path): boolean {
  return owner.every((step, index) => path[index] === step);
}
