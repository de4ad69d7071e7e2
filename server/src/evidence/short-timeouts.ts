import { titleOf } from '../catalog/program-records.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, getIn, isUnseen, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { textsIn } from '../yaml/texts.ts';
import { hoursIn } from './go-duration.ts';
import { type BalancerMistake, gpuBackends, writesLongAnswers } from './load-balancers.ts';
import { backendsOf } from './route-backends.ts';
import { placesAt, writtenText } from './written.ts';

/** Timeouts of an Ingress or a route that are shorter than many answers of the language models behind it. At most one. */
export function shortTimeouts(manifest: Manifest, references: CrossReferences): readonly BalancerMistake[] {
  const { kind, root } = manifest;
  const [short] = timeoutsOf(kind, root).filter(({ seconds }) => seconds > 0 && seconds < usual);
  if (short === undefined) return [];
  const servers = [...gpuBackends(manifest, references)].map(({ server }) => server?.program ?? '');
  const [first] = servers;
  // Other backends of the object may be the reason.
  const isWriter = servers.every((program) => writesLongAnswers.has(program));
  if (first === undefined || !isWriter || servers.length < backendsOf(kind, root).length) return [];
  const { at, name, isTotal, seconds } = short;
  const ends = isTotal ? `${seconds} s` : `${seconds} s without data`;
  const message = `${name} ends a request after ${ends}: longer answers of ${titleOf(first)} fail`;
  return [{ at, message, isInfo: true }];
}

/** The default of most controllers, in seconds. */
const usual = 60;

interface Timeout {
  readonly at: Cursor;
  readonly name: string;
  readonly seconds: number;
  /** It applies to the whole answer, also one that is streamed. */
  readonly isTotal: boolean;
}

/**
 * https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/#load-balancer-attributes
 * https://docs.openshift.com/container-platform/4.17/networking/routes/route-configuration.html
 * https://gateway-api.sigs.k8s.io/api-types/httproute/#timeouts-optional
 * https://istio.io/latest/docs/reference/config/networking/virtual-service/#HTTPRoute
 */
function timeoutsOf(kind: string, root: Cursor): readonly Timeout[] {
  const annotations = getIn(root, 'metadata', 'annotations');
  const named = getIn(root, 'spec', 'ingressClassName') ?? getIn(annotations, 'kubernetes.io/ingress.class');
  const className = isUnseen(named) ? '' : (asText(named) ?? '');
  const annotated = (key: string, secondsIn: (text: string) => number): readonly Timeout[] => {
    const at = getIn(annotations, key);
    if (at === undefined || isUnseen(at)) return [];
    const name = shorten(key.slice(key.indexOf('/') + 1), 40);
    return [{ at, name, seconds: secondsIn(writtenText(at) ?? ''), isTotal: false }];
  };
  if (kind === 'Ingress' && /nginx/.test(className))
    return annotated('nginx.ingress.kubernetes.io/proxy-read-timeout', wholeSeconds);
  if (kind === 'Ingress' && className === 'alb')
    return annotated('alb.ingress.kubernetes.io/load-balancer-attributes', (text) =>
      wholeSeconds(/(?:^|,)\s*idle_timeout\.timeout_seconds=(\d+)/.exec(text)?.[1] ?? ''),
    );
  if (kind === 'Route')
    return annotated('haproxy.router.openshift.io/timeout', (text) => Math.round(hoursIn(text) * 3600));
  const places =
    kind === 'HTTPRoute'
      ? ['request', 'backendRequest'].flatMap((key) => placesAt(root, `spec.rules.*.timeouts.${key}`))
      : kind === 'VirtualService'
        ? placesAt(root, 'spec.http.*.timeout')
        : [];
  return places.flatMap((at): readonly Timeout[] => {
    const text = isUnseen(at) || isForProbes(at, kind) ? undefined : asText(at);
    return [{ at, name: `${keyOf(at)} ${text}`, seconds: Math.round(hoursIn(text) * 3600), isTotal: true }];
  });
}

/** Whether the rule of a timeout is for requests that a server answers at once: `/health`, `/v1/models`, `/v1/embeddings`. */
function isForProbes(timeout: Cursor, kind: string): boolean {
  const rule = kind === 'HTTPRoute' ? timeout.parent?.parent : timeout.parent;
  const matches = getIn(rule, kind === 'HTTPRoute' ? 'matches' : 'match');
  return (
    matches !== undefined &&
    [...textsIn(matches.node)].some((text) =>
      /health|metrics|ready|live|models|embed|rerank|score|tokenize|version/.test(text),
    )
  );
}

function wholeSeconds(text: string): number {
  return /^\d{1,5}$/.test(text) ? Number(text) : 0;
}
