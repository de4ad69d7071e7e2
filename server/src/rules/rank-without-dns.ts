import { wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { allCommands, baseName, readCommandLine, type Word } from '../command/shell.ts';
import { fixedAddress } from '../evidence/fixed-address.ts';
import { processInput } from '../evidence/launch.ts';
import { type MissingRecords, missingRecords } from '../evidence/pod-records.ts';
import { sharedMaster } from '../evidence/shared-master.ts';
import { lackingPeers } from '../evidence/tpu-peers.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import type { PodHosts } from '../model/kinds/pod-addresses.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, getIn, isIncomplete, spanOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The pods of a job address each other by a DNS name that does not exist, or that leads to any of them.
 *
 * ## Why
 *
 * A pod of an Indexed Job has the hostname `<job>-<index>`, but the cluster's DNS has a record of it only if the pod template has a
 * `subdomain` and a headless Service of that name exists. Without them all ranks wait for the first until they time out, with all their
 * accelerators.
 *
 * The controllers of JobSet, StatefulSet, LeaderWorkerSet, Volcano and the training operator derive such names from the names of objects
 * and roles. A pod of a JobSet has the address `<jobset>-<replicatedJob>-<job>-<pod>.<subdomain>`; a name with one index fewer, with an
 * index that no pod has, or in another subdomain does not exist. With `hostNetwork`, a pod uses the DNS of its node, which knows none of these
 * names, unless `dnsPolicy` is ClusterFirstWithHostNet.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   completions: 2
 *   parallelism: 2
 *   completionMode: Indexed
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [torchrun, --nnodes=2, --master-addr=train-0.workers, train.py]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   completions: 2
 *   parallelism: 2
 *   completionMode: Indexed
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [torchrun, --nnodes=2, --master-addr=train-0.workers, train.py]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 *       subdomain: workers
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a headless Service of that name must also exist.
 *
 * ## When it is silent
 *
 * For names that another object or a Service may have, for Services in files of unrelated folders, for names without a domain with `hostNetwork`, and for names that contain a template or
 * a variable without a known value. A fixed IP address is information, except with `hostNetwork` and with annotations for the network. How the
 * MPI operator makes records depends on its version.
 *
 * ## Sources
 *
 * - [Kubernetes: Job with Pod-to-Pod Communication](https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/)
 * - [JobSet: network](https://jobset.sigs.k8s.io/docs/concepts/)
 * - [Volcano: svc plugin](https://volcano.sh/en/docs/svc_plugin/)
 * - [Kubernetes: hostname and subdomain of a pod](https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-hostname-and-subdomain-fields)
 */
export default defineRule({
  topic: 'training',
  severity: 'warning',
  podSet(podSet, { workload, report }) {
    const found = lackingPeers(podSet, workload);
    if (found === undefined) return;
    report({
      message: `Without ${found.lacks}, GKE does not give the pods of the TPU slice each other's addresses: ${neverMeet}`,
      span: found.span,
    });
  },
  container(container, context) {
    const { workload, podSet, document, crossReferences } = context;
    const { name, namespace } = workload;
    if (workload.partial || name === null || name.length > 63 || !hasDevices(workload)) return;
    reportFixed(container, context);
    const hosts = hostsOf(workload);
    if (hosts === undefined || isIncomplete(podSet.pod)) return;
    const alone = isAlone(workload);
    for (const { host, labels, span } of addressesOf(container, name, document)) {
      const own = alone ? wrongOwnName(host, labels, hosts) : problemOf(host, labels, hosts);
      const asks = alone || own !== undefined || labels.length === 0 ? undefined : nodeDns(podSet);
      const records = own === undefined && asks === undefined ? withoutRecords(labels, hosts, context) : undefined;
      const problem = own ?? asks ?? records?.text;
      // A name without a domain may be that of a node.
      if (problem === undefined || (labels.length === 0 && isOnHostNetwork(podSet))) continue;
      if (crossReferences.service(namespace, host) !== undefined) continue;
      context.report({
        ...(records?.depends && { severity: 'info' }),
        message: `${shorten([host, ...labels].join('.'), 60)} ${problem}`,
        span,
        fixes: () => [
          own !== undefined ? subdomainFix(labels[0], context) : asks === undefined ? undefined : setPolicy(context),
        ],
      });
      return;
    }
    if (!alone) reportShared(container, context);
  },
});

/** Why an address in the subdomain of the pods has no record, although they have its name: it depends on their Service. */
function withoutRecords(
  [label]: readonly string[],
  { subdomains }: Hosts,
  context: PodSetContext,
): MissingRecords | undefined {
  const { workload, podSet, crossReferences } = context;
  if (label === undefined || !subdomains.has(label)) return undefined;
  const problem = missingRecords(label, podSet, workload, crossReferences);
  if (problem === undefined) return undefined;
  return { ...problem, text: `${problem.depends ? 'may have' : 'has'} no DNS record: ${problem.text}` };
}

/** Reports a Service that stands for the first pod, although it selects all of them. */
function reportShared(
  container: Container,
  { workload, podSet, document, report, crossReferences }: PodSetContext,
): void {
  if (container.type !== 'app' || !requestsAccelerators(podSet)) return;
  const shared = sharedMaster(container, podSet, workload, document, crossReferences);
  if (shared === undefined) return;
  report({
    message: `${shorten(shared.text, 40)} leads to any of the pods, not to the first one: Service ${shorten(shared.service, 30)} selects all of them`,
    span: shared.span,
  });
}

/** Reports an IP address of the first pod. A Service may have it. */
function reportFixed(container: Container, { workload, document, report }: PodSetContext): void {
  const found = container.type === 'app' ? fixedAddress(container, workload) : undefined;
  const span =
    found?.words === undefined ? found?.at && spanOf(found.at) : spanOfWords(document, container, found.words);
  if (found === undefined || span === undefined) return;
  report({
    severity: 'info',
    message: `${shorten(found.text, 40)} is a fixed address, but each new pod gets another one: unless a Service has it, ${neverMeet}`,
    span,
    oncePerFile: true,
  });
}

const hasDevices = once(({ podSets }: Workload) => podSets.some(requestsAccelerators));

/** The pods of one object. It may have thousands of roles. */
interface Hosts {
  readonly all: readonly PodHosts[];
  readonly byStem: ReadonlyMap<string, readonly PodHosts[]>;
  readonly subdomains: ReadonlySet<string>;
}

const hostsOf = once((workload: Workload): Hosts | undefined => {
  const all = kindOf(workload).addresses?.(workload.manifest.root, workload.name ?? '') ?? [];
  // A template may write a part of a name.
  if (all.length === 0 || all.some(({ stem }) => stem.includes('{{'))) return undefined;
  const subdomains = all.flatMap(({ records }) => (records.by === 'subdomain' ? (records.name ?? []) : []));
  const byStem = new Map<string, PodHosts[]>();
  for (const hosts of all) {
    const same = byStem.get(hosts.stem);
    if (same === undefined) byStem.set(hosts.stem, [hosts]);
    else same.push(hosts);
  }
  return { all, byStem, subdomains: new Set(subdomains) };
});

/** A pod knows its own name without DNS. */
function isAlone({ podSets: [only, ...others] }: Workload): boolean {
  return others.length === 0 && only?.pods.max === 1;
}

function isOnHostNetwork({ pod }: PodSet): boolean {
  return asText(getIn(pod, 'hostNetwork')) === 'true';
}

/** Why a name of the cluster does not resolve on the network of the node. */
function nodeDns(podSet: PodSet): string | undefined {
  const { pod } = podSet;
  return isOnHostNetwork(podSet) && getIn(pod, 'dnsPolicy') === undefined && getIn(pod, 'dnsConfig') === undefined
    ? 'does not resolve: with hostNetwork, the pod asks the DNS of its node'
    : undefined;
}

function setPolicy({ document, podSet }: PodSetContext): Fix | undefined {
  const policy = 'ClusterFirstWithHostNet';
  return fix(`Set dnsPolicy to ${policy}`, 'unsafe', insertKey(document, podSet.pod, 'dnsPolicy', policy));
}

/** Why an address in the domain of an object's only pod does not resolve. */
function wrongOwnName(host: string, [label]: readonly string[], { all }: Hosts): string | undefined {
  const [only, ...others] = all;
  const isOwn = only?.records.by === 'subdomain' && only.records.name !== null && only.records.name === label;
  if (only === undefined || others.length > 0 || !isOwn || indexesIn(host, only) !== undefined) return undefined;
  return `is not the name of the pod (${rangeOf(only)}), and no pod has this address`;
}

/** Why an address of one of the object's pods does not resolve; undefined if it does, or if it may belong to another object. */
function problemOf(host: string, [label]: readonly string[], { all, byStem, subdomains }: Hosts): string | undefined {
  const found = stemsOf(host)
    .flatMap((stem) => byStem.get(stem) ?? [])
    .map((hosts) => ({ hosts, values: indexesIn(host, hosts) }));
  const exact = found.find(({ hosts, values }) => values?.length === hosts.indexes.length && isWithin(values, hosts));
  if (exact !== undefined) {
    const { records } = exact.hosts;
    if (records.by === 'nothing') return `has no DNS record ${records.because}: ${neverMeet}`;
    if (records.by === 'controller' || records.name === null || records.name === label) return undefined;
    if (label === undefined) return `has no DNS record without the subdomain ${records.name}: ${neverMeet}`;
    return `has no DNS record: the subdomain of its pod is ${shorten(records.name)}`;
  }
  const isOwn = label !== undefined && subdomains.has(label);
  const [first] = all;
  const near =
    found.find(({ hosts, values }) => values?.length === hosts.indexes.length) ??
    found.find(({ values }) => values !== undefined) ??
    (isOwn && first !== undefined ? { hosts: first, values: indexesIn(host, first) } : undefined);
  if (near === undefined) return undefined;
  // A name with fewer indexes may belong to another object, unless it is in the domain of this one.
  const isOther = near.values === undefined || near.values.length !== near.hosts.indexes.length;
  if (isOther && !isOwn) return undefined;
  return `is not the name of a pod (${rangeOf(near.hosts)}): ${neverMeet}`;
}

const neverMeet = 'the ranks never find each other';

/** What a hostname may start with before its indexes. */
function stemsOf(host: string): readonly string[] {
  const parts = host.split('-').slice(-4);
  return parts.slice(1).map((_, at) => host.slice(0, host.length - parts.slice(at + 1).join('-').length - 1));
}

/** The indexes in a hostname; undefined if it has another stem. */
function indexesIn(host: string, { stem }: PodHosts): readonly number[] | undefined {
  const rest = host.startsWith(`${stem}-`) ? host.slice(stem.length + 1) : '';
  return /^\d{1,9}(?:-\d{1,9})*$/.test(rest) ? rest.split('-').map(Number) : undefined;
}

function isWithin(values: readonly number[], { indexes }: PodHosts): boolean {
  return values.every((value, at) => {
    const { first, count } = indexes[at] ?? { first: 0, count: null };
    return value >= first && (count === null || value < first + count);
  });
}

/** The first and the last hostname of a set, or only the first if the last is unknown. */
function rangeOf({ stem, indexes }: PodHosts): string {
  const first = [stem, ...indexes.map((index) => index.first)].join('-');
  const last = [stem, ...indexes.map((index) => (index.count === null ? '?' : index.first + index.count - 1))].join(
    '-',
  );
  return shorten(last.includes('?') ? `the first is ${first}` : first === last ? first : `${first} to ${last}`, 70);
}

/** Gives the pods the subdomain that the address has. */
function subdomainFix(label: string | undefined, { workload, podSet, document }: PodSetContext): Fix | undefined {
  if (workload.kind !== 'Job' || workload.apiVersion !== 'batch/v1' || label === undefined) return undefined;
  if (getIn(podSet.pod, 'subdomain') !== undefined) return undefined;
  return fix(`Set subdomain to ${label}`, 'unsafe', insertKey(document, podSet.pod, 'subdomain', label));
}

interface Address {
  readonly host: string;
  /** The domain, by its labels. */
  readonly labels: readonly string[];
  readonly span: Span;
}

/** The addresses of an object's own pods in flags and variables that name hosts, and in commands that look a host up. */
function addressesOf(container: Container, name: string, document: YamlDocument): readonly Address[] {
  const inEnv = container.env.flatMap(({ name: variable, value }) =>
    value !== undefined && isHostName(variable)
      ? hostsIn(value.value, name).map((host) => ({ ...host, span: spanOf(value.at) }))
      : [],
  );
  const { command, args, env } = processInput(container);
  const lines = [...container.command, ...container.args];
  const inCommands = allCommands(readCommandLine(command, args, env).statements).flatMap(({ words, assignments }) => {
    const flags = readFlags(words).filter(({ written }) => isHostName(written));
    const values: readonly (readonly [string | undefined, Word])[] = [
      ...assignments
        .filter(({ text }) => isHostName(text.split('=', 1)[0] ?? ''))
        .map((word) => [word.text, word] as const),
      ...flags.flatMap(({ value, valueWord }) => (valueWord ? [[value, valueWord] as const] : [])),
      ...(lookups.has(baseName(words[0]?.text ?? '')) ? words.slice(1).map((word) => [word.text, word] as const) : []),
    ];
    return values.flatMap(([value, word]) => {
      const hosts = hostsIn(value, name);
      const span = hosts.length === 0 ? undefined : spanOfWords(document, lines, [word, word]);
      return span === undefined ? [] : hosts.map((host) => ({ ...host, span }));
    });
  });
  return [...inEnv, ...inCommands];
}

/** Programs that look up or wait for the hosts in their arguments. */
const lookups = wordSet('nslookup getent host dig ping nc wait-for-it.sh wait-for-it');

const hostWords = wordSet('addr address host hosts master coordinator endpoint rdzv server servers leader ip');

/** TensorFlow reads the addresses of all pods from one variable. */
function isHostName(name: string): boolean {
  return name === 'TF_CONFIG' || wordsOf(name).some((word) => hostWords.has(word));
}

/** The hostnames that start with an object's name in a value such as `train-0.workers.default.svc:29500`. */
function hostsIn(value: string | undefined, name: string): readonly Omit<Address, 'span'>[] {
  if (value === undefined || value.length > 1000 || !value.includes(`${name}-`)) return [];
  return value.split(/[,\s;"'=]+|:\/\//).flatMap((token) => {
    const [host, ...labels] = (/^[a-z0-9.-]+(?=[:/]|$)/.exec(token)?.[0] ?? '').replace(/\.$/, '').split('.');
    return host?.startsWith(`${name}-`) === true && /-\d+$/.test(host) ? [{ host, labels }] : [];
  });
}
