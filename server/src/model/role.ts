import { wordsOf } from '../command/name-words.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';
import { likeKind } from './kinds/index.ts';
import { groupOf } from './manifest.ts';
import { useOf } from './process-input.ts';
import type { Confidence, Container, Manifest, PodSet, Role } from './workload.ts';

/** Namespaces without workloads to optimize. */
const infrastructureNamespaces =
  /^(kube-system|kube-.*|gpu-operator.*|nvidia-.*|.*-operator|gmp-system|amazon-.*|openshift-.*|cattle-.*|monitoring)$/;

/** Names of device plugins, drivers, exporters and operators: they use GPUs only to provide them. */
const infrastructureNames =
  /(device-plugin|gpu-feature-discovery|node-feature-discovery|dcgm|gpu-operator|driver-installer|nvidia-driver|mig-manager|container-toolkit|cuda-validator|operator-validator|plugin-validator|nvidia-mps|kubelet-plugin|node-exporter|gpu-exporter)/;

/** What an object is for, with the confidence and the evidence. */
export interface FoundRole {
  readonly role: Role;
  readonly confidence: Confidence;
  readonly from: string | null;
}

/** What an object is for if its kind does not decide it: by its namespace and names, then by what its containers run, then by its ports. */
export function roleOf(manifest: Manifest, podSets: readonly PodSet[]): FoundRole {
  const infrastructure = infrastructureSign(manifest, podSets);
  if (infrastructure !== undefined) return { role: 'infrastructure', confidence: 'likely', from: infrastructure };
  const containers = podSets.flatMap((podSet) => podSet.containers.filter(({ type }) => type !== 'init'));
  const uses = containers.map(useOf);
  for (const role of ['serving', 'training', 'interactive', 'batch'] as const) {
    const [surest] = uses.filter(({ use }) => use === role).sort((a) => (a.confidence === 'certain' ? -1 : 1));
    if (surest?.confidence) return { role, confidence: surest.confidence, from: surest.program };
  }
  const { kind, apiVersion } = manifest;
  const entry = likeKind(groupOf(apiVersion), kind);
  if (entry?.likelyRole !== undefined) return { role: entry.likelyRole, confidence: 'likely', from: `kind ${kind}` };
  const named = entry === undefined ? roleNamed(kind) : undefined;
  if (named !== undefined) return { role: named, confidence: 'guess', from: `kind ${kind}` };
  const port = entry?.staysUp === true ? servedPort(containers) : undefined;
  if (port !== undefined) return { role: 'serving', confidence: 'guess', from: port };
  return { role: 'unknown', confidence: 'guess', from: null };
}

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
  for (const { at: container } of containers) {
    const probe = getIn(container, 'readinessProbe');
    if (getIn(probe, 'httpGet') !== undefined || getIn(probe, 'grpc') !== undefined) return 'its readiness probe';
    const ports = items(getIn(container, 'ports'));
    const port = ports.find((one) => !/metric|prom|monitor|ssh/i.test(asText(getIn(one, 'name')) ?? ''));
    const number = asText(getIn(port, 'containerPort'));
    if (number !== undefined) return `port ${number}`;
  }
  return undefined;
}

/** Evidence of infrastructure, which provides GPUs to others. */
function infrastructureSign({ namespace, name }: Manifest, podSets: readonly PodSet[]): string | undefined {
  if (namespace !== null && infrastructureNamespaces.test(namespace)) return `namespace ${namespace}`;
  if (name !== null && infrastructureNames.test(name)) return `name ${name}`;
  const images = podSets.flatMap(({ containers }) => containers.flatMap(({ image }) => image?.value ?? []));
  const image = images.find((one) => infrastructureNames.test(one));
  return image === undefined ? undefined : `image ${image}`;
}
