import { findMpiProcesses, findNodeCounts, type LocalProcesses } from '../command/processes.ts';
import { plural } from '../cost/format.ts';
import { processInput, wholeGpus } from '../evidence/processes.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { lowerCount } from '../model/pod.ts';
import type { Container, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { setLastNumber } from '../rewrite/words.ts';
import { getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A distributed launch waits for another number of nodes or processes than the job has.
 *
 * ## Why
 *
 * The rendezvous waits until all nodes that were announced have come. With fewer pods than `--nnodes` it waits until it gives up, and
 * every pod holds its GPUs meanwhile; with more, the surplus pods are left out. `mpirun` refuses to start more processes
 * than the workers have slots.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "--nnodes=4", "train.py"]
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 4
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "--nnodes=4", "train.py"]
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the number of pods may be what is wrong.
 *
 * ## When it is silent
 *
 * Where a number comes from a variable or a template, for elastic ranges (`1:4`), and for kinds whose pods may form several groups.
 *
 * ## Sources
 *
 * - [PyTorch: torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
 * - [Open MPI: mpirun](https://docs.open-mpi.org/en/main/man-openmpi/man1/mpirun.1.html)
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'warning',
  workload(workload, { document, report }) {
    if (workload.partial) return;
    const written = getIn(workload.manifest.root, 'spec', 'slotsPerWorker');
    const slots = written && lowerCount(written, 1);
    const gpus = gpusOfWorker(workload);
    if (written === undefined || slots == null || gpus === null || slots <= gpus || placesByItself(workload)) return;
    const message = `slotsPerWorker is ${slots}, but a worker has ${plural(gpus, 'GPU')}: processes share a GPU`;
    report({
      message,
      span: spanOf(written),
      fixes: () => {
        const edits = startsMore(workload, gpus) ? undefined : replaceScalar(document, written, gpus);
        return [fix(`Set slotsPerWorker to ${gpus}`, 'unsafe', edits)];
      },
    });
  },
  container(container, context) {
    const { workload } = context;
    if (workload.partial || container.type !== 'app') return;
    const pods = podsOfGroup(context);
    if (pods !== null) {
      for (const told of findNodeCounts(processInput(container))) {
        if (typeof told.count !== 'number' || told.count === pods) continue;
        const missing = told.count > pods ? 'the launch waits for pods that never come' : 'the other pods are left out';
        say(told, `${shorten(told.text)} with ${plural(pods, 'pod')}: ${missing}`, pods);
      }
    }
    const slots = slotsOfWorkers(workload);
    if (slots !== null) {
      for (const told of findMpiProcesses(processInput(container))) {
        if (typeof told.count !== 'number' || told.count <= slots || told.oversubscribes) continue;
        say(
          told,
          `mpirun ${shorten(told.text)} with ${plural(slots, 'slot')} on the workers: it refuses to start`,
          slots,
        );
      }
    }

    function say({ words, text }: LocalProcesses, message: string, right: number): void {
      const lines: Container['command'] = [...container.command, ...container.args];
      const span = words && spanOfWords(context.document, lines, words);
      if (words === undefined || span === undefined) return;
      context.report({
        message,
        span,
        fixes: () => {
          const edits = setLastNumber(context.document, lines, words, right);
          return [fix(`Write ${right} instead of ${shorten(text, 30)}`, 'unsafe', edits)];
        },
      });
    }
  },
});

/** The pods that meet in one rendezvous, for kinds whose pods are one group. */
function podsOfGroup({ workload, podSet }: PodSetContext): number | null {
  switch (workload.kind) {
    case 'PyTorchJob':
      return getIn(workload.manifest.root, 'spec', 'elasticPolicy') === undefined ? sum(workload) : null;
    case 'Job':
      return workload.apiVersion.startsWith('batch/') && podSet.pods.min !== null && podSet.pods.min > 1
        ? podSet.pods.min
        : null;
    default:
      return null;
  }
}

function sum({ podSets }: Workload): number | null {
  let all = 0;
  for (const { pods } of podSets) {
    if (pods.min === null || pods.min !== pods.max) return null;
    all += pods.min;
  }
  return all;
}

/** mpirun is told of more processes than there would be slots: both numbers are for people to change. */
function startsMore({ podSets }: Workload, slots: number): boolean {
  const workers = podSets.find(({ name }) => name === 'Worker')?.pods.min ?? 0;
  const containers = podSets.flatMap((podSet) => podSet.containers);
  return containers.some((one) =>
    findMpiProcesses(processInput(one)).some(({ count }) => typeof count !== 'number' || count > slots * workers),
  );
}

function gpusOfWorker({ kind, podSets }: Workload): number | null {
  const worker = podSets.find(({ name }) => name === 'Worker');
  const [only, ...others] = worker?.containers.filter(namesAccelerators) ?? [];
  if (kind !== 'MPIJob' || worker === undefined || only === undefined || others.length > 0) return null;
  const gpus = wholeGpus(only, worker);
  return gpus === 0 ? null : gpus;
}

/** Options of mpirun, or a script, that say how many processes a node gets, whatever its slots. */
function placesByItself({ podSets }: Workload): boolean {
  const launcher = podSets.find(({ name }) => name === 'Launcher');
  const words = launcher?.containers.flatMap(({ command, args }) => [...command, ...args]) ?? [];
  const line = words.map(({ value }) => value).join(' ');
  return !/\b(mpirun|mpiexec|horovodrun)\b/.test(line) || /npernode|\bppr\b|-ppn|map-by|bind-to|rankfile|\$/.test(line);
}

function slotsOfWorkers({ kind, manifest, podSets }: Workload): number | null {
  const written = getIn(manifest.root, 'spec', 'slotsPerWorker');
  if (kind !== 'MPIJob' || written === undefined) return null;
  const slots = lowerCount(written, 1);
  const workers = podSets.find(({ name }) => name === 'Worker')?.pods.min ?? null;
  const launches = getIn(manifest.root, 'spec', 'runLauncherAsWorker') !== undefined;
  return slots === null || workers === null || launches ? null : slots * workers;
}
