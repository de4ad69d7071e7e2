import { imageParts } from '../catalog/images.ts';
import { coordinatorOf, type Helper } from '../evidence/coordinators.ts';
import { onlyFetches } from '../evidence/cpu-steps.ts';
import { mpiTasks } from '../evidence/mpi-tasks.ts';
import { knownRequests, requestSpan, requestWords } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { removeRequests } from '../rewrite/remove-requests.ts';
import { isIncomplete } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A launcher, a submitter or a download container holds an accelerator.
 *
 * ## Why
 *
 * The launcher of an MPI job waits while its workers compute, the submitter of a RayJob waits for the cluster, and an init container
 * that fetches a model needs only the network. Each of them holds the accelerator that it requests and never uses it. An init container's
 * request also counts for its pod as long as the pod exists. The same applies to the parameter servers of a TFJob or a Volcano Job, to a Ray head with
 * `--num-gpus 0`, and to an mpirun with exactly as many processes as the other pods have devices. An exporter of metrics sees all GPUs of its node
 * without a request, and with one, it takes a GPU from the pods that it watches.
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
 * Unsafe: a program in the container may look for a GPU, and the pod may land on other nodes.
 *
 * ## When it is silent
 *
 * For launchers that also run as workers (`runLauncherAsWorker`, `runLauncherAsNode`), for launchers whose workers hold no accelerators, for
 * tasks of a Volcano Job unless their mpirun reads the hosts of exactly one other task,
 * and for init containers of pods whose other containers hold as many.
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
    const { containers } = podSet;
    if (containers.every(({ accelerators }) => accelerators.length === 0)) return;
    const waits = waitsFor(podSet, workload);
    for (const container of containers) {
      const requests = knownRequests(container);
      if (requests.length === 0) continue;
      const helper = waits ?? downloads(container, requests, podSet) ?? exporter(container, requests);
      if (helper === undefined || isIncomplete(container.resources)) continue;
      const [name, task] = helper;
      const idle =
        requests.length === 1 && requests[0]?.count === 1 ? 'the device stays idle' : 'the devices stay idle';
      context.report({
        message: `${name} holds ${requestWords(requests)} but only ${task}: ${idle}`,
        span: requestSpan(requests, container),
        fixes: () => [removeRequests(document, requests, 'Remove the accelerator request')],
      });
    }
  },
});

/** The pods of a set if they only wait for others that compute. */
function waitsFor(podSet: PodSet, workload: Workload): Helper | undefined {
  const tasks = mpiTasks(workload);
  if (tasks?.launcher === podSet)
    return requestsAccelerators(tasks.workers) ? ['The launcher', 'waits for its workers'] : undefined;
  const { name } = podSet;
  const { manifest, podSets } = workload;
  if (isServerTask(podSet, workload)) return ['The parameter server', 'stores variables'];
  const { launcher } = kindOf(workload);
  if (launcher?.waits !== name) return coordinatorOf(podSet, workload);
  if (launcher.works(manifest.root)) return undefined;
  return podSets.some((other) => other.name !== name && requestsAccelerators(other)) ? launcher.words : undefined;
}

/** Whether a task of a Volcano Job has the name of TensorFlow's parameter servers, next to workers with accelerators. */
function isServerTask(podSet: PodSet, { apiVersion, podSets }: Workload): boolean {
  const names = /^(?:ps|parameter-?servers?)$/i;
  if (!apiVersion.startsWith('batch.volcano.sh/') || !names.test(podSet.name)) return false;
  // Those of PaddlePaddle may keep their tables on GPUs.
  const texts = podSet.containers.flatMap(({ image, command, args }) => [image, ...command, ...args]);
  if (texts.some((text) => /paddle/i.test(text?.value ?? ''))) return false;
  return podSets.some((other) => /^(?:workers?|chief|master)$/i.test(other.name) && requestsAccelerators(other));
}

/** The count of each resource that the containers request together. */
function heldBy(containers: readonly Container[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { resource, count } of containers.flatMap(knownRequests))
    sums.set(resource, (sums.get(resource) ?? 0) + (count ?? 0));
  return sums;
}

/** NVIDIA's exporter, which its image starts. */
function exporter({ image, repository }: Container, requests: ReturnType<typeof knownRequests>): Helper | undefined {
  const name = image === undefined ? (repository ?? '') : imageParts(image.value).repository;
  const holds = requests.some(({ resource, count }) => resource === 'nvidia.com/gpu' && count !== null && count > 0);
  return holds && /(?:^|\/)dcgm-exporter$/.test(name) ? ['dcgm-exporter', 'reads the state of GPUs'] : undefined;
}

/** An init container that only fetches files, in a pod whose other containers hold less. */
function downloads(
  container: Container,
  requests: ReturnType<typeof knownRequests>,
  { containers }: PodSet,
): Helper | undefined {
  if (container.type !== 'init' || container.command.length === 0) return undefined;
  const held = heldBy(containers.filter(({ type }) => type !== 'init'));
  if (requests.some(({ resource, count }) => (count ?? 0) <= (held.get(resource) ?? 0))) return undefined;
  return onlyFetches(container) ? [`The init container ${container.name}`, 'downloads files'] : undefined;
}
