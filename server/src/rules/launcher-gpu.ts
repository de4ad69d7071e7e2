import { programWords, recogniseProgram } from '../command/programs.ts';
import { allCommands, baseName, readCommandLine } from '../command/shell.ts';
import { knownRequests, requestSpan, requestWords } from '../evidence/requests.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { removeRequests } from '../rewrite/requests.ts';
import { asBoolean, getIn, isIncomplete } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A pod or container that only starts, submits or downloads holds an accelerator.
 *
 * ## Why
 *
 * The launcher of an MPI job waits while its workers compute, the submitter of a RayJob waits for the cluster, and an init container
 * that fetches a model needs a network. Each of them holds the accelerator that it asks for and never touches it. An init container's
 * request also counts for its pod for as long as the pod lives.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v2beta1
 * kind: MPIJob
 * metadata:
 *   name: train
 * spec:
 *   slotsPerWorker: 1
 *   mpiReplicaSpecs:
 *     Launcher:
 *       template:
 *         spec:
 *           containers:
 *             - name: mpi-launcher
 *               image: registry.example/horovod:0.28.1
 *               command: [mpirun, -np, "2", python, train.py]
 *               resources:
 *                 limits:
 *                   cpu: 2
 *                   nvidia.com/gpu: 1
 *     Worker:
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: mpi-worker
 *               image: registry.example/horovod:0.28.1
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: kubeflow.org/v2beta1
 * kind: MPIJob
 * metadata:
 *   name: train
 * spec:
 *   slotsPerWorker: 1
 *   mpiReplicaSpecs:
 *     Launcher:
 *       template:
 *         spec:
 *           containers:
 *             - name: mpi-launcher
 *               image: registry.example/horovod:0.28.1
 *               command: [mpirun, -np, "2", python, train.py]
 *               resources:
 *                 limits:
 *                   cpu: 2
 *     Worker:
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: mpi-worker
 *               image: registry.example/horovod:0.28.1
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a program in it may look for a GPU, and where the pod lands may change.
 *
 * ## When it is silent
 *
 * For launchers that are workers too (`runLauncherAsWorker`, `runLauncherAsNode`), where no workers hold accelerators, and for init
 * containers of pods whose other containers hold as many.
 *
 * ## Sources
 *
 * - [MPI operator: MPIJob v2beta1](https://github.com/kubeflow/mpi-operator)
 * - [Kubernetes: resources of init containers](https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  podSet(podSet, context) {
    const { workload, document } = context;
    const waits = waitsFor(podSet, workload);
    for (const container of podSet.containers) {
      const requests = knownRequests(container);
      const says = waits ?? downloads(container, podSet);
      if (requests.length === 0 || says === undefined || isIncomplete(container.resources)) continue;
      context.report({
        message: `${says} holds ${requestWords(requests)} and does not use ${requests[0]?.count === 1 ? 'it' : 'them'}`,
        span: requestSpan(requests, container),
        fixes: () => [removeRequests(document, requests, 'Take its accelerators away')],
      });
    }
  },
});

/** What the pods of a set are, where they wait for others that compute. */
function waitsFor({ name }: PodSet, { kind, manifest, podSets }: Workload): string | undefined {
  if (!/^(?:submitter|launcher)$/i.test(name)) return undefined;
  const spec = getIn(manifest.root, 'spec');
  const others = podSets.filter((other) => other.name !== name);
  if (!others.some(requestsAccelerators)) return undefined;
  if (kind === 'RayJob' && name === 'submitter') return 'The submitter, which waits for the Ray cluster,';
  if (kind === 'MPIJob' && name === 'Launcher')
    return asBoolean(getIn(spec, 'runLauncherAsWorker')) === true
      ? undefined
      : 'The launcher, which waits for its workers,';
  if (!kind.endsWith('TrainingRuntime') || name !== 'launcher') return undefined;
  const mpi = getIn(spec, 'mlPolicy', 'mpi');
  return mpi === undefined || asBoolean(getIn(mpi, 'runLauncherAsNode')) === true
    ? undefined
    : 'The launcher, which waits for its workers,';
}

/** An init container that fetches files and does nothing else, in a pod whose other containers ask for less. */
function downloads(container: Container, { containers }: PodSet): string | undefined {
  if (container.type !== 'init' || container.command.length === 0) return undefined;
  const others = containers.filter(({ type }) => type !== 'init').flatMap(knownRequests);
  if (knownRequests(container).some(({ resource, count }) => (count ?? 0) <= sumOf(others, resource))) return undefined;
  const line = readCommandLine(
    container.command.map(({ value }) => value),
    container.args.map(({ value }) => value),
  );
  const commands = allCommands(line.statements).filter(({ words }) => words.length > 0);
  if (!line.complete || commands.length === 0) return undefined;
  const names = commands.map((command) => baseName(programWords(command)[0] ?? ''));
  const fetches = commands.some((command, index) => isFetch(names[index] ?? '', recogniseProgram([command])?.program));
  const alone = commands.every(
    (command, index) =>
      isFetch(names[index] ?? '', recogniseProgram([command])?.program) || plain.has(names[index] ?? ''),
  );
  return fetches && alone ? `The init container ${container.name}, which downloads,` : undefined;
}

function sumOf(requests: ReturnType<typeof knownRequests>, resource: string): number {
  return requests.filter((other) => other.resource === resource).reduce((sum, { count }) => sum + (count ?? 0), 0);
}

function isFetch(name: string, program: string | undefined): boolean {
  return (
    /^(?:wget|curl|aws|gsutil|gcloud|azcopy|rclone|s5cmd|mc)$/.test(name) ||
    name === 'git' ||
    name === 'git-lfs' ||
    program === 'huggingface-cli' ||
    program === 'hf'
  );
}

/** Programs around a download. */
const plain: ReadonlySet<string> = new Set([
  ...[
    'echo',
    'printf',
    'test',
    '[',
    '[[',
    'mkdir',
    'ls',
    'rm',
    'mv',
    'cp',
    'ln',
    'cd',
    'chmod',
    'chown',
    'date',
    'set',
  ],
  ...[
    'export',
    'md5sum',
    'sha256sum',
    'tar',
    'unzip',
    'gunzip',
    'touch',
    'cat',
    'find',
    'du',
    'df',
    'exit',
    'true',
    ':',
  ],
  ...['pip', 'pip3', 'apt-get', 'apt', 'apk', 'sleep'],
]);
