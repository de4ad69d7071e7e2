import { either, wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import type { ContainerUse } from '../command/programs.ts';
import { findWaiting } from '../command/waiting.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';
import { likeKind } from './kinds/index.ts';
import { groupOf } from './manifest.ts';
import { processInput, useOf } from './process-input.ts';
import type { Confidence, Container, Manifest, PodSet, Role } from './workload.ts';

/** Namespaces of the cluster itself. Others are only names: people also run their own pods in `nvidia-demo` or `monitoring`. */
const clusterNamespaces = either(
  /^(?:kube-system|kube-public|kube-node-lease|gmp-system)$/,
  /^gke-managed-[\w-]+$/,
  /^openshift-[\w-]{0,60}(?:operator|driver|nfd)[\w-]{0,60}$/,
);

/** Names of device plugins, drivers, exporters and operators: they use GPUs only to provide them. */
const components = either(
  /device-?plugin|kubelet-plugin|gpu-operator|container-toolkit|nvidia-mps/,
  /node-labell?er|(?:gpu|node)-feature-discovery/,
  /nvidia-driver|driver-(?:installer|daemonset|manager)|(?:mig|vgpu|vfio|fabric)-manager/,
  /(?:cuda|operator|plugin|driver|toolkit)-validator(?:ion)?/,
  /dcgm|(?:node|gpu|rocm)-exporter|neuron-(?:monitor|scheduler)/,
  /nccl-(?:\w+-)?installer|tcpxo?-(?:daemon|installer)/,
);

/** Words of pods that try a component out. */
const trial = /(?:^|[-_.])(?:test(?:er|ing|s)?|demo|example|sample|trial|burn|bench(?:mark)?)(?:$|[-_.\d])/;

/** Directories through which device plugins and drivers reach the kubelet and the node. */
const providerPaths = wordSet(
  '/var/lib/kubelet/device-plugins /var/lib/kubelet/plugins /var/lib/kubelet/plugins_registry',
  '/var/lib/kubelet/pod-resources',
  '/run/nvidia /run/nvidia/driver /run/nvidia/validations /run/nvidia/toolkit',
);

/** What an object is for, with the confidence and the evidence. */
export interface FoundRole {
  readonly role: Role;
  readonly confidence: Confidence;
  readonly from: string | null;
}

/** What an object is for if its kind does not decide it: by signs of infrastructure, then by what its containers run, then by its ports. */
export function roleOf(manifest: Manifest, podSets: readonly PodSet[]): FoundRole {
  const infrastructure = infrastructureSign(manifest, podSets);
  if (infrastructure !== undefined) return { role: 'infrastructure', confidence: 'likely', from: infrastructure };
  const containers = podSets.flatMap((podSet) => podSet.containers.filter(({ type }) => type !== 'init'));
  const uses = containers.map(useOf);
  const { kind, apiVersion } = manifest;
  const entry = likeKind(groupOf(apiVersion), kind);
  for (const role of usesInOrder) {
    const found = surest(uses, role);
    // A script with the name of a step, such as `inference.py`, may also answer requests for as long as it runs.
    const stays = role === 'batch' && entry?.staysUp === true && containers.some(answersProbes);
    if (found?.confidence && !(stays && found.confidence !== 'certain'))
      return { role, confidence: found.confidence, from: found.program };
  }
  // A job whose pods answer requests may be a server.
  const isServer = entry?.likelyRole === 'batch' && containers.some(answersProbes);
  const trained = entry?.likelyRole === 'batch' && !isServer ? trainingNamed(manifest, containers) : undefined;
  if (trained !== undefined) return { role: 'training', confidence: 'likely', from: trained };
  if (entry?.likelyRole !== undefined && !isServer)
    return { role: entry.likelyRole, confidence: 'likely', from: `kind ${kind}` };
  const named = entry === undefined ? roleNamed(kind) : undefined;
  if (named !== undefined) return { role: named, confidence: 'guess', from: `kind ${kind}` };
  const served = entry?.staysUp === true ? (servedPort(containers) ?? servedName(manifest)) : undefined;
  if (served !== undefined) return { role: 'serving', confidence: 'guess', from: served };
  return { role: 'unknown', confidence: 'guess', from: null };
}

/** The first container of a role or, if there is one, the last that is certain. */
function surest(uses: readonly ContainerUse[], role: Role): ContainerUse | undefined {
  let found: ContainerUse | undefined;
  for (const one of uses) if (one.use === role && (found === undefined || one.confidence === 'certain')) found = one;
  return found;
}

/** The most significant first. */
const usesInOrder = ['serving', 'training', 'interactive', 'batch'] as const;

/** Evidence that the unknown program of a job trains: what the job, its only container or its image is called. */
function trainingNamed({ name, kind }: Manifest, containers: readonly Container[]): string | undefined {
  const [container, ...others] = containers;
  if (container === undefined || others.length > 0 || !/^(?:Cron)?Job$/.test(kind)) return undefined;
  if (findWaiting(processInput(container)) !== undefined) return undefined;
  const image = container.image === undefined ? '' : imageName(container.image.value);
  const names = [name ?? '', container.name ?? '', image];
  if (names.some((one) => wordsOf(one).some((word) => otherSteps.has(word)))) return undefined;
  const found = names.find((one) => trainingName.test(one));
  return found === undefined ? undefined : `name ${found}`;
}

const trainingName = /(?:^|[-_.])(?:pre-?)?train(?:er|ing)?(?:$|[-_.\d])|(?:^|[-_.])fine-?tun(?:er?|ing)(?:$|[-_.\d])/i;

/** What a job around training does, or one that only uses its result. */
const otherSteps = wordSet(
  'data dataset datasets corpus prep prepare preprocess preprocessing etl ingest tokenize tokenizer split features',
  'download downloader upload uploader fetch pull push copy sync backup restore export convert converter merge publish',
  'eval evaluate evaluation evaluator infer inference predict predictor serve serving server api ui web webui chat',
  'test tests tester check checker validate validation verify smoke demo debug shell dev interactive notebook jupyter ssh',
  'monitor monitoring exporter dashboard tensorboard mlflow wandb report metrics logs cleanup clean gc watch watcher',
  'setup init install build builder deploy register trigger submit submitter launcher controller scheduler manager operator',
  'render sample generate generation label labeler score bench benchmark profile profiler prewarm warmup quantize',
);

/** What the name of an unknown kind says. */
function roleNamed(kind: string): Role | undefined {
  const words = wordsOf(kind);
  return kindWords.find(([, named]) => words.some((word) => named.test(word)))?.[0];
}

const kindWords: readonly (readonly [Role, RegExp])[] = [
  ['interactive', /^(?:notebooks?|workbench|workspace|devbox|ide|sandbox|jupyter|desktop)$/],
  ['training', /^(?:train(?:ing|er)?|fine|finetun\w*|tuning|experiment)$/],
  ['serving', /^(?:serv(?:ing|ice|er|e)|inference|endpoint|llm|predictor|chat)$/],
  ['batch', /^(?:job|task|run|workflow|batch)$/],
];

/** Evidence of a server: a readiness probe over HTTP or gRPC, or a port that is not for metrics. */
function servedPort(containers: readonly Container[]): string | undefined {
  for (const container of containers) {
    if (answersProbes(container)) return 'its readiness probe';
    const ports = items(getIn(container.at, 'ports'));
    const port = ports.find((one) => !/metric|prom|monitor|ssh/i.test(asText(getIn(one, 'name')) ?? ''));
    const number = asText(getIn(port, 'containerPort'));
    if (number !== undefined) return `port ${number}`;
  }
  return undefined;
}

function answersProbes({ at }: Container): boolean {
  const probe = getIn(at, 'readinessProbe');
  return getIn(probe, 'httpGet') !== undefined || getIn(probe, 'grpc') !== undefined;
}

/** A name that only servers have: `diffusion-webui`. */
function servedName({ name }: Manifest): string | undefined {
  return name !== null && wordsOf(name).some((word) => serverNames.has(word)) ? `name ${name}` : undefined;
}

const serverNames = wordSet('server serving serve webui api inference predictor endpoint backend chatbot');

/** Evidence of infrastructure, which provides GPUs to others: what it is called, runs or mounts. */
function infrastructureSign({ namespace, name, kind }: Manifest, podSets: readonly PodSet[]): string | undefined {
  const containers = podSets.flatMap((podSet) => podSet.containers);
  const users = containers.filter(({ accelerators }) => accelerators.length > 0);
  // People also run their own pods there. Only a probe, or a daemon on each node, holds devices for the cluster.
  const isOwn = users.length > 0 && kind !== 'DaemonSet' && kind !== 'Pod';
  if (namespace !== null && clusterNamespaces.test(namespace) && !isOwn) return `namespace ${namespace}`;
  if (name !== null && components.test(name) && !trial.test(name)) return `name ${name}`;
  // An exporter next to a container that uses the GPUs says nothing about that container.
  const images = (users.length === 0 ? containers : users).flatMap(({ image }) => image?.value ?? []);
  const image = images.find((one) => components.test(imageName(one)) && !trial.test(imageName(one)));
  if (image !== undefined) return `image ${image}`;
  const paths = podSets.flatMap(({ volumes }) => volumes.map(({ at }) => asText(getIn(at, 'hostPath', 'path')) ?? ''));
  const path = paths.find((one) => providerPaths.has(one.replace(/\/$/, '')));
  return path === undefined ? undefined : `hostPath ${path}`;
}

/** The last part of an image's name, without its tag: its registry and its organization do not say what it is. */
function imageName(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return name.split(/[:@]/, 1)[0] ?? name;
}
