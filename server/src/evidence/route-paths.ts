import { asText, type Cursor, entries, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { isPlaceholderText, isSet, placesAt, writtenText } from './written.ts';

/** A size as nginx reads it, for one that it does not: `100m` for `100 MB` or `100Mi`. https://nginx.org/en/docs/syntax.html */
export function sizeForNginx(written: string): string | undefined {
  const [, digits = '', unit = '', rest = ''] = /^(\d{1,6})(?: ?)([kmg])(i?b?)$/i.exec(written) ?? [];
  return digits === '' || (rest === '' && !written.includes(' ')) ? undefined : digits + unit.toLowerCase();
}

/** A mistake in the path or the backend of a route. */
export interface RouteMistake {
  readonly at: Cursor;
  readonly message: string;
  /** The API server rejects the object. */
  readonly isRejected?: true;
  /** The value that is meant. */
  readonly meant?: string;
}

/** How the controller of an Ingress reads paths. */
interface PathReader {
  readonly isNginx: boolean;
  /** It also reads paths of type Prefix as patterns: Azure's Application Gateway, or others with an annotation for regular expressions. */
  readonly readsPatterns: boolean;
}

/** What the class and the annotations of an Ingress say about its controller. F5's for nginx has the same class, but other annotations. */
export function pathReader(annotations: Cursor | undefined, name: string): PathReader {
  const all = entries(annotations);
  return {
    isNginx: all.some((one) => keyOf(one).startsWith('nginx.ingress.kubernetes.io/')) && /^$|nginx/.test(name),
    readsPatterns:
      /^azure/.test(name) || all.some((one) => /^appgw\.|\/use-regexp?$/.test(keyOf(one)) && asText(one) !== 'false'),
  };
}

/** What is wrong in the paths of an Ingress. */
export function ingressMistakes(root: Cursor, reader: PathReader): readonly RouteMistake[] {
  return placesAt(root, 'spec.rules.*.http.paths.*').flatMap((one): readonly RouteMistake[] => {
    const [at, typeAt] = [getIn(one, 'path'), getIn(one, 'pathType')];
    const [path, type] = [at, typeAt].map((place) => (isUnseen(place) ? '' : (asText(place) ?? '')));
    const port = getIn(one, 'backend', 'service', 'port');
    const name = getIn(port, 'name');
    if (isSet(name) && asText(name) !== '' && isSet(getIn(port, 'number')) && port !== undefined && !isIncomplete(port))
      return [{ at: port, message: 'port must have a name or a number, not both', isRejected: true }];
    if (at === undefined || path === undefined || path === '' || !/^[!-~]+$/.test(path)) return [];
    if (isRelative(path))
      return [{ at, message: `path must start with /, not ${shorten(path, 30)}`, isRejected: true }];
    if (typeAt === undefined || (type !== 'Prefix' && type !== 'Exact')) return [];
    return pathMistake(path, type, at, typeAt, reader);
  });
}

/** Whether a path has no slash at its start and is not a placeholder. */
function isRelative(path: string): boolean {
  return /^[a-z\d.(*]/.test(path) && !isPlaceholderText(path.replace(/[()|$*]/g, ''));
}

/** The path before a wildcard at its end: `/v1` for `/v1/*` and `/v1*`. In `/v1.*`, the dot is part of a regular expression. */
function beforeWildcard(path: string): string | undefined {
  return /\.\*$/.test(path) ? undefined : /^((?:\/[\w.-]+)*)\/?\*$/.exec(path)?.[1];
}

/**
 * A path with a wildcard or a regular expression, of a type that does not allow one. Since 1.12, ingress-nginx rejects it by default (`strict-validate-path-type`).
 * https://github.com/kubernetes/ingress-nginx/pull/11819 https://github.com/kubernetes-sigs/aws-load-balancer-controller/issues/2269
 */
function pathMistake(
  path: string,
  type: string,
  at: Cursor,
  typeAt: Cursor,
  { isNginx, readsPatterns }: PathReader,
): readonly RouteMistake[] {
  const short = shorten(path, 30);
  const plain = beforeWildcard(path);
  if (plain !== undefined && type === 'Prefix' && !readsPatterns)
    return [
      {
        at,
        message: `A path of type Prefix has no wildcards, and ${plain === '' ? '/' : shorten(plain, 20)} alone means all paths below: load balancers reject ${shorten(path, 20)}, or take * literally`,
        meant: plain === '' ? '/' : plain,
      },
    ];
  if (!isNginx || !/[()*|$\\[\]^]|\.\+/.test(path)) return [];
  return [
    {
      at: typeAt,
      message: `pathType ${type} does not allow the regular expression ${short}: since 1.12, ingress-nginx rejects the Ingress by default`,
      meant: 'ImplementationSpecific',
    },
  ];
}

/** What is wrong in the paths and backends of an HTTPRoute. https://gateway-api.sigs.k8s.io/reference/spec/#httppathmatch */
export function httpRouteMistakes(root: Cursor): readonly RouteMistake[] {
  const paths = placesAt(root, 'spec.rules.*.matches.*.path').flatMap((one): readonly RouteMistake[] => {
    const [at, type] = [getIn(one, 'value'), getIn(one, 'type')];
    const path = isUnseen(at) || isIncomplete(one) ? '' : (asText(at) ?? '');
    if (at === undefined || path === '' || !/^[!-~]+$/.test(path)) return [];
    if (type !== undefined && writtenText(type) !== 'PathPrefix' && writtenText(type) !== 'Exact') return [];
    if (isRelative(path))
      return [{ at, message: `value must start with /, not ${shorten(path, 30)}`, isRejected: true }];
    const plain = beforeWildcard(path);
    if (plain === undefined || writtenText(type) === 'Exact') return [];
    const meant = plain === '' ? '/' : plain;
    return [
      {
        at,
        message: `A PathPrefix has no wildcards, and ${shorten(meant, 30)} alone means all paths below: ${shorten(path, 30)} matches only a literal *`,
        meant,
      },
    ];
  });
  const backends = placesAt(root, 'spec.rules.*.backendRefs.*').flatMap((one): readonly RouteMistake[] => {
    const name = getIn(one, 'name');
    const others = ['kind', 'group'].map((key) => asText(getIn(one, key)) ?? '').join('');
    if (name === undefined || isIncomplete(one) || getIn(one, 'port') !== undefined || !/^(?:Service)?$/.test(others))
      return [];
    return [
      {
        at: name,
        message: `The reference to Service ${shorten(asText(name) ?? '', 30)} needs a port`,
        isRejected: true,
      },
    ];
  });
  return [...paths, ...backends];
}
