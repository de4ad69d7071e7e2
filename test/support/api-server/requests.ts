import type { KubeObject } from './server.ts';

/** What a request is about: a collection as a whole, or its part in a namespace. */
export interface Target {
  /** As `put` names it: `/api/v1/pods`, also for one namespace. */
  readonly collection: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | null;
  /** One object. */
  readonly name: string | null;
}

/** The target of a path; undefined for discovery. */
export function targetOf(pathname: string): Target | undefined {
  const proxied = /^\/api\/v1\/namespaces\/([^/]+)\/services\/([^/]+)\/proxy\//.exec(pathname);
  if (proxied !== null) {
    const [, namespace = '', name = ''] = proxied;
    const collection = '/api/v1/services/proxy';
    return { collection, group: '', resource: 'services/proxy', namespace, name: decodeURIComponent(name) };
  }
  const match = /^(\/api\/v1|\/apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?$/.exec(
    pathname,
  );
  if (match === null) return undefined;
  const [, base = '', group = '', namespace, resource = '', name] = match;
  const text = (part: string | undefined) => (part === undefined ? null : decodeURIComponent(part));
  return { collection: `${base}/${resource}`, group, resource, namespace: text(namespace), name: text(name) };
}

/** Whether an object is in the namespace and has the fields that a request selects. */
export function matcherOf({ namespace, name }: Target, selector: string | null): (object: KubeObject) => boolean {
  const terms = (selector ?? '').split(',').flatMap((term) => {
    const match = /^([\w.]+)(!?=)=?(.*)$/.exec(term);
    return match === null ? [] : [{ path: (match[1] ?? '').split('.'), equal: match[2] === '=', value: match[3] }];
  });
  return (object) =>
    (namespace === null || object.metadata.namespace === namespace) &&
    (name === null || object.metadata.name === name) &&
    terms.every(({ path, equal, value }) => (fieldAt(object, path) === value) === equal);
}

function fieldAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((here, step) => (here as Record<string, unknown> | undefined)?.[step], object) ?? '';
}

/** What the server offers, as clients ask before anything else. Undefined if there is no such path. */
export function discovery(pathname: string, collections: readonly string[]): unknown {
  const known = collections.flatMap((collection) => targetOf(collection) ?? []);
  const versions = new Map<string, Set<string>>();
  for (const { collection, group } of known) {
    const version = collection.split('/').at(-2) ?? '';
    if (group !== '') versions.set(group, new Set([...(versions.get(group) ?? []), version]));
  }
  if (pathname === '/version') return { major: '1', minor: '34', gitVersion: 'v1.34.1' };
  if (pathname === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (pathname === '/apis') {
    const groups = [...versions].map(([name, all]) => {
      const named = [...all].map((version) => ({ groupVersion: `${name}/${version}`, version }));
      return { name, versions: named, preferredVersion: named[0] };
    });
    return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  }
  const groupVersion = /^\/api(?:s)?\/(.+)$/.exec(pathname)?.[1];
  const own = known.filter(({ collection }) => collection.startsWith(`${pathname}/`));
  if (groupVersion === undefined || own.length === 0) return undefined;
  const resources = own.map(({ resource }) => ({
    name: resource,
    singularName: '',
    namespaced: !clusterScoped.has(resource),
    kind: kindOf(resource),
    verbs: ['get', 'list', 'watch'],
  }));
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

/** The kind of a collection's objects: `priorityclasses` has PriorityClass. */
export function kindOf(resource: string): string {
  const known = words.exec(resource);
  const singular = resource.replace(/(?<=ss)es$|s$/, '');
  const start = known === null ? 0 : known[0].length;
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return capital(singular.slice(0, start)) + capital(singular.slice(start));
}

/** The first words of names that have two. */
const words = /^(?:priority|runtime|device|compute|resource|cluster|local|node|replica)(?=[a-z]{4})/;

const clusterScoped = new Set([
  ...['nodes', 'namespaces', 'priorityclasses', 'runtimeclasses', 'resourceslices', 'deviceclasses'],
  ...['clusterqueues', 'resourceflavors', 'nodepools', 'computeclasses'],
]);

/** A rule of a ClusterRole or Role. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Rules for the whole cluster (the key `*`) and for single namespaces. */
export type Rights = Readonly<Record<string, readonly PolicyRule[]>>;

/**
 * Whether the rules permit a request, as the RBAC authorizer decides.
 * @param selected the object to which a field selector limits the request
 */
export function isPermitted(rights: Rights, target: Target, verb: string, selected: string | null): boolean {
  const { group, resource, namespace } = target;
  const name = target.name ?? selected;
  const rules = [...(rights['*'] ?? []), ...(namespace === null ? [] : (rights[namespace] ?? []))];
  return rules.some(
    ({ apiGroups, resources, verbs, resourceNames }) =>
      apiGroups.includes(group) &&
      resources.includes(resource) &&
      verbs.includes(verb) &&
      (resourceNames === undefined || (name !== null && resourceNames.includes(name))),
  );
}
