import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, entries, getIn, isIncomplete, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { lowerCount } from '../pod.ts';

// The names by which pods of one object reach each other: what controllers make of the names of objects and roles.

/** The pods of one set. Their hostnames are `<stem>-<index>`, with one index or two. */
export interface PodHosts {
  readonly stem: string;
  readonly indexes: readonly PodIndexes[];
  readonly records: Records;
}

/** The values of an index; null: their number is unknown. */
export interface PodIndexes {
  readonly first: number;
  readonly count: number | null;
}

/** What makes DNS records of hostnames. */
export type Records =
  /** A Service for each pod, or rules that depend on the operator's version. */
  | { readonly by: 'controller' }
  /** The pods' subdomain; null: unknown. */
  | { readonly by: 'subdomain'; readonly name: string | null }
  /** The pods have no hostnames, or no subdomain: the reason, as a clause without a subject of its own. */
  | { readonly by: 'nothing'; readonly because: string };

const byController: Records = { by: 'controller' };

/** https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/ */
export function jobAddresses(spec: Cursor | undefined, name: string): readonly PodHosts[] {
  return [
    { stem: name, indexes: [from(0, completions(spec))], records: indexed(spec, 'NonIndexed', ownRecords(spec)) },
  ];
}

/**
 * The controller sets the subdomain and creates its Service, unless `enableDNSHostnames` is false; its webhook makes the jobs Indexed.
 * https://jobset.sigs.k8s.io/docs/concepts/#network
 */
export function jobSetAddresses(spec: Cursor | undefined, name: string): readonly PodHosts[] {
  const network = getIn(spec, 'network');
  const subdomain = getIn(network, 'subdomain');
  const isOff = asBoolean(getIn(network, 'enableDNSHostnames')) === false;
  const isOpen = isIncomplete(spec) || isIncomplete(network) || isTemplated(getIn(network, 'enableDNSHostnames'));
  const all: Records = isOpen
    ? byController
    : isOff
      ? { by: 'nothing', because: 'with enableDNSHostnames false' }
      : subdomain === undefined
        ? { by: 'subdomain', name }
        : bySubdomain(subdomain);
  return items(getIn(spec, 'replicatedJobs')).map((replicated) => {
    const job = getIn(replicated, 'template', 'spec');
    const own = ownRecords(job);
    return {
      stem: `${name}-${asText(getIn(replicated, 'name')) ?? ''}`,
      indexes: [from(0, lowerCount(getIn(replicated, 'replicas'), 1)), from(0, completions(job))],
      records: indexed(job, 'Indexed', isOff && own.by !== 'nothing' ? own : all),
    };
  });
}

/** The records by a subdomain that the pod template sets. */
function ownRecords(job: Cursor | undefined): Records {
  const pod = getIn(job, 'template', 'spec');
  const subdomain = getIn(pod, 'subdomain');
  if (isIncomplete(pod)) return byController;
  if (subdomain === undefined) return { by: 'nothing', because: 'without a subdomain and a headless Service' };
  return bySubdomain(subdomain);
}

/** Only the pods of Indexed Jobs have hostnames that are known in advance. */
function indexed(job: Cursor | undefined, unset: string, records: Records): Records {
  const mode = getIn(job, 'completionMode');
  if (records.by !== 'subdomain' || isIncomplete(job) || isTemplated(mode)) return records;
  return (asText(mode) ?? unset) === 'Indexed' ? records : { by: 'nothing', because: 'without completionMode Indexed' };
}

/** https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id */
export function statefulSetAddresses(spec: Cursor | undefined, name: string): readonly PodHosts[] {
  const service = getIn(spec, 'serviceName');
  const first = lowerCount(getIn(spec, 'ordinals', 'start'), 0);
  const records: Records =
    service === undefined
      ? isIncomplete(spec)
        ? byController
        : { by: 'nothing', because: 'without serviceName' }
      : bySubdomain(service);
  // A scaler may add pods.
  return [{ stem: name, indexes: [from(first ?? 0, null)], records }];
}

/** Volcano's svc plugin sets hostnames and the subdomain; those of frameworks include it. https://volcano.sh/en/docs/svc_plugin/ */
export function volcanoAddresses(spec: Cursor | undefined, name: string): readonly PodHosts[] {
  const plugins = getIn(spec, 'plugins');
  const listed = entries(plugins).map(keyOf);
  const hasRecords = listed.some((plugin) => plugin !== 'env' && plugin !== 'ssh');
  return items(getIn(spec, 'tasks')).map((task, at) => {
    const pod = getIn(task, 'template', 'spec');
    const own = getIn(pod, 'subdomain');
    const isOpen = isIncomplete(spec) || isIncomplete(plugins) || isIncomplete(pod);
    return {
      stem: `${name}-${asText(getIn(task, 'name')) ?? `default${at}`}`,
      indexes: [from(0, lowerCount(getIn(task, 'replicas'), 1))],
      records:
        isOpen || getIn(pod, 'hostname') !== undefined
          ? byController
          : !hasRecords
            ? { by: 'nothing', because: 'without the plugin svc' }
            : own === undefined
              ? { by: 'subdomain', name }
              : bySubdomain(own),
    };
  });
}

/** Each pod of Kubeflow's training operator has a Service of its name; the MPI operator has one Service for all. */
export function roleAddresses(roles: Cursor | undefined, name: string): readonly PodHosts[] {
  return entries(roles).map((role) => ({
    stem: `${name}-${keyOf(role).toLowerCase()}`,
    // A metric may add pods.
    indexes: [from(0, null)],
    records: byController,
  }));
}

/** https://lws.sigs.k8s.io/docs/concepts/ */
export function leaderWorkerAddresses(spec: Cursor | undefined, name: string): readonly PodHosts[] {
  const policy = getIn(spec, 'networkConfig', 'subdomainPolicy');
  const isShared = policy === undefined || asText(policy) === 'Shared';
  const records: Records = isShared && !isIncomplete(spec) ? { by: 'subdomain', name } : byController;
  const size = lowerCount(getIn(spec, 'leaderWorkerTemplate', 'size'), 1);
  const groups = from(0, null);
  return [
    { stem: name, indexes: [groups], records },
    { stem: name, indexes: [groups, from(1, size === null ? null : size - 1)], records },
  ];
}

function bySubdomain(at: Cursor): Records {
  return { by: 'subdomain', name: isTemplated(at) ? null : (asText(at) ?? null) };
}

function completions(job: Cursor | undefined): number | null {
  const written = getIn(job, 'completions');
  return written === undefined ? null : lowerCount(written, 1);
}

function from(first: number, count: number | null): PodIndexes {
  return { first, count };
}
