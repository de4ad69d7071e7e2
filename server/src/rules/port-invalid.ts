import { declaredPorts, listeningPort } from '../evidence/listening-port.ts';
import { isPodSpec, rejectionOf } from '../evidence/rejection.ts';
import { isSet, isUnknown, placesAt, writtenNumber, writtenText } from '../evidence/written.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isRepeated,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { removeKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * Ports of a pod, a Service or a NetworkPolicy that the API server rejects, or that two parts of Ray's head share.
 *
 * ## Why
 *
 * With `hostNetwork`, a container's port is the node's port: a `hostPort` must be the same. Two containers cannot have one host port. A Service
 * with several ports needs a name for each, and a headless Service cannot be of type NodePort or LoadBalancer. `ray start --head` fails if two
 * of its ports are the same: `port` is that of the control store (6379), and 10001 belongs to the Ray client. The containers of a pod share one
 * network, so two of them on the same port are a **warning**.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   hostNetwork: true
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       ports:
 *         - containerPort: 8000
 *           hostPort: 9000
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   hostNetwork: true
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       ports:
 *         - containerPort: 8000
 *           hostPort: 8000
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: clients may use the other port.
 *
 * ## When it is silent
 *
 * For templates and patches.
 *
 * ## Sources
 *
 * - [Kubernetes: ports of a container](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#ports)
 * - [Ray: configuring ports](https://docs.ray.io/en/latest/ray-core/configure.html#ports-configurations)
 * - [Kubernetes: node ports](https://kubernetes.io/docs/concepts/services-networking/service/#type-nodeport)
 * - [Kubernetes: Services with several ports](https://kubernetes.io/docs/concepts/services-networking/service/#multi-port-services)
 */
export default defineRule({
  topic: 'network',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind, apiVersion }, context) {
    if (kind === 'Service' && apiVersion === 'v1' && !context.document.template)
      checkService(getIn(root, 'spec'), context);
    if (kind === 'NetworkPolicy') for (const range of policyRanges(root)) checkRange(range, context);
  },
  podSet(podSet, context) {
    if (isPodSpec(podSet, context.workload)) {
      checkHostPorts(podSet, context);
      checkServers(podSet, context);
    }
    if (runsInKnative(context.workload)) checkKnative(podSet, context);
    const template = podSet.pod.parent;
    if (podSet.name === 'head' && template !== undefined && keyOf(template) === 'template')
      checkRayHead(getIn(template.parent, 'rayStartParams'), context);
  },
});

function policyRanges(root: Cursor): readonly Cursor[] {
  return ['ingress.*.from', 'egress.*.to'].flatMap((rule) => placesAt(root, `spec.${rule}.*.ipBlock.cidr`));
}

/** An address without the length of its prefix. */
function checkRange(range: Cursor, { report }: RuleContext): void {
  const text = writtenText(range);
  if (text === undefined || text.includes('/') || !/^[\d.]+$|^[\da-f:]+$/i.test(text)) return;
  report({
    message: `cidr needs the length of its prefix, as in ${shorten(text, 40)}/${text.includes(':') ? 64 : 16}: the API server rejects the NetworkPolicy`,
    span: spanOf(range),
  });
}

/** The ports that `ray start --head` opens if a parameter does not change them; KubeRay sets the last two. */
const rayPorts = Object.entries({
  port: 6379,
  'ray-client-server-port': 10_001,
  'dashboard-port': 8265,
  'metrics-export-port': 8080,
  'dashboard-agent-listen-port': 52_365,
});

function checkRayHead(parameters: Cursor | undefined, { report, document }: PodSetContext): void {
  if (parameters === undefined || isIncomplete(parameters)) return;
  const ports = rayPorts.map(([name, usual]) => {
    const at = getIn(parameters, name);
    return { name, at, number: at === undefined ? usual : Number(asText(at) ?? Number.NaN) };
  });
  for (const { name, at, number } of ports) {
    const other = ports.find((one) => one.name !== name && one.number === number);
    // 0 stands for any free port. If both are written, one finding is enough.
    if (at === undefined || other === undefined || number === 0 || (other.at !== undefined && other.name > name))
      continue;
    report({
      message: `Ray's ${name} and ${other.name} are both ${number}: the head of the cluster never starts`,
      span: spanOf(at),
      fixes: () => [fix(`Remove ${name}`, 'unsafe', removeKey(document, at))],
    });
  }
}

/** Two known servers of a pod on one port, which their containers do not declare. */
function checkServers({ containers, pod }: PodSet, { report, document }: PodSetContext): void {
  const servers = containers.filter(({ type }) => type !== 'init');
  if (servers.length < 2 || servers.length > 10 || document.template || isUnseen(getIn(pod, 'containers'))) return;
  const owners = new Map<number, string>();
  for (const container of servers) {
    const server = listeningPort(container);
    if (server === undefined) continue;
    const owner = owners.get(server.port);
    const isDeclared = declaredPorts(container).includes(server.port);
    const at = getIn(container.at, 'name') ?? container.image?.at;
    if (owner !== undefined && !isDeclared && at !== undefined)
      report({
        severity: 'warning',
        message: `Containers ${shorten(owner, 24)} and ${shorten(container.name, 24)} both listen on port ${server.port} of the pod: one fails, or gets the other's requests`,
        span: spanOf(at),
      });
    owners.set(server.port, container.name);
  }
}

/** Whether Knative validates the containers: those of its own Services, and of InferenceServices that say so. */
function runsInKnative({ apiVersion, manifest }: Workload): boolean {
  const mode = getIn(manifest.root, 'metadata', 'annotations', 'serving.kserve.io/deploymentMode');
  return (
    apiVersion.startsWith('serving.knative.dev/') ||
    (apiVersion.startsWith('serving.kserve.io/') && /^(?:Serverless|Knative)$/.test(asText(mode) ?? ''))
  );
}

/** Knative takes one port, whose name is a protocol. https://github.com/knative/serving/blob/main/docs/runtime-contract.md#protocols-and-ports */
function checkKnative({ pod }: PodSet, { report, document, workload }: PodSetContext): void {
  const [first, second] = placesAt(pod, 'containers.*.ports.*');
  const at = getIn(first, 'name');
  const name = writtenText(at);
  const effect = workload.apiVersion.startsWith('serving.kserve')
    ? 'its pods are never created'
    : `the API server rejects the ${workload.kind}`;
  if (at !== undefined && name !== undefined && name !== '' && !/^(?:h2c|http1)$/.test(name))
    report({
      message: `Knative allows only http1 and h2c as port names, not ${shorten(name, 20)}: ${effect}`,
      span: spanOf(at),
      fixes: () => [fix('Change the name to http1', 'unsafe', replaceScalar(document, at, 'http1'))],
    });
  const other = second && (getIn(second, 'containerPort') ?? second);
  if (other !== undefined && !document.template && !isRepeated(second))
    report({ message: `Knative allows only one port across all containers: ${effect}`, span: spanOf(other) });
}

function checkHostPorts({ pod }: PodSet, { report, document, workload }: PodSetContext): void {
  const onHost = asBoolean(getIn(pod, 'hostNetwork')) === true;
  const seen = new Set<string>();
  const owners = new Map<string, Cursor | undefined>();
  for (const port of placesAt(pod, 'containers.*.ports.*')) {
    const at = getIn(port, 'hostPort');
    const container = writtenNumber(getIn(port, 'containerPort'));
    const host = writtenNumber(at);
    if (onHost && at !== undefined && container !== undefined && host !== undefined && host > 0 && host !== container) {
      report({
        message: `With hostNetwork, hostPort must equal containerPort ${container}, not ${host}: ${rejectionOf(workload)}`,
        span: spanOf(at),
        fixes: () => [fix(`Set hostPort to ${container}`, 'unsafe', replaceScalar(document, at, container))],
      });
      continue;
    }
    const owner = port.parent;
    const number = `${container} ${asText(getIn(port, 'protocol')) ?? 'TCP'}`;
    // In a template, they may be alternatives.
    const isOther = (owners.get(number) ?? owner)?.node !== owner?.node && !document.template;
    if (container !== undefined && isOther && !isRepeated(port))
      report({
        severity: 'warning',
        message: `Another container of the pod has port ${container}: all containers share one network, so the second server cannot listen`,
        span: spanOf(getIn(port, 'containerPort') ?? port),
      });
    owners.set(number, owner);
    const taken = host ?? (onHost ? container : undefined);
    if (taken === undefined || taken === 0 || isRepeated(port)) continue;
    const key = [taken, asText(getIn(port, 'protocol')) ?? 'TCP', asText(getIn(port, 'hostIP')) ?? ''].join(' ');
    if (seen.has(key)) {
      const place = at ?? getIn(port, 'containerPort') ?? port;
      report({ message: `Two containers use the host port ${taken}: ${rejectionOf(workload)}`, span: spanOf(place) });
    }
    seen.add(key);
  }
}

const rejection = 'the API server rejects the Service';

/** A Service that selects pods is whole: a patch does not repeat that. */
function checkAddress(spec: Cursor | undefined, type: string, report: RuleContext['report']): void {
  const address = getIn(spec, 'clusterIP');
  const text = writtenText(address);
  if (address !== undefined && text !== undefined && text !== 'None' && /^[a-z]+$/i.test(text)) {
    report({
      message: `clusterIP must be None or an IP address, not ${shorten(text, 30)}: ${rejection}`,
      span: spanOf(address),
    });
  }
  const ports = getIn(spec, 'ports');
  const selects = entries(getIn(spec, 'selector')).length > 0;
  if (spec === undefined || !selects || isUnknown(getIn(spec, 'type')) || isIncomplete(spec)) return;
  if (isSet(address) || type === 'ExternalName') return;
  if (!isSet(ports)) {
    report({
      message: `The Service has no ports, which only clusterIP None allows: ${rejection}`,
      span: keySpanOf(spec),
    });
  }
  const policy = getIn(spec, 'externalTrafficPolicy');
  if (type === 'ClusterIP' && isSet(policy) && !isUnknown(policy) && !isSet(getIn(spec, 'externalIPs'))) {
    report({
      message: `externalTrafficPolicy requires type NodePort or LoadBalancer: ${rejection}`,
      span: keySpanOf(policy),
    });
  }
  for (const port of placesAt(ports, '*.nodePort')) {
    const number = writtenNumber(port) ?? 0;
    if (number === 0) continue;
    if (type === 'ClusterIP') {
      report({ message: `nodePort requires type NodePort or LoadBalancer: ${rejection}`, span: keySpanOf(port) });
    } else if (number < 30_000 || number > 32_767) {
      report({
        severity: 'warning',
        message: `nodePort must be from 30000 to 32767, not ${number}: unless the cluster has another range, ${rejection}`,
        span: spanOf(port),
      });
    }
  }
}

function checkService(spec: Cursor | undefined, { report }: RuleContext): void {
  const ports = getIn(spec, 'ports');
  const type = writtenText(getIn(spec, 'type')) ?? 'ClusterIP';
  const address = getIn(spec, 'clusterIP');
  if (address !== undefined && writtenText(address) === 'None' && /^(NodePort|LoadBalancer)$/.test(type)) {
    report({ message: `A Service of type ${type} must not have clusterIP None: ${rejection}`, span: spanOf(address) });
  }
  checkAddress(spec, type, report);
  const list = items(ports);
  if (isIncomplete(spec) || isIncomplete(ports) || list.some((port) => isRepeated(port))) return;
  // One finding is enough.
  const unnamed = list.find((port) => port.node.kind === 'map' && !isSet(getIn(port, 'name')) && !isIncomplete(port));
  const names = new Set<string>();
  const numbers = new Set<string>();
  for (const port of list) {
    if (port.node.kind !== 'map' || isIncomplete(port)) continue;
    const name = getIn(port, 'name');
    const number = getIn(port, 'port');
    if (list.length > 1 && !isSet(name) && port === unnamed) {
      report({
        message: `Each port of a Service with ${list.length} ports needs a name: ${rejection}`,
        span: keySpanOf(number ?? port),
      });
    }
    const text = writtenText(name);
    if (name !== undefined && text !== undefined && names.has(text)) {
      report({ message: `Two ports are named ${shorten(text, 30)}: ${rejection}`, span: spanOf(name) });
    }
    if (text !== undefined) names.add(text);
    const written = writtenNumber(number);
    const key = `${written} ${asText(getIn(port, 'protocol')) ?? 'TCP'}`;
    if (number !== undefined && written !== undefined && numbers.has(key)) {
      report({ message: `Two ports have the number ${written}: ${rejection}`, span: spanOf(number) });
    }
    if (written !== undefined) numbers.add(key);
  }
}
