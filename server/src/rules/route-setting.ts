import { hoursIn } from '../evidence/go-duration.ts';
import { backendsOf } from '../evidence/route-backends.ts';
import { placesAt, writtenText } from '../evidence/written.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, isUnseen, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A timeout or a rewrite of an Ingress or a route is ignored, rejected, or sends every request to one path.
 *
 * ## Why
 *
 * ingress-nginx reads its timeouts as whole numbers of seconds: it ignores `600s`, and long answers of a model end after the default of 60 s.
 * `rewrite-target` replaces the whole path: `/` without groups turns `/llm/v1/models` into `/`, and `/$2` without a second group in the path
 * is `/`, too. The server answers 404 and holds its GPUs. Timeouts of an HTTPRoute or a VirtualService have a unit, and `backendRequest` is not
 * longer than `request`; the API server rejects others.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat, annotations: {note: for GPUs}}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 80, targetPort: 8000}]
 * ---
 * apiVersion: networking.k8s.io/v1
 * kind: Ingress
 * metadata:
 *   name: gpu-chat
 *   annotations:
 *     nginx.ingress.kubernetes.io/proxy-read-timeout: 600s
 * spec:
 *   ingressClassName: nginx
 *   defaultBackend: {service: {name: chat, port: {number: 80}}}
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Service
 * metadata: {name: chat, annotations: {note: for GPUs}}
 * spec:
 *   selector: {app: chat}
 *   ports: [{port: 80, targetPort: 8000}]
 * ---
 * apiVersion: networking.k8s.io/v1
 * kind: Ingress
 * metadata:
 *   name: gpu-chat
 *   annotations:
 *     nginx.ingress.kubernetes.io/proxy-read-timeout: "600"
 * spec:
 *   ingressClassName: nginx
 *   defaultBackend: {service: {name: chat, port: {number: 80}}}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: requests last longer than before.
 *
 * ## When it is silent
 *
 * For an Ingress of another class, for rewrites to `/` in front of servers that gpulint does not know, which may have no other path, and for templates.
 *
 * ## Sources
 *
 * - [ingress-nginx: timeouts](https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#custom-timeouts)
 * - [ingress-nginx#11726](https://github.com/kubernetes/ingress-nginx/issues/11726)
 * - [ingress-nginx: rewrite](https://kubernetes.github.io/ingress-nginx/examples/rewrite/)
 * - [Gateway API: timeouts of an HTTPRoute](https://gateway-api.sigs.k8s.io/api-types/httproute/#timeouts-optional)
 * - [Istio: VirtualService](https://istio.io/latest/docs/reference/config/networking/virtual-service/#HTTPRoute)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  manifest(manifest, context) {
    const { kind, root } = manifest;
    if (kind === 'Ingress') checkIngress(manifest, context);
    else if (kind === 'HTTPRoute')
      for (const timeouts of placesAt(root, 'spec.rules.*.timeouts')) checkTimeouts(timeouts, context);
    else if (kind === 'VirtualService')
      for (const at of placesAt(root, 'spec.http.*.timeout')) hours(at, kind, context);
  },
});

const prefix = 'nginx.ingress.kubernetes.io/';

function checkIngress({ root, namespace }: Manifest, { crossReferences, document, report }: RuleContext): void {
  const annotations = getIn(root, 'metadata', 'annotations');
  const named = getIn(root, 'spec', 'ingressClassName') ?? getIn(annotations, 'kubernetes.io/ingress.class');
  if (named !== undefined && !/nginx/.test(asText(named) ?? '')) return;
  for (const what of ['connect', 'send', 'read']) {
    const at = getIn(annotations, `${prefix}proxy-${what}-timeout`);
    const written = writtenText(at) ?? '';
    if (at === undefined || !/^\d{1,6}[hms]$/.test(written)) continue;
    const seconds = `${Math.round(hoursIn(written) * 3600)}`;
    report({
      message: `proxy-${what}-timeout must be a number of seconds, not ${written}: ingress-nginx ignores it, and its default of ${what === 'connect' ? 5 : 60} s applies`,
      span: spanOf(at),
      fixes: () => [fix(`Change to ${seconds}`, 'unsafe', replaceScalar(document, at, seconds))],
    });
  }
  const at = getIn(annotations, `${prefix}rewrite-target`);
  const target = isUnseen(at) ? undefined : asText(at);
  const paths = placesAt(root, 'spec.rules.*.http.paths.*');
  if (at === undefined || target === undefined || paths.some((one) => isUnseen(getIn(one, 'path')))) return;
  const wanted = Math.max(0, ...[...target.matchAll(/\$(\d)/g)].map(([, group]) => Number(group)));
  if (wanted === 0 && target !== '/') return;
  const knowsServer = () =>
    backendsOf('Ingress', root).some(({ name }) => {
      const selects = crossReferences.service(namespace, name)?.facts.selects;
      return selects && crossReferences.keptRunning(namespace, selects).some(({ facts }) => facts.server !== null);
    });
  for (const one of paths) {
    const path = asText(getIn(one, 'path')) ?? '/';
    if (path.split('(').length > wanted + (wanted === 0 ? 1 : 0)) continue;
    if (wanted === 0 && (path === '/' || asText(getIn(one, 'pathType')) === 'Exact' || !knowsServer())) continue;
    const groups = wanted === 0 ? 'groups' : `group ${wanted}`;
    report({
      message: `rewrite-target ${shorten(target, 20)} without ${groups} in path ${shorten(path, 20)} turns every request into ${shorten(target.replace(/\$\d/g, ''), 16)}: the server does not get its path`,
      span: spanOf(at),
    });
    return;
  }
}

function checkTimeouts(timeouts: Cursor, context: RuleContext): void {
  const [request, backend] = ['request', 'backendRequest'].map((key) => {
    const at = getIn(timeouts, key);
    return at && { at, value: hours(at, 'HTTPRoute', context) };
  });
  if (!request?.value || !backend?.value || backend.value <= request.value) return;
  context.report({
    severity: 'error',
    message: `backendRequest (${asText(backend.at)}) must not be longer than request (${asText(request.at)}): the API server rejects the HTTPRoute`,
    span: spanOf(backend.at),
  });
}

/** The length of a duration. Reports a number without a unit. */
function hours(at: Cursor, kind: string, { document, report }: RuleContext): number {
  const written = isUnseen(at) ? '' : (asText(at) ?? '');
  if (/^[1-9]\d{0,5}$/.test(written))
    report({
      severity: 'error',
      message: `${String(at.step)} needs a unit, such as ${written}s: the API server rejects the ${kind}`,
      span: spanOf(at),
      fixes: () => [fix(`Change to ${written}s`, 'unsafe', replaceScalar(document, at, `${written}s`))],
    });
  return hoursIn(written);
}
