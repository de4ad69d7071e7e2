import { formatNumber } from '../cost/money.ts';
import { claimedDevices } from '../evidence/claimed-devices.ts';
import { gpuProgram } from '../evidence/gpu-programs.ts';
import { largestNode } from '../evidence/largest-node.ts';
import { isExempt, knownRequests } from '../evidence/requested-accelerators.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { volumeNamed } from '../evidence/volume-lifetime.ts';
import { vendorOfClass } from '../model/claims.ts';
import type { Container } from '../model/workload.ts';
import { asBoolean, asText, type Cursor, getIn, isTemplated, isUnseen, keySpanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A privileged container requests only some of its node's GPUs.
 *
 * ## Why
 *
 * A privileged container sees all devices of its node, whatever it requests or claims: CUDA counts every GPU, and programs that use "all GPUs" also
 * use those of other pods. Add only the capabilities that the container needs (IPC_LOCK for RDMA), or request the whole node. HAMi, which limits the
 * memory and the cores of a GPU, accepts no privileged container.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:4.2
 *       securityContext:
 *         privileged: true
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:4.2
 *       securityContext:
 *         capabilities:
 *           add: [IPC_LOCK]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For infrastructure, for TPUs and Neuron devices, whose containers must be privileged on some platforms, and if the pod requests all GPUs of
 * the selected instance type. The severity is info if the pod uses RDMA devices or mounts other devices of the host, for a claim that no file
 * defines, and for templates whose values set the number of GPUs or all resources of a model server. Unless the selected instance type has more
 * GPUs, it is also info for a container that requests eight (a whole node of most types) or trains on two or more (often a whole node), and
 * with the host network, where `privileged` is common.
 *
 * ## Sources
 *
 * - [kubernetes/kubernetes#81256](https://github.com/kubernetes/kubernetes/issues/81256)
 * - [Project-HAMi/HAMi#866](https://github.com/Project-HAMi/HAMi/issues/866)
 * - [NVIDIA/gpu-operator#1145](https://github.com/NVIDIA/gpu-operator/issues/1145)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const privileged = getIn(securityContextOf(container), 'privileged');
    if (privileged === undefined || asBoolean(privileged) !== true || isExempt(context.workload)) return;
    const requests = knownRequests(container).filter(({ resource }) => ofGpus.test(resource));
    const claimed = requests.length === 0 ? claimedGpus(container, context) : [];
    if (requests.length + claimed.length === 0) {
      if (fillsRequests(container, context.document))
        context.report({
          severity: 'info',
          message:
            'privileged: true exposes every GPU of the node to the container, not only those that the values request',
          span: keySpanOf(privileged),
        });
      return;
    }
    const unserved = requests.find(({ resource, form }) => form !== 'whole' && ofHami.test(resource));
    if (unserved !== undefined && getIn(context.podSet.pod, 'schedulerName') === undefined) {
      context.report({
        message: `HAMi serves ${unserved.resource} to no privileged container: it denies the pod, or older releases leave it Pending`,
        span: keySpanOf(privileged),
      });
      return;
    }
    const part = shareOfNode(context);
    if (part === 'whole') return;
    // Jobs that train on several GPUs take whole nodes more often than not.
    const usual = hasRole(context.workload, 'training') ? 2 : 8;
    const whole =
      requests.some(({ form, count }) => form === 'whole' && count !== null && count >= usual) ||
      claimed.some(({ count }) => count >= usual);
    // Most nodes with a GPU of Intel have only one.
    const single = [...requests.map(({ resource }) => resource), ...claimed.map(({ name }) => name)].every((name) =>
      /^gpu\.intel\.com\b/.test(name),
    );
    // A claim that no file defines can be for the whole node.
    const isUnknown = requests.length === 0 && !claimed.some(({ isDefined }) => isDefined);
    context.report({
      severity:
        (whole && part !== 'part') ||
        single ||
        usesRdma(context, part) ||
        mountsDevices(container, context) ||
        isUnknown
          ? 'info'
          : 'warning',
      message: `privileged: true exposes every GPU of the node to the container, not only ${requests.length > 0 ? `the ${partOfNode(requests)} it requests` : ofClaim(claimed[0])}`,
      span: keySpanOf(privileged),
    });
  },
});

/** Whether the values of a chart fill in how many GPUs a container requests, or all resources of a program that needs a GPU. */
function fillsRequests(container: Container, document: YamlDocument): boolean {
  const { accelerators, resources } = container;
  if (accelerators.some(({ resource, limit }) => ofGpus.test(resource) && limit?.templated === true)) return true;
  if (!document.template || accelerators.length > 0 || gpuProgram(container) === undefined) return false;
  return [resources, getIn(resources, 'limits')].some((part) => isUnseen(part) || isTemplated(part));
}

/**
 * Resources that no node offers: HAMi's webhook gives their pods its own scheduler, and denies or skips privileged ones.
 * https://github.com/Project-HAMi/HAMi/blob/master/pkg/scheduler/webhook.go (2026-11-30)
 */
const ofHami = /^nvidia\.com\/v?gpu(?:mem|cores|mem-percentage)$/;
const ofGpus = /^(?:nvidia\.com|amd\.com|gpu\.intel\.com)\//;

function ofClaim(claimed: ClaimedGpus | undefined): string {
  const name = shorten(claimed?.name ?? '', 40);
  return claimed?.isDefined === true ? `the ${name} of its claim` : `those of claim ${name}`;
}

/** `one`, `4`, or the `part` of a GPU. */
function partOfNode(requests: Container['accelerators']): string {
  const whole = requests.flatMap(({ form, count }) => (form === 'whole' && count !== null ? [count] : []));
  const count = whole.reduce((sum, one) => sum + one, 0);
  if (count === 0) return 'part';
  return count === 1 ? 'one' : formatNumber(count);
}

interface ClaimedGpus {
  /** The device class, or the claim that no file defines. */
  readonly name: string;
  readonly isDefined: boolean;
  /** 0 if it is unknown. */
  readonly count: number;
}

/** The GPUs in the container's claims. A claim for all devices of a node leaves none to other pods. */
function claimedGpus(container: Container, { podSet }: PodSetContext): readonly ClaimedGpus[] {
  return claimedDevices(container, podSet).flatMap(({ requested, perPod, between, at }): readonly ClaimedGpus[] => {
    if (requested.kind === 'claim')
      // The template may be named after its program.
      return gpuName.test(requested.name) || gpuName.test(asText(getIn(at, 'name')) ?? '')
        ? [{ name: requested.name, isDefined: false, count: 0 }]
        : [];
    const count = perPod ?? between?.max ?? 0;
    if (requested.kind !== 'deviceClass' || count === 0 || !isGpuClass(requested.name)) return [];
    return [{ name: requested.name, isDefined: true, count }];
  });
}

const gpuName = /(?:^|[^a-z])(?:gpus?|mig)(?:[^a-z]|$)/i;

function isGpuClass(name: string): boolean {
  const vendor = vendorOfClass(name);
  return vendor === 'nvidia' || vendor === 'amd' || vendor === 'intel' || gpuName.test(name);
}

/** In the container's mapping, or where a chart has it. */
function securityContextOf({ at, securityContext }: Container): Cursor | undefined {
  return securityContext ?? getIn(at, 'securityContext') ?? getIn(at, 'containerSecurityContext');
}

/** How much of the largest node that the selectors name the pod takes; undefined if unknown. */
function shareOfNode({ podSet: { accelerators, selectors } }: PodSetContext): 'whole' | 'part' | undefined {
  const shares = accelerators.flatMap((accelerator) => {
    const { form, perPod, devices } = accelerator;
    const count = largestNode(selectors, accelerator)?.count;
    if (form !== 'whole' || perPod === null || devices !== perPod || count === undefined) return [];
    return [perPod >= count ? ('whole' as const) : ('part' as const)];
  });
  return shares.includes('whole') ? 'whole' : shares[0];
}

/** Whether the pod uses RDMA devices or the host network, which jobs that take whole nodes often do. */
function usesRdma({ podSet }: PodSetContext, share: 'whole' | 'part' | undefined): boolean {
  if (share !== 'part' && asText(getIn(podSet.pod, 'hostNetwork')) === 'true') return true;
  return podSet.containers.some(({ resources }) => {
    const limits = getIn(resources, 'limits')?.node;
    return limits?.kind === 'map' && limits.entries.some(({ key }) => /rdma|efa\b|infiniband|\bib\b|roce/i.test(key));
  });
}

/** Whether the container mounts a device or bus of its node, other than shared memory and GPUs. */
function mountsDevices({ volumeMounts }: Container, { podSet }: PodSetContext): boolean {
  return volumeMounts.some(({ name }) => {
    const path = asText(getIn(volumeNamed(podSet, name)?.at, 'hostPath', 'path')) ?? '';
    return /^\/(?:dev|sys)\/(?!shm\b|nvidia)/.test(path);
  });
}
