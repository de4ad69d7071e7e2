import { asText, type Cursor, getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';
import { isUnknown, placesAt } from './written.ts';

/** A Service to which an object for routes sends requests. */
export interface Backend {
  readonly name: string;
  readonly nameAt: Cursor;
  /** The namespace that the reference names; undefined: that of the object. */
  readonly namespace: string | undefined;
  /** What `at` says of the port. */
  readonly port: 'port' | 'name';
  readonly at: Cursor;
}

/** The backends of the object, by kind; none if a template may change them. */
export function backendsOf(kind: string, root: Cursor): readonly Backend[] {
  return readers.get(kind)?.(getIn(root, 'spec')) ?? [];
}

const readers: ReadonlyMap<string, (spec: Cursor | undefined) => readonly Backend[]> = new Map([
  ['Ingress', ingressBackends],
  ...['HTTPRoute', 'GRPCRoute', 'TCPRoute', 'TLSRoute'].map((kind) => [kind, routeBackends] as const),
  // https://doc.traefik.io/traefik/reference/routing-configuration/kubernetes/crd/http/ingressroute/
  ['IngressRoute', traefikBackends],
  ['IngressRouteTCP', traefikBackends],
  // https://istio.io/latest/docs/reference/config/networking/virtual-service/#Destination
  ['VirtualService', istioBackends],
  // https://docs.openshift.com/container-platform/latest/rest_api/network_apis/route-route-openshift-io-v1.html
  ['Route', openShiftBackends],
  // https://github.com/kedacore/http-add-on/blob/main/docs/ref/v0.10.0/http_scaled_object.md
  ['HTTPScaledObject', scalerBackends],
]);

function ingressBackends(spec: Cursor | undefined): readonly Backend[] {
  const services = [
    ...placesAt(spec, 'defaultBackend.service'),
    ...placesAt(spec, 'rules.*.http.paths.*.backend.service'),
  ];
  return services.flatMap((service) => {
    const [number, name] = [getIn(service, 'port', 'number'), getIn(service, 'port', 'name')];
    // The load balancer controller of AWS reads an annotation instead.
    if (asText(name) === 'use-annotation') return [];
    return [...backend(service, 'port', number), ...backend(service, 'name', name)];
  });
}

function routeBackends(spec: Cursor | undefined): readonly Backend[] {
  return placesAt(spec, 'rules.*.backendRefs.*').flatMap((ref) => {
    const others = ['kind', 'group'].map((key) => asText(getIn(ref, key)) ?? '').join('');
    return /^(?:Service)?$/.test(others) ? backend(ref, 'port', getIn(ref, 'port')) : [];
  });
}

function traefikBackends(spec: Cursor | undefined): readonly Backend[] {
  return placesAt(spec, 'routes.*.services.*').flatMap((ref) =>
    (asText(getIn(ref, 'kind')) ?? 'Service') === 'Service' ? numbered(ref, getIn(ref, 'port')) : [],
  );
}

function openShiftBackends(spec: Cursor | undefined): readonly Backend[] {
  const to = getIn(spec, 'to');
  if (to === undefined || getIn(spec, 'alternateBackends') !== undefined) return [];
  return (asText(getIn(to, 'kind')) ?? 'Service') === 'Service' ? numbered(to, getIn(spec, 'port', 'targetPort')) : [];
}

function scalerBackends(spec: Cursor | undefined): readonly Backend[] {
  const target = getIn(spec, 'scaleTargetRef');
  const [nameAt, at] = [getIn(target, 'service'), getIn(target, 'port')];
  const name = asText(nameAt);
  if (nameAt === undefined || name === undefined || at === undefined || isUnknown(nameAt) || isUnknown(at)) return [];
  return isIncomplete(target) ? [] : [{ name, nameAt, namespace: undefined, port: 'port', at }];
}

function istioBackends(spec: Cursor | undefined): readonly Backend[] {
  const found = ['http', 'tcp', 'tls'].flatMap((key) => placesAt(spec, `${key}.*.route.*.destination`));
  return found.flatMap((destination): readonly Backend[] => {
    const [host, at] = [getIn(destination, 'host'), getIn(destination, 'port', 'number')];
    const [name = '', namespace, ...rest] = (asText(host) ?? '').split('.');
    const isService = namespace === undefined || /^svc(?:\.cluster\.local)?$/.test(rest.join('.'));
    if (host === undefined || at === undefined || !isService || isIncomplete(destination)) return [];
    return isUnknown(host) || isUnknown(at) ? [] : [{ name, nameAt: host, namespace, port: 'port', at }];
  });
}

/** A port that is a number or a name. */
function numbered(service: Cursor, at: Cursor | undefined): readonly Backend[] {
  return backend(service, /^\d+$/.test(asText(at) ?? '') ? 'port' : 'name', at);
}

function backend(service: Cursor, port: Backend['port'], at: Cursor | undefined): readonly Backend[] {
  const nameAt = getIn(service, 'name');
  const name = asText(nameAt);
  const isOpen = isIncomplete(service) || isUnseen(getIn(service, 'namespace'));
  if (nameAt === undefined || name === undefined || isOpen || isUnknown(nameAt)) return [];
  if (at === undefined || isUnknown(at) || asText(at) === undefined) return [];
  return [{ name, nameAt, namespace: asText(getIn(service, 'namespace')), port, at }];
}
