import { readFlags } from '../command/flags.ts';
import { allCommands, readScript } from '../command/shell.ts';
import { plural } from '../cost/money.ts';
import { mayUseOtherGpus } from '../evidence/gpu-assignment.ts';
import { getsDevicesFromOverlay } from '../evidence/overlays.ts';
import {
  leastReplicas,
  requestedGpus,
  serveCeilings,
  serveDeployments,
  serveEngines,
} from '../evidence/serve-deployments.ts';
import { placesAt } from '../evidence/written.ts';
import { countIn } from '../model/count.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { kindOf } from '../model/kinds/index.ts';
import { lookUp } from '../model/manifest.ts';
import { lowerCount } from '../model/pod.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, getIn, isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A Ray Serve deployment, its model or the entrypoint of a RayJob needs GPUs that its Ray cluster does not have.
 *
 * ## Why
 *
 * Ray places an actor only on a node with as many free GPUs as the actor requests, and its autoscaler adds only pods of the cluster's groups.
 * If no pod has enough GPUs, the actor never starts, the application never becomes ready, and the pods stay up meanwhile. Trainers such as verl
 * take all GPUs of their nodes at once. A maximum number of replicas that needs more GPUs than the largest cluster has is information.
 *
 * ```yaml invalid
 * apiVersion: ray.io/v1
 * kind: RayService
 * metadata:
 *   name: summaries
 * spec:
 *   serveConfigV2: |
 *     applications:
 *       - name: summaries
 *         import_path: app:build
 *         deployments:
 *           - name: Model
 *             ray_actor_options:
 *               num_gpus: 2
 *   rayClusterConfig:
 *     headGroupSpec:
 *       rayStartParams: {}
 *       template:
 *         spec:
 *           containers:
 *             - name: head
 *               image: rayproject/ray:2.46.0
 *     workerGroupSpecs:
 *       - groupName: gpu
 *         replicas: 2
 *         rayStartParams: {}
 *         template:
 *           spec:
 *             containers:
 *               - name: worker
 *                 image: rayproject/ray:2.46.0-gpu
 *                 resources:
 *                   limits:
 *                     nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: ray.io/v1
 * kind: RayService
 * metadata:
 *   name: summaries
 * spec:
 *   serveConfigV2: |
 *     applications:
 *       - name: summaries
 *         import_path: app:build
 *         deployments:
 *           - name: Model
 *             num_replicas: 2
 *             ray_actor_options:
 *               num_gpus: 1
 *   rayClusterConfig:
 *     headGroupSpec:
 *       rayStartParams: {}
 *       template:
 *         spec:
 *           containers:
 *             - name: head
 *               image: rayproject/ray:2.46.0
 *     workerGroupSpecs:
 *       - groupName: gpu
 *         replicas: 2
 *         rayStartParams: {}
 *         template:
 *           spec:
 *             containers:
 *               - name: worker
 *                 image: rayproject/ray:2.46.0-gpu
 *                 resources:
 *                   limits:
 *                     nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * If the GPUs of a pod are unknown, shares or from elsewhere (claims, slices, a runtime class, privileged pods), for deployments with placement
 * groups, if a kustomize overlay adds accelerators, and for jobs that run on another cluster.
 *
 * ## Sources
 *
 * - [Ray Serve: resource allocation](https://docs.ray.io/en/latest/serve/resource-allocation.html)
 * - [Ray Serve LLM: cross-node parallelism](https://docs.ray.io/en/latest/serve/llm/user-guides/cross-node-parallelism.html)
 * - [verl: multi-node training](https://verl.readthedocs.io/en/latest/start/multinode.html)
 * - [KubeRay: RayJob, entrypointNumGpus](https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/rayjob-quick-start.html)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  workload(workload, { document, report, crossReferences }) {
    const { manifest, byShape, partial } = workload;
    if (byShape || partial || document.template || kindOf(workload).rayCluster === undefined) return;
    const has = gpusOfCluster(workload);
    if (has === undefined || getsDevicesFromOverlay(workload, crossReferences)) return;
    const spec = getIn(manifest.root, 'spec');
    const entrypoint = getIn(spec, 'entrypointNumGpus');
    for (const { at, gpus } of requestedGpus(entrypoint)) {
      if (gpus > has.pod)
        report({ message: lacking('entrypointNumGpus', gpus, has, 'the entrypoint'), span: spanOf(at) });
    }
    const written = getIn(spec, 'entrypoint');
    const trainer =
      written && (trainerGpus(asText(written) ?? '') ?? codeGpus(asText(written) ?? '', workload, crossReferences));
    if (
      written !== undefined &&
      !isTemplated(written) &&
      trainer !== undefined &&
      (trainer.perNode > has.pod || trainer.all > has.all)
    ) {
      const most = trainer.perNode > has.pod ? `only ${has.pod} in each pod` : `at most ${has.all}`;
      const message = `${trainer.text} needs ${trainer.all} GPUs, but the Ray cluster has ${most}: the training never starts`;
      report({ message, span: spanOf(written) });
    }
    for (const engine of serveEngines(manifest.root, document)) {
      const { at, field, gpus } = engine;
      const replicas = Math.max(1, engine.replicas ?? 1);
      // Without any GPU, a request is missing, empty or misspelled; ray-autoscaling-off reports bounds without effect.
      if (replicas * gpus <= has.all || has.all === 0 || growsInVain(workload)) continue;
      const needs = replicas > 1 ? `${replicas} replicas with ${field} ${gpus} need` : `${field} ${gpus} needs`;
      const lost = gpus > has.all ? 'the model never starts' : 'some never start';
      const message = `${needs} ${plural(replicas * gpus, 'GPU')}, but the Ray cluster has at most ${has.all}: ${lost}`;
      report({ message, span: spanOf(at) });
    }
    for (const deployment of serveDeployments(manifest.root, document)) {
      for (const { at, gpus } of requestedGpus(getIn(deployment, 'ray_actor_options', 'num_gpus'))) {
        const replicas = leastReplicas(deployment);
        if (gpus > has.pod) report({ message: lacking('num_gpus', gpus, has, 'a replica'), span: spanOf(at) });
        else if (replicas !== null && replicas * gpus > has.all && !lacksAutoscaler(workload)) {
          const message = `${replicas} replicas need num_gpus ${gpus} each, but the Ray cluster has at most ${plural(has.all, 'GPU')}: some never start`;
          report({ message, span: spanOf(at) });
        }
      }
    }
    const ceilings = has.all === 0 || growsInVain(workload) ? [] : serveCeilings(manifest.root, document);
    for (const { at, replicas, least, gpus } of ceilings) {
      // Where not even the first ones fit, more was said above.
      if (replicas * gpus <= has.all || gpus > has.pod || least * gpus > has.all) continue;
      const each = gpus === 1 ? 'a GPU' : plural(gpus, 'GPU');
      const message = `${replicas} replicas at max_replicas need ${each} each, but the Ray cluster has at most ${has.all}: the others never start`;
      report({ severity: 'info', message, span: spanOf(at) });
    }
  },
});

/** The GPUs of a trainer that takes all its nodes at once, as verl does: `trainer.nnodes=2 trainer.n_gpus_per_node=8`. */
function trainerGpus(entrypoint: string) {
  const flags = allCommands(readScript(entrypoint).statements).flatMap(({ words }) => readFlags(words));
  const numberOf = (names: ReadonlySet<string>) => {
    const [only, ...others] = flags.filter(({ name }) =>
      names.has(name.slice(name.lastIndexOf('.') + 1).replace(/_/g, '-')),
    );
    const count = only === undefined || only.dynamic || others.length > 0 ? null : countIn(only.value);
    return only === undefined || count == null ? undefined : { count, text: `${only.written}=${only.value}` };
  };
  const nodes = numberOf(nodeNames);
  const gpus = numberOf(gpuNames);
  if (nodes === undefined || gpus === undefined) return undefined;
  return { perNode: gpus.count, all: nodes.count * gpus.count, text: `${nodes.text} ${gpus.text}` };
}

/** The same in the code of Ray Train, if a ConfigMap of the head has the file that the entrypoint names. */
function codeGpus(entrypoint: string, { podSets, namespace }: Workload, crossReferences: CrossReferences) {
  const volumes = podSets
    .filter(({ name }) => name === 'head')
    .flatMap(({ pod }) => placesAt(pod, 'volumes.*.configMap.name'));
  const files = volumes.flatMap((name) =>
    Object.entries(crossReferences.configMap(namespace, asText(name) ?? '')?.facts ?? {}),
  );
  const [only, ...others] = files.filter(([file]) => entrypoint.includes(file));
  const [, settings = ''] = /ScalingConfig\(([^()]{1,300})\)/.exec(only?.[1] ?? '') ?? [];
  const [, workers] = /\bnum_workers=(\d{1,4})\b/.exec(settings) ?? [];
  // A worker may take a part of a GPU.
  if (workers === undefined || others.length > 0 || !/use_gpu=True/.test(settings)) return undefined;
  if (/resources_per_worker/.test(settings)) return undefined;
  return { perNode: 1, all: Number(workers), text: `num_workers=${workers} in ${shorten(only?.[0] ?? '', 30)}` };
}

const nodeNames: ReadonlySet<string> = new Set(['nnodes', 'num-nodes', 'n-nodes']);
const gpuNames: ReadonlySet<string> = new Set(['n-gpus-per-node', 'num-gpus-per-node', 'gpus-per-node']);

interface ClusterGpus {
  /** In the pod with the most. */
  readonly pod: number;
  /** In all pods at most; infinite if the groups have no bound. */
  readonly all: number;
}

function lacking(field: string, gpus: number, { pod }: ClusterGpus, what: string): string {
  const has = pod === 0 ? 'no pod of the Ray cluster has a GPU' : `no pod of the Ray cluster has more than ${pod}`;
  return `${field} is ${gpus}, but ${has}: ${what} never starts`;
}

/** The GPUs that Ray counts; undefined if those of a pod are unknown. */
function gpusOfCluster({ podSets }: Workload): ClusterGpus | undefined {
  const groups = podSets.filter(isGroup);
  let [pod, all] = [0, 0];
  for (const group of groups) {
    const gpus = gpusOfPod(group);
    if (gpus === undefined) return undefined;
    pod = Math.max(pod, group.pods.max === 0 ? 0 : gpus);
    all += gpus === 0 ? 0 : gpus * (group.pods.max ?? Number.POSITIVE_INFINITY);
  }
  return groups.length === 0 ? undefined : { pod, all };
}

/** Whether a worker group has more replicas in its bounds than Ray ever starts. */
function growsInVain({ podSets }: Workload): boolean {
  return podSets.some(({ pod, pods: { max } }) => {
    const written = lowerCount(getIn(pod.parent?.parent, 'maxReplicas'), 0);
    return written !== null && max !== null && written > max;
  });
}

/** Whether the groups cannot grow for want of the autoscaler, which ray-autoscaling-off reports with its effect on Serve. */
function lacksAutoscaler(workload: Workload): boolean {
  const { root, labels } = workload.manifest;
  const isOff = getIn(kindOf(workload).rayCluster?.(root), 'enableInTreeAutoscaling') !== undefined;
  return growsInVain(workload) && !isOff && lookUp(labels, 'kueue.x-k8s.io/queue-name') === undefined;
}

/** Whether the pods are the head or those of a worker group, not the submitter. */
function isGroup({ pod }: PodSet): boolean {
  const step = pod.parent?.parent?.step;
  return step === 'headGroupSpec' || typeof step === 'number';
}

function gpusOfPod({ pod, containers, accelerators }: PodSet): number | undefined {
  const written = getIn(pod.parent?.parent, 'rayStartParams', 'num-gpus');
  if (written !== undefined) return isTemplated(written) ? undefined : (countIn(asText(written)) ?? undefined);
  if (isIncomplete(pod) || containers.some(isUncertain)) return undefined;
  const mayGetOthers = ['runtimeClassName', 'resourceClaims'].some((key) => getIn(pod, key) !== undefined);
  if (mayGetOthers && accelerators.length === 0) return undefined;
  let sum = 0;
  for (const { requested: by, form, perPod } of accelerators) {
    const isPlain = by.kind === 'resource' && form === 'whole' && /^(?:nvidia|amd)\.com\/gpu$/.test(by.name);
    if (!isPlain || perPod === null) return undefined;
    sum += perPod;
  }
  return sum;
}

function isUncertain(container: Container): boolean {
  const { at, resources } = container;
  const parts = [at, resources, getIn(resources, 'limits'), getIn(resources, 'requests')];
  return parts.some((part) => isIncomplete(part) || isTemplated(part)) || mayUseOtherGpus(container);
}
