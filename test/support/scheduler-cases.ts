import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { deviceMatcher } from '../../server/src/cluster/device-cel.ts';
import { type DeviceSupply, readClaim, readDeviceClass, readSlice } from '../../server/src/fleet/devices.ts';
import { at, fields, list, textMap } from '../../server/src/fleet/json.ts';
import { bestEviction } from '../../server/src/fleet/preemption.ts';
import { type PriorityClasses, readNode, readPod } from '../../server/src/fleet/read.ts';
import type { FleetPod } from '../../server/src/fleet/types.ts';
import { schedulerWords, type Verdict } from '../../server/src/fleet/verdict.ts';
import { type FleetSnapshot, verdictOf } from './snapshot-verdict.ts';

// Verdicts of a real kube-scheduler over random clusters. Its README describes the records.
const records = path.join(import.meta.dirname, '../../../shared/facts/scheduler_cases.jsonl.gz');
export const skipped = existsSync(records) ? '' : ' (skipped: ../shared/facts/scheduler_cases.jsonl.gz is not there)';

/** The recorded clusters, each with its cases. */
export function scenarios(): readonly unknown[] {
  const lines = gunzipSync(readFileSync(records)).toString('utf8').trim().split('\n');
  return lines.map((line): unknown => JSON.parse(line));
}

const classes: PriorityClasses = new Map([
  ['fit-high', { value: 100_000, preempts: true }],
  ['fit-low', { value: -100, preempts: true }],
  ['fit-never', { value: 100_000, preempts: false }],
]);

export const matches = deviceMatcher();

/** The cluster that a case was judged on, and its devices. */
export function clusterOf(
  scenario: unknown,
  each: unknown,
): { readonly snapshot: FleetSnapshot; readonly supply: DeviceSupply | undefined } {
  const nodes = list(at(scenario, 'nodes')).map((node) => readNode(nodeObject(node)));
  const pods = list(at(scenario, 'pods')).filter(
    (pod) => at(pod, 'phase') !== 'Succeeded' && at(pod, 'phase') !== 'Failed',
  );
  const namespaces = new Map(fields(at(scenario, 'namespaces')).map(([name, labels]) => [name, textMap(labels)]));
  const snapshot = { nodes, pods: [...pods, ...list(at(each, 'extraPods'))].map(podOf), namespaces };
  return { snapshot, supply: supplyOf(scenario, each) };
}

/** A recorded node as the API server returns it. */
export function nodeObject(node: unknown): unknown {
  return {
    metadata: node,
    spec: { taints: at(node, 'taints'), unschedulable: at(node, 'unschedulable') },
    status: { allocatable: at(node, 'allocatable') },
  };
}

/** Whether the engine's verdict of a case is the recorded one. */
export function isJudgedAlike(scenario: unknown, each: unknown): boolean {
  const { snapshot, supply } = clusterOf(scenario, each);
  return agrees(verdictOf(podOf(at(each, 'pod')), snapshot, supply && { supply, matches }), each);
}

export function podOf(pod: unknown): FleetPod {
  const metadata = { ...Object(pod), ...(at(pod, 'terminating') === true && { deletionTimestamp: 'now' }) };
  const priority = at(pod, 'priority');
  return readPod(
    { metadata, spec: { ...Object(at(pod, 'spec')), ...(priority !== undefined && { priority }) } },
    classes,
  );
}

function supplyOf(scenario: unknown, each: unknown): DeviceSupply | undefined {
  const dra = at(scenario, 'dra');
  if (dra === undefined) return undefined;
  const named = (objects: unknown, template: boolean) =>
    new Map(
      list(objects).map((object) => {
        const key = `${String(at(object, 'namespace'))}/${String(at(object, 'name'))}`;
        const spec = at(object, 'spec');
        return [key, readClaim(key, template ? at(spec, 'spec') : spec, at(object, 'status'))];
      }),
    );
  const deviceClasses = list(at(dra, 'deviceClasses')).map((deviceClass) =>
    readDeviceClass({ metadata: deviceClass, spec: at(deviceClass, 'spec') }),
  );
  return {
    classes: new Map(deviceClasses.map((deviceClass) => [deviceClass.name, deviceClass])),
    slices: list(at(dra, 'slices')).map(readSlice),
    claims: named(at(each, 'dra', 'claims'), false),
    templates: named(at(each, 'dra', 'templates'), true),
  };
}

/** The same verdict, feasible nodes, counts, words and victims; of devices the verdict and the counts, because names of claims are random. */
function agrees(verdict: Verdict, each: unknown): boolean {
  if (at(each, 'scheduled') === true)
    return verdict.kind === 'fits' && sorted(verdict.nodes) === sorted(list(at(each, 'feasible')));
  if (at(each, 'silent') === true) return verdict.kind === 'other-scheduler';
  if (at(each, 'reason') === 'SchedulingGated') return verdict.kind === 'gated';
  if (at(each, 'reason') === 'SchedulerError') return verdict.kind === 'error';
  if (at(each, 'parsed', 'error') !== undefined) return verdict.kind === 'waits';
  if (verdict.kind !== 'refused') return false;
  if (sorted([...verdict.reasons].map(String)) !== sorted(fields(at(each, 'parsed', 'reasons')).map(String)))
    return false;
  if (at(each, 'preemption') !== true) {
    const usesDevices = list(at(each, 'traits')).some((trait) => String(trait).startsWith('dra'));
    return verdict.evictions.length === 0 && (usesDevices || schedulerWords(verdict) === at(each, 'message'));
  }
  const eviction = verdict.evictions.find(({ node }) => node === at(each, 'nominatedNode'));
  // Among several that are equally good, the first wins.
  if (eviction === undefined || bestEviction([eviction, ...verdict.evictions]) !== eviction) return false;
  const victims = eviction.victims.filter(({ terminating }) => !terminating);
  const names = victims.map(({ namespace, name }) => `${namespace}/${name}`);
  return sorted(names) === sorted(list(at(each, 'victims')));
}

function sorted(values: readonly unknown[]): string {
  return values.map(String).sort().join();
}
