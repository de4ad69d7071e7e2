import type { CrossReferences, Referenced, ServiceFacts } from '../model/cross-references.ts';
import type { Table } from '../yaml/table.ts';
import { nameKeys } from './pod-selectors.ts';

/** Labels that a monitor requires of Services. */
interface Wanted {
  readonly namespace: string | null;
  readonly wanted: Table<string>;
}

/** A Service that a monitor was meant to find, without one of the labels. */
export interface UnlabeledService {
  readonly name: string;
  readonly key: string;
  /** The label that the monitor requires. */
  readonly value: string;
  /** What the Service has instead; null: only its pods have the required label. */
  readonly own: string | null;
}

/**
 * The Service in the same file that a monitor does not find: only its pods have the labels, or its name and port are those of the monitor and
 * one label has another value. Undefined if labels are unknown.
 * @param name the name of the monitor
 * @param ports the ports that it reads
 */
export function unlabeledService(
  { namespace, wanted }: Wanted,
  name: string | null,
  ports: readonly (string | undefined)[],
  crossReferences: CrossReferences,
): UnlabeledService | undefined {
  const pods = crossReferences.keptRunning(namespace, wanted).filter(({ file }) => file === null);
  const services = [wanted, ...pods.map(({ facts }) => facts.labels)]
    .flatMap((labels) => crossReferences.servicesOf(namespace, labels))
    .filter(({ file }) => file === null);
  if (services.some(({ facts }) => facts.labels === null)) return undefined;
  const [first] = services.filter(({ facts }) => facts.selects !== null);
  return first === undefined
    ? otherLabel(namesake(namespace, name, ports, crossReferences), wanted)
    : missing(first, wanted, pods.length > 0);
}

/** @param hasPods whether the file has pods with all labels; otherwise, only those that the Service selects are known to be theirs */
function missing(
  { name, facts }: Referenced<ServiceFacts>,
  wanted: Table<string>,
  hasPods: boolean,
): UnlabeledService | undefined {
  const [label] = Object.entries(wanted).filter(([key, value]) => facts.labels?.[key] !== value);
  if (label === undefined || !(hasPods || facts.selects?.[label[0]] === label[1])) return undefined;
  return { name, key: label[0], value: label[1], own: null };
}

/** The Service in the same file whose name a monitor has, with a word that says what it is, and whose port it reads. */
function namesake(
  namespace: string | null,
  name: string | null,
  ports: readonly (string | undefined)[],
  crossReferences: CrossReferences,
): Referenced<ServiceFacts> | undefined {
  const base = name?.replace(/-(?:service-?monitor|monitor|monitoring|metrics|sm|scrape)$/, '') ?? '';
  const found = ['', '-service', '-svc', '-metrics'].flatMap(
    (ending) => crossReferences.service(namespace, `${base}${ending}`) ?? [],
  );
  const [service, ...others] = found.filter(({ file, facts }) => file === null && facts.selects !== null);
  const reads = service?.facts.ports?.some((one) => ports.includes(one.name ?? '')) === true;
  return reads && others.length === 0 ? service : undefined;
}

/** The only label that differs, if the Service has its key. Other keys may be those of a group of Services. */
function otherLabel(
  service: Referenced<ServiceFacts> | undefined,
  wanted: Table<string>,
): UnlabeledService | undefined {
  const labels = service?.facts.labels ?? null;
  if (service === undefined || labels === null) return undefined;
  const [differs, ...others] = Object.entries(wanted).filter(([key, value]) => labels[key] !== value);
  const own = labels[differs?.[0] ?? ''];
  if (differs === undefined || others.length > 0 || own === undefined || !nameKeys.has(differs[0])) return undefined;
  return { name: service.name, key: differs[0], value: differs[1], own };
}
