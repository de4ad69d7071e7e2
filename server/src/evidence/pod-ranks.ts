import { either, partOf } from '../catalog/word-patterns.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { baseName, type Word } from '../command/shell.ts';
import { kindOf } from '../model/kinds/index.ts';
import { commandLineOf, commandsIn, processInput, useOf } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, type Located, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import { mayHaveVariables, mayRunMore } from './launch.ts';
import { isNodeCount, ownFlags } from './torchrun-nodes.ts';

/** What a container says about ranks and the first node, as it is written. */
export interface Rank {
  readonly text: string;
  readonly span: Span;
}

/** A variable with the rank of a node or a process. */
export function isRankName(name: string): boolean {
  return /^(?:PET_)?(?:NODE_RANK|MACHINE_RANK|GROUP_RANK|RANK)$/.test(name);
}

/** The first pods of groups: there are as many as groups. */
export function isOneOfGroup({ name }: PodSet): boolean {
  return /leader|head|master|launcher|driver|coordinator/i.test(name);
}

/** A variable to which a script gives a value in all pods. */
interface Assigned {
  readonly name: string;
  readonly value: string;
  readonly word: Word;
}

/** The assignments of a script outside its branches: `NNODES=2 NODE_RANK=0 llamafactory-cli train a.yaml`, `export NODE_RANK=0`. */
export function assignedVariables(container: Container): readonly Assigned[] {
  return commandLineOf(container).statements.flatMap((one): readonly Assigned[] => {
    if (one.kind !== 'command' || one.after === '||') return [];
    const exported = baseName(one.words[0]?.text ?? '') === 'export' ? one.words.slice(1) : [];
    // What follows a test is a branch.
    if (one.after === '&&' && (one.words.length === 0 || exported.length > 0)) return [];
    return [...one.assignments, ...exported].flatMap((word) => {
      const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(word.text) ?? [];
      return name === undefined || value === undefined || word.dynamic ? [] : [{ name, value, word }];
    });
  });
}

/** Whether the controller of a kind sets the variables of each rank itself. */
export function setsRanks({ apiVersion }: Workload): boolean {
  return /^(?:trainer\.)?kubeflow\.org\/|^batch\.volcano\.sh\//.test(apiVersion);
}

/**
 * What reads the variable as a rank: a launcher by a flag, or PyTorch from the environment of a program that no launcher starts. A script may
 * replace an empty one, and the program may set the variable again.
 */
export function rankReader(variable: string, container: Container): 'launcher' | 'program' | undefined {
  const { command, args, env } = processInput(container);
  // Assignments and defaults.
  if ([...command, ...args].some((line) => line.includes(`${variable}=`) || line.includes(`${variable}:`)))
    return undefined;
  if (commandsIn(container).some(({ words }) => readFlags(words).some((flag) => isRankFrom(variable, flag))))
    return 'launcher';
  return variable === 'RANK' &&
    isOnePython(container) &&
    env.some(({ name }) => name === 'WORLD_SIZE' || name === 'MASTER_ADDR')
    ? 'program'
    : undefined;
}

function isRankFrom(variable: string, flag: Flag): boolean {
  return referenceTo(flag.value ?? '') === variable && meaningOf(flag, 'node-rank') !== undefined;
}

/** The variable that is a whole value. */
function referenceTo(value: string): string | undefined {
  return /^(?:\$(\w+)|\$\{(\w+)\}|\$\((\w+)\))$/
    .exec(value)
    ?.slice(1)
    .find((name) => name !== undefined);
}

/** Whether a container runs one Python script or module, and no launcher. */
function isOnePython(container: Container): boolean {
  const [only, ...others] = commandsIn(container);
  const [program, ...rest] = (only?.words ?? []).map(({ text }) => text);
  const [script = '-', module = ''] = rest.filter((text) => !/^-[BEIOPSbdqsuvx]+$/.test(text));
  const isRun = script === '-m' ? !launchers.test(module) : !script.startsWith('-');
  return others.length === 0 && /^python[\d.]*$/.test(baseName(program ?? '')) && isRun;
}

/** Modules that start other programs, and give them their ranks. */
const launchers = /^$|launch|run$|elastic|mpi|horovod|deepspeed|accelerate|lightning|ray\b|pip$|jupyter/;

/** The field of its pod that a variable has. */
export function fieldOf({ at }: Container['env'][number]): Cursor | undefined {
  return getIn(at, 'valueFrom', 'fieldRef', 'fieldPath');
}

/** The value that a variable has from a label or an annotation of the pod template, which all its pods share. */
export function labelled(variable: Container['env'][number], { pod }: PodSet): Located<string> | undefined {
  const path = fieldOf(variable);
  const [, part, key] = /^metadata\.(labels|annotations)\['([\w./-]+)'\]$/.exec(asText(path) ?? '') ?? [];
  const given = part === undefined ? undefined : getIn(pod.parent, 'metadata', part, key ?? '');
  const value = given === undefined || isTemplated(given) ? undefined : asText(given);
  return path === undefined || value === undefined ? undefined : { value, at: path };
}

/** The address of the first node in a launch on several nodes, if it is that of the pod itself, or the name of a meeting that no two pods share. */
export function ownMaster(
  container: Container,
  document: YamlDocument,
  workload: Workload,
): (Rank & { readonly what: string }) | undefined {
  const launches = commandsIn(container)
    .map(ownFlags)
    .filter((flags) => flags.some((flag) => isNodeCount(flag) && Number(flag.value) > 1));
  // With two launches, only the first node may run the one that names itself.
  const isOwn = (address: string) =>
    isLocal.test(address) || (launches.length === 1 && (isHostname.test(address) || isOwnAddress(address, container)));
  for (const flags of launches) {
    const random = flags.find(({ name, value }) => name === 'rdzv-id' && isRandom.test(value ?? ''));
    const flag = random ?? flags.find(({ name, value }) => /^(?:master|main|rdzv)/.test(name) && isOwn(value ?? ''));
    const last = flag?.valueWord ?? flag?.word;
    const span = flag && last && spanOfWords(document, container, [flag.word, last]);
    const what = flag?.name === 'rdzv-id' ? 'different in each pod' : 'each pod itself';
    if (span !== undefined) return { text: `--${flag?.written ?? ''} ${flag?.value ?? ''}`, span, what };
  }
  if (setsRanks(workload) || !isOnePython(container)) return undefined;
  const variable = container.env.find(({ name }) => name === 'MASTER_ADDR');
  const path = variable && fieldOf(variable);
  if (path === undefined || !ownAddresses.test(asText(path) ?? '')) return undefined;
  return { text: 'MASTER_ADDR', span: spanOf(path), what: 'each pod itself' };
}

const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1?\]?)(?::\d+)?$/;
/** The pod's hostname, with or without a port. */
export const isHostname = /^(?:\$\(hostname(?: -[fiIs]+)?\)|`hostname`|\$HOSTNAME|\$\{HOSTNAME\})(?::[\w${}]+)?$/;
const isRandom = either(/\$\{?(?:RANDOM|SRANDOM|HOSTNAME)\b/, /[$`]\(?(?:uuidgen\b|hostname\b|date\b[^)`]*%[sNST])/);
const ownAddresses = /^(?:status\.podIPs?|metadata\.name)$/;

/** Whether an address is a variable with the pod's own address or name. */
function isOwnAddress(address: string, container: Container): boolean {
  const variable = referenceTo(address.replace(/:[\w$(){}]+$/, ''));
  // A script may set it again for all nodes but the first.
  if (
    variable === undefined ||
    [...container.command, ...container.args].some(({ value }) => value.includes(`${variable}=`))
  )
    return false;
  return container.env.some((one) => one.name === variable && ownAddresses.test(asText(fieldOf(one)) ?? ''));
}

/** Whether a variable sends the pods of a kind without its own variables for torchrun to a common first node. */
export function meetsByVariable(container: Container, { apiVersion, kind }: Workload): boolean {
  // The replicas of a Deployment have no common work.
  if (!isPlainKind(apiVersion) || kind === 'Deployment' || mayHaveVariables(container)) return false;
  const master = container.env.find(({ name }) => name === 'MASTER_ADDR')?.value;
  return (
    master !== undefined &&
    !isTemplated(master.at) &&
    !isLocal.test(master.value) &&
    !isOwnAddress(master.value, container)
  );
}

/** Kinds whose controllers set no variables for torchrun. */
export function isPlainKind(apiVersion: string): boolean {
  return /^(?:batch|apps|jobset\.x-k8s\.io)\//.test(apiVersion);
}

/** The spec of a Job whose pods have no index. The controllers of other objects set the mode themselves. */
export function unindexedJob(workload: Workload): Cursor | undefined {
  const job = kindOf(workload).job?.(workload.manifest.root);
  const mode = getIn(job, 'completionMode');
  if (job === undefined || isIncomplete(job) || isTemplated(mode)) return undefined;
  return (asText(mode) ?? 'NonIndexed') === 'NonIndexed' ? job : undefined;
}

/**
 * The variable with which the pods of a Job look for the first of them, although nothing tells a pod its rank. It is likely if the program of the
 * image is unknown, because a rendezvous needs no ranks.
 */
export function unrankedMeeting(
  container: Container,
  workload: Workload,
): (Rank & { readonly address: string; readonly isLikely: boolean }) | undefined {
  const job = unindexedJob(workload);
  const [podSet, ...others] = workload.podSets;
  if (job === undefined || others.length > 0 || podSet?.containers.length !== 1) return undefined;
  if (followers.test(`${workload.name} ${container.name}`) || mayHaveVariables(container) || mayRunMore(container))
    return undefined;
  if (container.scripts.length > 0 || container.env.some((one) => fieldOf(one) !== undefined || tells.test(one.name)))
    return undefined;
  if ([...container.command, ...container.args].some(({ value }) => tellsInLine.test(value))) return undefined;
  const isLikely = container.command.length === 0 && container.args.length === 0;
  if (!isLikely && !(isOnePython(container) && useOf(container).use === 'training')) return undefined;
  const { name, value } = container.env.find((one) => meets.test(one.name)) ?? {};
  if (name === undefined || value === undefined || isTemplated(value.at) || isLocal.test(value.value)) return undefined;
  // Other programs have masters, too: that of PyTorch has its port in another variable.
  if (name === 'MASTER_ADDR' && /[:/]/.test(value.value)) return undefined;
  return { text: name, span: spanOf(value.at), address: value.value, isLikely };
}

const meets = /^(?:MASTER_ADDR|JAX_COORDINATOR_ADDR(?:ESS)?)$/;

/** Names of pods whose first one belongs to another object. */
const followers = partOf('worker agent slave replica follower client peer');

/** Names of variables that may tell a pod its rank, or where it gets one. */
const tells = partOf(
  'rank index rdzv etcd redis hostname pod_?name pod_?id ordinal process_?id task shard pet_ sweep queue',
);

/** Words of a command that may find a rank, and files whose content is unknown. */
const tellsInLine = either(tells, partOf('mpi slurm kubectl uuid random elastic', '\\$\\( `', '\\.sh\\b'));
