import { readFlags } from '../command/flags.ts';
import { baseName, type SimpleCommand } from '../command/shell.ts';
import { absentMeetingPort } from '../evidence/meeting-port.ts';
import { serviceUrls } from '../evidence/service-urls.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule } from './rule.ts';

/**
 * The pods of a job meet at different ports, at one that their Service lacks, or at a port of Ray that has another purpose.
 *
 * ## Why
 *
 * The ranks of a distributed job connect to one address of their first pod. If they name different ports, they wait for each other until a
 * timeout, and all hold their GPUs. Ray's head listens on 6379 for other nodes (`ray start --address`), on 10001 for clients (`ray://`) and on
 * 8265 for its dashboard and jobs (`http://`): these are different protocols. A Service with its own address passes on only its ports.
 *
 * ```yaml invalid
 * apiVersion: leaderworkerset.x-k8s.io/v1
 * kind: LeaderWorkerSet
 * metadata: {name: llm}
 * spec:
 *   leaderWorkerTemplate:
 *     size: 2
 *     leaderTemplate:
 *       spec:
 *         containers:
 *           - name: leader
 *             image: registry.example/llm:1
 *             command: [bash, -c, "ray start --head --port=6379 && python serve.py"]
 *             resources: {limits: {nvidia.com/gpu: 8}}
 *     workerTemplate:
 *       spec:
 *         containers:
 *           - name: worker
 *             image: registry.example/llm:1
 *             command: [bash, -c, "ray start --address=$(LWS_LEADER_ADDRESS):6380 --block"]
 *             resources: {limits: {nvidia.com/gpu: 8}}
 * ```
 *
 * ```yaml valid
 * apiVersion: leaderworkerset.x-k8s.io/v1
 * kind: LeaderWorkerSet
 * metadata: {name: llm}
 * spec:
 *   leaderWorkerTemplate:
 *     size: 2
 *     leaderTemplate:
 *       spec:
 *         containers:
 *           - name: leader
 *             image: registry.example/llm:1
 *             command: [bash, -c, "ray start --head --port=6379 && python serve.py"]
 *             resources: {limits: {nvidia.com/gpu: 8}}
 *     workerTemplate:
 *       spec:
 *         containers:
 *           - name: worker
 *             image: registry.example/llm:1
 *             command: [bash, -c, "ray start --address=$(LWS_LEADER_ADDRESS):6379 --block"]
 *             resources: {limits: {nvidia.com/gpu: 8}}
 * ```
 *
 * ## When it is silent
 *
 * For ports that are not written as numbers, for pods that name several, for objects with more than two kinds of pods, for addresses of a pod
 * itself, for headless Services, and for Services in other files.
 *
 * ## Sources
 *
 * - [Ray: configuring ports](https://docs.ray.io/en/latest/ray-core/configure.html#ports-configurations)
 * - [PyTorch: torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
 */
export default defineRule({
  topic: 'training',
  severity: 'warning',
  workload(workload, { document, report }) {
    if (workload.partial || workload.podSets.length !== 2) return;
    const found = workload.podSets.map(({ containers }) =>
      containers
        .filter(({ type }) => type !== 'init')
        .flatMap((one) => meetingPorts(one).map((port) => ({ ...port, container: one }))),
    );
    const known = new Map<string, string>();
    for (const ports of found) {
      for (const { key, port, words, container } of ports) {
        const first = known.get(key);
        if (first === undefined && !isJoining(words)) known.set(key, port);
        if (ports.some((one) => one.key === key && one.port !== port)) return;
        const span = spanOfWords(document, container, [words.from, words.to]);
        if (first === undefined || first === port || span === undefined) continue;
        report({
          message: `These pods meet at port ${port}, but others of ${shorten(workload.name ?? workload.kind, 30)} at port ${first}: they never find each other`,
          span,
        });
        return;
      }
    }
  },
  container(container, { document, workload, crossReferences, report }) {
    const absent = workload.partial ? undefined : absentMeetingPort(container, workload, document, crossReferences);
    if (absent !== undefined) report(absent);
    for (const { scheme, port, span, where } of serviceUrls(container, document)) {
      if (scheme === 'ray' && (port === '6379' || port === '8265'))
        reportRay(`${where} connects a client of Ray`, port, '10001', span);
    }
    for (const { words } of rayStarts(container)) {
      const address = readFlags(words).find(({ name }) => name === 'address');
      const port = portOf(address?.value);
      const span = address?.valueWord && spanOfWords(document, container, [address.word, address.valueWord]);
      if (span && (port === '10001' || port === '8265')) reportRay('ray start joins a cluster', port, '6379', span);
    }
    function reportRay(what: string, port: string, right: string, span: Span) {
      report({
        message: `${shorten(what, 50)}, but port ${port} of Ray's head is for ${purposes.get(port)}: it cannot connect; the default is ${right}`,
        span,
      });
    }
  },
});

const purposes: ReadonlyMap<string, string> = new Map([
  ['6379', 'other nodes'],
  ['8265', 'the dashboard and jobs'],
  ['10001', 'clients'],
]);

interface MeetingPort {
  /** What must be the same for all pods. */
  readonly key: string;
  readonly port: string;
  readonly words: Words;
}

type Flag = ReturnType<typeof readFlags>[number];

interface Words {
  readonly from: Flag['word'];
  readonly to: Flag['word'];
  readonly joins: boolean;
}

function isJoining({ joins }: Words): boolean {
  return joins;
}

/** Flags with the address at which all ranks meet, and with its port alone. */
const addresses: ReadonlySet<string> = new Set(['dist-init-addr', 'rdzv-endpoint']);
const ports: ReadonlySet<string> = new Set(['master-port']);

function meetingPorts(container: Container): readonly MeetingPort[] {
  const inFlags = commandsIn(container).flatMap(({ words }) => {
    const flags = readFlags(words);
    return flags.flatMap(({ name, value, word, valueWord, isVariable }): readonly MeetingPort[] => {
      const isWhole = addresses.has(name);
      const port = isWhole ? portOf(value) : ports.has(name) && /^\d{2,5}$/.test(value ?? '') ? value : undefined;
      // Another address is another group.
      const host = isWhole
        ? value?.slice(0, value.lastIndexOf(':'))
        : flags.find((one) => one.name === 'master-addr')?.value;
      if (port === undefined || host === undefined || valueWord === undefined || isVariable || loopback.test(host))
        return [];
      return [{ key: `${name} ${host}`, port, words: { from: word, to: valueWord, joins: false } }];
    });
  });
  const ofRay = rayStarts(container).flatMap(({ words }): readonly MeetingPort[] => {
    const flags = readFlags(words);
    const [first] = words;
    const set = flags.find(({ name }) => name === 'port');
    if (first === undefined) return [];
    if (flags.some(({ name }) => name === 'head')) {
      const port = set === undefined ? '6379' : /^\d{2,5}$/.test(set.value ?? '') ? set.value : undefined;
      return port === undefined ? [] : [{ key: 'ray', port, words: { from: first, to: first, joins: false } }];
    }
    const address = flags.find(({ name }) => name === 'address');
    const port = portOf(address?.value);
    if (address?.valueWord === undefined || port === undefined || port === '10001' || port === '8265') return [];
    return [{ key: 'ray', port, words: { from: address.word, to: address.valueWord, joins: true } }];
  });
  return [...inFlags, ...ofRay];
}

const loopback = /^(?:localhost|127\.|::1|0\.0\.0\.0)/;

function rayStarts(container: Container): readonly SimpleCommand[] {
  if (![...container.command, ...container.args].some(({ value }) => value.includes('ray'))) return [];
  return commandsIn(container).filter(
    ({ words: [name, action] }) => baseName(name?.text ?? '') === 'ray' && action?.text === 'start',
  );
}

/** The port of an address such as `$(LEADER):6379`. */
function portOf(address: string | undefined): string | undefined {
  return /^[^\s:/]{1,200}:(\d{2,5})$/.exec(address ?? '')?.[1];
}
