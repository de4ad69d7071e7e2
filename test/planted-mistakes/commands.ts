import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { lackingPrograms } from '../../server/src/catalog/image-programs.ts';
import { getIn } from '../../server/src/yaml/cursor.ts';
import { type ContainerSite, containerSites, isWhole } from './sites.ts';
import { add, append, drop, type Mistake, type Path, type Planters, put, type Step, set } from './steps.ts';

export const planters: Planters = {
  'cpu-step-holds-gpu': cpuStep,
  'exit-status-hidden': lostStatus,
  'idle-gpu-container': waitsAfterWork,
  'model-path-not-mounted': modelPath,
  'gated-model-without-token': gatedModel,
  'nim-without-key': keylessServer,
  'quantization-mismatch': quantization,
  'rank-hard-coded': fixedRank,
  'rank-without-dns': addressWithoutRecord,
  'run-to-completion-in-deployment': endsInDeployment,
  'script-not-executable': readOnlyScript,
  'server-flag': serverFlag,
  'server-not-running': earlyClient,
  'shell-arguments-ignored': lostWords,
  'tensor-parallel-missing': oneDevice,
  'trainer-flag': twoHalves,
};

// Commands that waste their accelerators or cannot start, behind shells and wrappers that no other test has.

/** Ways to start a program. The program starts in the last item. */
const wrapped = (program: string): readonly (readonly string[])[] => [
  ['bash', '-c', '--', program],
  ['/bin/sh', '-ec', program],
  ['tini', '-g', '--', 'bash', '-euo', 'pipefail', '-lc', program],
  ['/opt/lab/gpu-entrypoint.sh', 'sh', '-c', program],
  ['numactl', '--cpunodebind', '0', 'bash', '-c', program],
  ['bash', '-c', `exec ${program}`],
];

/** The steps that give a container this command line. */
function withCommand({ path, root }: ContainerSite, command: readonly string[]): readonly Step[] {
  const args: Path = [...path, 'args'];
  return [...(getIn(root, ...args) === undefined ? [] : [drop(args)]), ...put(path, 'command', [...command])];
}

function apps(analysis: DocumentAnalysis, ...kinds: readonly string[]): readonly ContainerSite[] {
  return containerSites(analysis).filter(
    ({ workload, container, listed, resource, path }) =>
      kinds.includes(workload.kind) &&
      isWhole(workload) &&
      listed &&
      container.type === 'app' &&
      resource === 'nvidia.com/gpu' &&
      path.length > 0 &&
      // Some plain images do not have the programs that are planted.
      lackingPrograms(container.image?.value ?? '') === undefined &&
      [...container.command, ...container.args].every(({ at: place }) => !place.shared),
  );
}

function alone({ workload }: ContainerSite): boolean {
  return workload.podSets.flatMap(({ containers }) => containers).length === 1;
}

function cpuStep(analysis: DocumentAnalysis): readonly Mistake[] {
  const programs = [
    'python -u lab/tokenize_novels.py --in /x',
    'uv run python -m words.preprocess',
    'hf download lab/words',
  ];
  return apps(analysis, 'Job', 'Pod')
    .filter(alone)
    .flatMap((site) =>
      programs.flatMap((program) =>
        wrapped(program).map(
          (command): Mistake => ({
            name: command.join(' '),
            steps: withCommand(site, command),
            place: { path: [...site.resources, 'limits', site.resource], part: 'key' },
          }),
        ),
      ),
    );
}

function waitsAfterWork(analysis: DocumentAnalysis): readonly Mistake[] {
  const waits = ['sleep infinity', 'tail -f /dev/null', 'while :; do date; sleep 600; done'];
  return apps(analysis, 'Job', 'Pod')
    .filter((site) => alone(site) && site.podSet.placement.capacity !== 'spot')
    .flatMap((site) =>
      waits.flatMap((wait) =>
        wrapped(`echo started && python train_novels.py && ${wait}`).map((command) =>
          withScript(site, command, wait.includes('sleep 600') ? 'sleep 600' : wait),
        ),
      ),
    );
}

function lostStatus(analysis: DocumentAnalysis): readonly Mistake[] {
  const tails = ['| tee /tmp/novels.log', '|| true', '|| echo no novels', '&& echo novels || date'];
  return apps(analysis, 'Job', 'PyTorchJob')
    .filter((site) => alone(site) && site.podSet.placement.capacity !== 'spot')
    .flatMap((site) =>
      tails.flatMap((tail) =>
        wrapped(`pip install novels && python train_novels.py --epochs 3 ${tail}`)
          .filter((command) => !tail.startsWith('| ') || !command.includes('pipefail'))
          .map((command) => withScript(site, command, tail.replace(/^.*\| /, ''))),
      ),
    );
}

function twoHalves(analysis: DocumentAnalysis): readonly Mistake[] {
  const both = ['--fp16 True --bf16 True', '--bf16 --fp16', '--fp16=true --bf16=true'];
  return apps(analysis, 'Job', 'PyTorchJob')
    .filter((site) => alone(site) && site.podSet.placement.capacity !== 'spot')
    .flatMap((site) =>
      both.flatMap((flags) =>
        wrapped(`python train_novels.py --per_device_train_batch_size 4 ${flags}`).map((command) =>
          withScript(site, command, flags),
        ),
      ),
    );
}

/** A command whose script, its last item, has the mistake at a word. */
function withScript(site: ContainerSite, command: readonly string[], word: string): Mistake {
  const path = [...site.path, 'command', command.length - 1];
  return { name: command.join(' '), steps: withCommand(site, command), place: { path, part: 'value', word } };
}

function endsInDeployment(analysis: DocumentAnalysis): readonly Mistake[] {
  const programs = ['python3 finetune_novels.py', 'nvidia-smi -L', 'python -m lab.training.pretrain --epochs 2'];
  return apps(analysis, 'Deployment', 'StatefulSet')
    .filter(alone)
    .flatMap((site) =>
      programs.map(
        (program): Mistake => ({
          name: program,
          steps: withCommand(site, ['sh', '-c', program]),
          place: { path: [...site.path, 'command', 2], part: 'value', word: program },
        }),
      ),
    );
}

function oneDevice(analysis: DocumentAnalysis): readonly Mistake[] {
  const servers = ['vllm serve lab/novels', 'python3 -m sglang.launch_server --model-path lab/novels --host 0.0.0.0'];
  return apps(analysis, 'Deployment', 'StatefulSet', 'Pod')
    .filter((site) => alone(site) && site.count > 1 && site.request.form === 'whole')
    .flatMap((site) =>
      servers.map(
        (server): Mistake => ({
          name: server,
          steps: withCommand(site, server.split(' ')),
          place: { path: [...site.path, 'command', 0], part: 'value' },
        }),
      ),
    );
}

function quantization(analysis: DocumentAnalysis): readonly Mistake[] {
  const flags = [
    ['lab/novels-8B-AWQ', '--quantization=gptq'],
    ['lab/novels-GPTQ-Int4', '--quantization=awq_marlin'],
    ['Meta-Llama/Novels-8B', '--quantization=awq'],
  ] as const;
  return apps(analysis, 'Deployment', 'Pod')
    .filter((site) => alone(site) && site.count === 1)
    .flatMap((site) =>
      flags.map(
        ([model, flag]): Mistake => ({
          name: `${flag} for ${model}`,
          steps: withCommand(site, ['vllm', 'serve', model, flag]),
          place: { path: [...site.path, 'command', 3], part: 'value' },
        }),
      ),
    );
}

function serverFlag(analysis: DocumentAnalysis): readonly Mistake[] {
  const vllm = ['vllm', 'serve', 'lab/novels'];
  const sglang = ['python3', '-m', 'sglang.launch_server', '--model-path=lab/novels', '--host=0.0.0.0'];
  const cases = [
    [...vllm, '--max-model-length=4096'],
    [...vllm, '--gpu-memory-utilisation=0.8'],
    [...vllm, '--gpu-memory-utilization=80'],
    [...sglang, '--gpu-memory-utilization=0.8'],
    [...sglang, '--dtype=int8'],
  ];
  return apps(analysis, 'Deployment', 'Pod')
    .filter((site) => alone(site) && site.count === 1)
    .flatMap((site) =>
      cases.map(
        (command): Mistake => ({
          name: command.join(' '),
          steps: withCommand(site, command),
          place: { path: [...site.path, 'command', command.length - 1], part: 'value' },
        }),
      ),
    );
}

function modelPath(analysis: DocumentAnalysis): readonly Mistake[] {
  return apps(analysis, 'Deployment', 'Pod', 'Job')
    .filter((site) => alone(site) && site.count === 1 && site.podSet.placement.capacity !== 'spot')
    .flatMap((site): readonly Mistake[] => {
      const { root, path } = site;
      if (getIn(root, ...path, 'volumeMounts') !== undefined || getIn(site.podSet.pod, 'volumes') !== undefined)
        return [];
      const mount = { name: 'novels', mountPath: '/srv/novels' };
      const volume = { name: 'novels', persistentVolumeClaim: { claimName: 'novels' } };
      const pod = path.slice(0, -2);
      return ['/srv/novel/a', '/srv/novles/a', '/serv/novels/a'].map((model) => ({
        name: model,
        steps: [
          add(path, 'volumeMounts', [mount]),
          add(pod, 'volumes', [volume]),
          ...withCommand(site, ['vllm', 'serve', model]),
        ],
        place: { path: [...path, 'command', 2], part: 'value' },
      }));
    });
}

function readOnlyScript(analysis: DocumentAnalysis): readonly Mistake[] {
  return apps(analysis, 'Deployment', 'Pod', 'Job').flatMap((site): readonly Mistake[] => {
    const { root, path, podSet } = site;
    if (getIn(root, ...path, 'volumeMounts') !== undefined || getIn(podSet.pod, 'volumes') !== undefined) return [];
    const sources = [{ configMap: { name: 'novels' } }, { secret: { secretName: 'novels' } }];
    return sources.map((source) => ({
      name: Object.keys(source).join(),
      steps: [
        add(path, 'volumeMounts', [{ name: 'novels', mountPath: '/srv/novels' }]),
        add(path.slice(0, -2), 'volumes', [{ name: 'novels', ...source }]),
        ...withCommand(site, ['/srv/novels/write', '--chapter', '3']),
      ],
      place: { path: [...path, 'command', 0], part: 'value' },
    }));
  });
}

function withVariables({ root, path }: ContainerSite, ...values: readonly (readonly [string, string])[]) {
  const env = getIn(root, ...path, 'env');
  const list = values.map(([name, value]) => ({ name, value }));
  const start = env?.node.kind === 'seq' ? env.node.items.length : 0;
  const steps = env === undefined ? [add(path, 'env', list)] : list.map((one) => append([...path, 'env'], one));
  return { steps, place: { path: [...path, 'env', start + values.length - 1, 'value'], part: 'value' } } as const;
}

function fixedRank(analysis: DocumentAnalysis): readonly Mistake[] {
  return apps(analysis, 'Job', 'StatefulSet')
    .filter(
      ({ podSet, container, workload }) =>
        // Volcano sets the variables of each pod itself.
        !workload.apiVersion.startsWith('batch.volcano.sh/') &&
        (podSet.pods.min ?? 0) > 1 &&
        !container.env.some(({ name }) => /RANK|SIZE/.test(name)),
    )
    .flatMap((site) => {
      const size = ['WORLD_SIZE', String(site.podSet.pods.min)] as const;
      return ['RANK', 'NODE_RANK', 'MACHINE_RANK'].map(
        (name): Mistake => ({
          name,
          ...withVariables(site, size, [name, '1']),
        }),
      );
    });
}

function addressWithoutRecord(analysis: DocumentAnalysis): readonly Mistake[] {
  return apps(analysis, 'Job', 'JobSet').flatMap((site): readonly Mistake[] => {
    const { workload, podSet } = site;
    const { name, manifest } = workload;
    const isPlain = workload.apiVersion.startsWith('batch/') && getIn(podSet.pod, 'subdomain') === undefined;
    // A pod that is alone knows its own name.
    const isAlone = workload.podSets.length === 1 && podSet.pods.max === 1;
    if (name === null || isAlone || /[{$.]/.test(name)) return [];
    const isJobSet = workload.kind === 'JobSet' && getIn(manifest.root, 'spec', 'network') === undefined;
    if (!isPlain && !isJobSet) return [];
    const host = isJobSet ? `${name}-${podSet.name}-0-0` : `${name}-0`;
    return [
      ['MASTER_ADDR', host],
      ['LAB_COORDINATOR_ADDRESS', `tcp://${host}.novels:1234`],
      ['RDZV_ENDPOINT', `${host}.novels.lab.svc.cluster.local:29400`],
    ].map(([name = '', value = '']) => ({ name: `${name}=${value}`, ...withVariables(site, [name, value]) }));
  });
}

/** A NIM server in a container that has neither variables nor volumes. */
function gatedModel(analysis: DocumentAnalysis): readonly Mistake[] {
  const models = ['meta-llama/Llama-Novels', 'google/gemma-3-novels'];
  return apps(analysis, 'Deployment', 'Pod', 'StatefulSet')
    .filter(
      (site) => site.count === 1 && site.request.form === 'whole' && getIn(site.container.at, 'ports') === undefined,
    )
    .filter(isBare)
    .flatMap(({ path }) =>
      models.map(
        (model): Mistake => ({
          name: model,
          steps: [set([...path, 'image'], 'vllm/vllm-openai:v0.11.0'), ...put(path, 'args', [`--model=${model}`])],
          place: { path: [...path, 'args', 0], part: 'value' },
        }),
      ),
    );
}

/** A container without a command, variables or volumes, alone in its pod. */
function isBare({ container, podSet }: ContainerSite): boolean {
  const isPlain = container.env.length === 0 && container.volumeMounts.length === 0;
  const isOwn = [container.command, container.args].every((words) => words.length === 0);
  const isAlone = podSet.containers.length === 1 && container.image !== undefined;
  return isPlain && isOwn && isAlone && getIn(container.at, 'envFrom') === undefined;
}

function keylessServer(analysis: DocumentAnalysis): readonly Mistake[] {
  const images = ['nvcr.io/nim/lab/novels-8b-instruct:1.2.3', 'nvcr.io/nim/mistralai/other:2'];
  return apps(analysis, 'Deployment', 'Pod', 'StatefulSet')
    .filter(isBare)
    .flatMap((site) =>
      images.map(
        (image): Mistake => ({
          name: image,
          steps: [set([...site.path, 'image'], image)],
          place: { path: [...site.path, 'image'], part: 'value' },
        }),
      ),
    );
}

/** A hook that asks a server which starts at the same time. */
function earlyClient(analysis: DocumentAnalysis): readonly Mistake[] {
  return apps(analysis, 'Deployment', 'Pod', 'StatefulSet')
    .filter(
      ({ container, root, path }) =>
        getIn(root, ...path, 'lifecycle') === undefined &&
        !/hostNetwork/.test(analysis.text) &&
        !container.env.some(({ name }) => name === 'OLLAMA_HOST'),
    )
    .flatMap((site) =>
      [
        ['ollama', 'pull', 'lab/novels'],
        ['/bin/sh', '-c', 'ollama run lab/novels hello'],
      ].map((command): Mistake => {
        const hook: Path = [...site.path, 'lifecycle', 'postStart', 'exec', 'command'];
        return {
          name: command.join(' '),
          steps: [add(site.path, 'lifecycle', { postStart: { exec: { command } } })],
          place: {
            path: [...hook, command[0] === 'ollama' ? 0 : 2],
            part: 'value',
            word: command[0] === 'ollama' ? '' : 'ollama',
          },
        };
      }),
    );
}

function lostWords(analysis: DocumentAnalysis): readonly Mistake[] {
  const shells = [
    ['zsh', '-c'],
    ['/usr/bin/env', 'bash', '-euc'],
    ['dumb-init', 'dash', '-c', '--'],
  ];
  return apps(analysis, 'Job', 'Pod')
    .filter(alone)
    .flatMap((site) =>
      shells.map(
        (shell): Mistake => ({
          name: shell.join(' '),
          steps: withCommand(site, [...shell, './novels', '--chapter', '3']),
          place: { path: [...site.path, 'command', shell.length + 1], part: 'value' },
        }),
      ),
    );
}
