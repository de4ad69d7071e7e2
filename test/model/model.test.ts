import { describe } from 'vitest';
import { gpusOf } from '../../server/src/cost/estimate.ts';
import { lowerDocument } from '../../server/src/model/lower.ts';
import type { PodSet, Workload } from '../../server/src/model/workload.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';
import { claimsOf } from '../support/claims-of.ts';
import { configOf } from '../support/config-line.ts';
import { goldenTests } from '../support/golden.ts';

describe('what a manifest will run', () => {
  goldenTests('test/fixtures/model', (text) => {
    const config = configOf(text);
    const { documents } = parseYaml(text);
    const claims = claimsOf(documents);
    const workloads = documents.flatMap((document) => lowerDocument(document, config, claims).workloads);
    return workloads.map(renderWorkload).join('\n');
  });
});

function renderWorkload(workload: Workload): string {
  const { kind, name, role, partial, byShape, retries, scaling, podSets } = workload;
  const gpus = gpusOf(workload);
  const lines = [
    `${kind}/${name} ${role}${partial ? ' partial' : ''}${byShape ? ' by shape' : ''}`,
    `  gpus ${gpus.min}..${gpus.max}; retries ${retries === null ? 'unknown' : retries.limit}`,
    ...(scaling === null
      ? []
      : [
          `  scaling ${scaling.mechanism} (${scaling.mechanismFrom}) floor ${scaling.floor}${scaling.canReachZero ? ', can reach zero' : ''}`,
        ]),
    ...podSets.flatMap(renderPodSet),
  ];
  return `${lines.join('\n')}\n`;
}

function renderPodSet({ name, pods, containers, accelerators, placement, tolerations, volumes }: PodSet): string[] {
  const { capacity, provider, region, instanceType, providerFrom } = placement;
  return [
    `  ${name}: ${pods.min}..${pods.max} pods`,
    `    on ${[capacity, provider, region, instanceType].map((part) => part ?? '-').join(' ')} (${providerFrom ?? 'unknown'})`,
    ...accelerators.map(
      ({ requested, perPod, devices, model, candidates, modelFrom }) =>
        `    ${perPod} × ${resourceText(requested)} = ${devices} devices of ${model ?? (candidates.length > 0 ? `one of ${candidates.length}` : '?')} (${modelFrom ?? 'unknown'})`,
    ),
    ...containers.map(({ type, name: container }) => `    ${type} ${container}`),
    ...tolerations.map(
      ({ key, operator, value, effect }) =>
        `    tolerates ${[key, operator, value, effect].map((part) => part?.value ?? '-').join(' ')}`,
    ),
    ...volumes.map(({ name: volume, source }) => `    volume ${volume} ${source}`),
  ];
}

/** In the form of the JSON report. */
function resourceText(requested: PodSet['accelerators'][number]['requested']): string {
  const { kind, name } = requested;
  if (kind === 'resource') return name;
  if (kind === 'deviceClass') return `dra:${name}`;
  return `${kind === 'field' ? requested.system : kind}:${name}`;
}
