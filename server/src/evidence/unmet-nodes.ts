import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { getIn, isIncomplete } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { mayHaveVariables } from './launch.ts';
import { isPlainKind } from './pod-ranks.ts';
import { isNodeCount, meetsNodes, ownFlags } from './torchrun-nodes.ts';

/** A launch on several nodes that all take themselves for the first, or wait at their own addresses. */
export interface UnmetNodes {
  readonly program: Launch['program'];
  /** The flag with the number of nodes. */
  readonly text: string;
  readonly span: Span;
  readonly missing: 'rank' | 'master' | 'both' | 'hosts' | 'endpoint';
}

export interface Launch {
  readonly program: 'torchrun' | 'accelerate' | 'deepspeed';
  readonly flags: readonly Flag[];
}

/** Such a launch in the pods of a job whose controller sets no variables for torchrun, or none for the endpoint of a rendezvous. */
export function unmetNodes(container: Container, document: YamlDocument, workload: Workload): UnmetNodes | undefined {
  const isPlain = kindOf(workload).tasks === true || isPlainKind(workload.apiVersion) || lacksMaster(workload);
  if (!isPlain && !lacksEndpoint(workload)) return undefined;
  const { command, args, env } = processInput(container);
  const lines = [...container.command, ...container.args];
  const hasOthers =
    env.some(({ name }) => /^(?:PET|ACCELERATE)_/.test(name)) || lines.some(({ value }) => value.includes('PET_'));
  if (hasOthers || mayHaveVariables(container)) return undefined;
  for (const launch of allCommands(readCommandLine(command, args, env).statements)) {
    const { program, flags } = launchOf(launch);
    const nodes = flags.find(isNodeCount);
    if (nodes === undefined || !/^\d{1,5}$/.test(nodes.value ?? '') || Number(nodes.value) < 2) continue;
    const missing = missingIn({ program, flags }, container);
    const last = nodes.valueWord ?? nodes.word;
    const span = missing && spanOfWords(document, lines, [nodes.word, last]);
    if (missing !== undefined && span !== undefined && (isPlain || missing === 'endpoint'))
      return { program, text: `--${nodes.written}=${nodes.value}`, span, missing };
  }
  return undefined;
}

/**
 * Whether the training operator gives the pods of a kind the address of the first one, but no endpoint: only elastic jobs have one.
 * https://github.com/kubeflow/trainer/blob/release-1.9/pkg/controller.v1/pytorch/envvar.go
 */
function lacksEndpoint({ kind, apiVersion, manifest }: Workload): boolean {
  const spec = getIn(manifest.root, 'spec');
  return (
    kind === 'PyTorchJob' &&
    apiVersion === 'kubeflow.org/v1' &&
    !isIncomplete(spec) &&
    getIn(spec, 'elasticPolicy') === undefined
  );
}

/** Whether a job of the training operator has neither a master nor an endpoint: then its pods get neither ranks nor an address. */
function lacksMaster(workload: Workload): boolean {
  const roles = getIn(workload.manifest.root, 'spec', 'pytorchReplicaSpecs');
  return lacksEndpoint(workload) && !isIncomplete(roles) && getIn(roles, 'Master') === undefined;
}

/** The launcher of a command with its own flags, which precede the script: torchrun unless another one is named. */
export function launchOf(command: SimpleCommand): Launch {
  const texts = command.words.map(({ text }) => text);
  const program = ({ words }: SimpleCommand, at: number) => baseName(words[at]?.text ?? '');
  const at = texts.findIndex(
    (text, index) =>
      (text === 'launch' && program(command, index - 1) === 'accelerate') || program(command, index) === 'deepspeed',
  );
  if (at < 0) return { program: 'torchrun', flags: ownFlags(command) };
  const script = texts.findIndex((text, index) => index > at && /\.py$|^-m$|^--module$/.test(text));
  const own = command.words.slice(at + 1, script < 0 ? undefined : script);
  return {
    program: texts[at] === 'launch' ? 'accelerate' : 'deepspeed',
    flags: own.some(({ text }) => text.startsWith('$')) ? [] : readFlags(own),
  };
}

function missingIn({ program, flags }: Launch, container: Container): UnmetNodes['missing'] | undefined {
  const isRanked = flags.some((flag) => meaningOf(flag, 'node-rank') !== undefined);
  // https://www.deepspeed.ai/getting-started/#resource-configuration-multi-node
  if (program === 'deepspeed') return isRanked || mayHaveHosts(container) ? undefined : 'hosts';
  // A file may have the rank, a rendezvous gives one, and one launcher may start all nodes of a hostfile.
  if (program === 'accelerate')
    return isRanked || flags.some(({ name }) => /^(?:config|rdzv|deepspeed-hostfile)/.test(name)) ? undefined : 'rank';
  const meeting = flags.filter(meetsNodes);
  const backend = meeting.find(({ name }) => name === 'rdzv-backend');
  // Without an endpoint, this backend meets at localhost, whatever the flags or variables for the master are.
  if (backend?.value === 'c10d' && !meeting.some(({ name }) => /^(?:rdzv-(?:endpoint|conf)|standalone)/.test(name)))
    return 'endpoint';
  if (meeting.length === 0) return isRanked ? 'master' : 'both';
  return isRanked || meeting.some(({ name }) => !name.startsWith('master')) ? undefined : 'rank';
}

/** Whether a container may have a file with the hosts of a job, which DeepSpeed reads at /job/hostfile by default. */
function mayHaveHosts({ command, args, volumeMounts }: Container): boolean {
  const lines = [...command, ...args].map(({ value }) => value);
  return (
    lines.some((line) => /hostfile|(?:^|\s)-H\b|no_ssh|mpi/i.test(line)) ||
    volumeMounts.some(({ mountPath }) => /^\/(?:jobs?)?(?:\/|$)/.test(mountPath))
  );
}

export function unmetMessage({ program, text, missing }: UnmetNodes, pods: number): string {
  const launch = `${program} ${shorten(text, 30)}`;
  if (missing === 'hosts')
    return `${launch} has no hostfile that names the nodes: the launch stops in each of the ${pods} pods`;
  if (missing === 'rank') {
    const lacks = program === 'accelerate' ? 'no --machine_rank' : 'no --node-rank and does not read RANK';
    return `${launch} has ${lacks}: all ${pods} pods have rank 0, and the job never starts`;
  }
  const lacks =
    missing === 'endpoint'
      ? 'no --rdzv-endpoint'
      : missing === 'master'
        ? 'no --master-addr and does not read MASTER_ADDR'
        : 'no node rank and no rendezvous';
  return `${launch} has ${lacks}: each of the ${pods} pods waits for the others at its own localhost`;
}
