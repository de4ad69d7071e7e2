import type { CrossReferences } from '../model/cross-references.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { getIn, isTemplated, isUnseen, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { type Table, tableOf } from '../yaml/table.ts';

/** Why the Service of a subdomain gives the pods no DNS records. */
export interface MissingRecords {
  readonly text: string;
  /** Some name servers have records without a headless Service: CoreDNS does, kube-dns does not. */
  readonly depends: boolean;
}

/**
 * Why the Service of a subdomain gives the pods of a Job or a StatefulSet no DNS records; undefined if it does, or if that is unknown.
 * https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-hostname-and-subdomain-fields
 */
export function missingRecords(
  subdomain: string,
  podSet: PodSet,
  workload: Workload,
  references: CrossReferences,
): MissingRecords | undefined {
  const labels = ownLabels(podSet, workload);
  if (labels === undefined || references.mayBePatch()) return undefined;
  const service = references.service(workload.namespace, subdomain);
  if (service === undefined) return otherService(subdomain, labels, workload, references);
  if (service.siblingFolder) return undefined;
  const { hasAddress, selects, type } = service.facts;
  const missed = Object.entries(selects ?? {}).find(([key, value]) => labels[key] !== value);
  // Controllers add other labels.
  if (missed === undefined)
    return hasAddress && type !== null
      ? { text: `Service ${shorten(subdomain, 30)} is not headless`, depends: true }
      : undefined;
  if (ofControllers.test(missed[0])) return undefined;
  const [key, value] = missed;
  return {
    text: `Service ${shorten(subdomain, 30)} selects ${shorten(`${key}=${value}`, 40)}, not these pods`,
    depends: false,
  };
}

const ofControllers = /^(?:(?:batch|apps|statefulset)\.kubernetes\.io\/|controller-)/;

/** The labels of the pods, with that by which the Job controller names its own; undefined if one is unknown. */
export function ownLabels(
  { pod, labels }: PodSet,
  { kind, name, apiVersion, podSets }: Workload,
): Table<string> | undefined {
  const isJob = kind === 'Job' && apiVersion === 'batch/v1';
  if (!(isJob || kind === 'StatefulSet') || podSets.length > 1 || name === null) return undefined;
  const metadata = getIn(pod.parent, 'metadata');
  if ([metadata, getIn(metadata, 'labels')].some(isUnseen) || labels.some(({ at }) => isTemplated(at)))
    return undefined;
  const written = labels.map(({ at, value }): [string, string] => [keyOf(at), value]);
  const given = isJob ? ['job-name', 'batch.kubernetes.io/job-name'].map((key): [string, string] => [key, name]) : [];
  return tableOf([...written, ...given]);
}

/** The only headless Service of the file for the pods of a Job, if it has another name than their subdomain. */
function otherService(
  subdomain: string,
  labels: Table<string>,
  { kind, namespace }: Workload,
  references: CrossReferences,
): MissingRecords | undefined {
  // reference-not-found reports the serviceName of a StatefulSet.
  const services = kind === 'Job' ? references.servicesOf(namespace, labels) : [];
  if (services.some(({ name }) => name === subdomain)) return undefined;
  const [only, ...others] = services.filter(
    ({ file, facts }) => file === null && isHeadless(facts.type, facts.hasAddress),
  );
  return only === undefined || others.length > 0
    ? undefined
    : {
        text: `no Service is named ${shorten(subdomain, 30)}; ${shorten(only.name, 30)} selects the pods`,
        depends: false,
      };
}

function isHeadless(type: string | null, hasAddress: boolean): boolean {
  return type === 'ClusterIP' && !hasAddress;
}
