import { hoursIn } from '../evidence/go-duration.ts';
import { type BalancerMistake, ingressBalancerMistakes, serviceBalancerMistakes } from '../evidence/load-balancers.ts';
import { knownAnnotations, meantAnnotations, ofRequests, otherClass } from '../evidence/nginx-annotations.ts';
import { backendsOf } from '../evidence/route-backends.ts';
import {
  httpRouteMistakes,
  ingressMistakes,
  pathReader,
  type RouteMistake,
  sizeForNginx,
} from '../evidence/route-paths.ts';
import { prefixMistake } from '../evidence/route-prefixes.ts';
import { shortTimeouts } from '../evidence/short-timeouts.ts';
import { placesAt, writtenText } from '../evidence/written.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf, lookUp } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isUnseen,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A setting of an Ingress, a route or a load balancer is ignored or rejected, or keeps requests from their server.
 *
 * ## Why
 *
 * ingress-nginx reads its timeouts as whole numbers of seconds: it ignores `600s`, and long answers of a model end after the default of 60 s.
 * Without the setting, they end at the same time, or after 30 s behind Google's load balancer (information). The same applies to timeouts below
 * 60 s of an Ingress, a Route, an HTTPRoute or a VirtualService. `rewrite-target` replaces the whole path: `/` without groups turns
 * `/llm/v1/models` into `/`, and so does `/$2` without a second group in the path. The server answers 404 and holds its GPUs. Controllers
 * ignore the annotations of others, and ingress-nginx those that it does not have (`read-timeout`) or cannot read (`proxy-body-size: 100MB`).
 * Since 1.12, it rejects a regular expression in a path of type Prefix or Exact by default. Other controllers also have no wildcards in them:
 * `/` means all paths. Without an httpGet readinessProbe, GKE's load balancer checks the path `/`, on which vLLM has no page, and sends no
 * requests. AWS's checks `/` unless `healthcheck-path` is set, and a Service of type LoadBalancer the path that its annotations name: pods that
 * answer 404 do not count as healthy. A route with the path `/llm` sends `/llm/v1/models`, unless it rewrites the path: vLLM and others answer
 * 404. AWS's sends requests to node ports by default, which a Service of type ClusterIP does not have (information). Timeouts of an HTTPRoute
 * or a VirtualService have a unit, and `backendRequest` is not longer than `request`; the API server rejects others. Knative, also behind
 * KServe, rejects a timeout above 600 s, unless the cluster sets another maximum (information).
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
 * Unsafe: requests last longer than before, or reach other pods.
 *
 * ## When it is silent
 *
 * For an Ingress of an unknown class, for services of Cloud Run, for servers in other files, for rewrites to `/` in front of servers that gpulint does not know, which may have no other path, and for templates.
 *
 * ## Sources
 *
 * - [ingress-nginx: timeouts](https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#custom-timeouts)
 * - [ingress-nginx: strict-validate-path-type](https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/#strict-validate-path-type)
 * - [ingress-nginx#11726](https://github.com/kubernetes/ingress-nginx/issues/11726)
 * - [AWS Load Balancer Controller#2269](https://github.com/kubernetes-sigs/aws-load-balancer-controller/issues/2269)
 * - [Gateway API: HTTPPathMatch](https://gateway-api.sigs.k8s.io/reference/spec/#httppathmatch)
 * - [GKE: health checks of an Ingress](https://cloud.google.com/kubernetes-engine/docs/concepts/ingress#health_checks)
 * - [AWS Load Balancer Controller: annotations](https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/)
 * - [ingress-nginx: rewrite](https://kubernetes.github.io/ingress-nginx/examples/rewrite/)
 * - [Gateway API: timeouts of an HTTPRoute](https://gateway-api.sigs.k8s.io/api-types/httproute/#timeouts-optional)
 * - [Knative: config-defaults](https://knative.dev/docs/serving/configuration/config-defaults/)
 * - [Istio: VirtualService](https://istio.io/latest/docs/reference/config/networking/virtual-service/#HTTPRoute)
 * - [OpenShift: timeouts of Routes](https://docs.openshift.com/container-platform/4.17/networking/routes/route-configuration.html)
 */
export default defineRule({
  topic: 'network',
  severity: 'warning',
  manifest(manifest, context) {
    const { kind, root } = manifest;
    reportAll([prefixMistake(manifest, context.crossReferences) ?? []].flat(), kind, context);
    reportBalancers(shortTimeouts(manifest, context.crossReferences), context);
    if (kind === 'Ingress') checkIngress(manifest, context);
    else if (kind === 'Service' && manifest.apiVersion === 'v1')
      reportBalancers(serviceBalancerMistakes(manifest, context.crossReferences), context);
    else if (kind === 'HTTPRoute') {
      reportAll(httpRouteMistakes(root), kind, context);
      for (const timeouts of placesAt(root, 'spec.rules.*.timeouts')) checkTimeouts(timeouts, context);
    } else if (kind === 'VirtualService')
      for (const at of placesAt(root, 'spec.http.*.timeout')) hours(at, kind, context);
    else checkRevision(manifest, context);
  },
  podSet(podSet, { workload, ...context }) {
    if (!isValues(workload) || !requestsAccelerators(podSet)) return;
    const ingress = getIn(podSet.pod, 'ingress');
    if (ingress?.node.kind !== 'map' || isIncomplete(ingress)) return;
    for (const block of [ingress, ...entries(ingress)]) if (block.node.kind === 'map') checkBlock(block, context);
  },
});

const prefix = 'nginx.ingress.kubernetes.io/';

/** An Ingress in the values of a chart, in the form of `helm create` or of the common library. */
function checkBlock(block: Cursor, context: RuleContext): void {
  const annotations = getIn(block, 'annotations');
  const classes = [
    ...['className', 'ingressClassName', 'class'].map((key) => getIn(block, key)),
    getIn(annotations, 'kubernetes.io/ingress.class'),
  ].filter((one) => one !== undefined && asText(one) !== '');
  const named = classes.find((one) => one !== undefined);
  if (annotations?.node.kind !== 'map' || asBoolean(getIn(block, 'enabled')) === false) return;
  if (isUnseen(named) || isIncomplete(annotations) || isIncomplete(block)) return;
  checkAnnotations(annotations, asText(named), context);
  if (/nginx/.test(asText(named) ?? 'nginx')) checkValues(annotations, context);
}

function checkIngress(manifest: Manifest, context: RuleContext): void {
  const { root, namespace } = manifest;
  const { crossReferences, report } = context;
  const annotations = getIn(root, 'metadata', 'annotations');
  const [field, annotation] = [
    getIn(root, 'spec', 'ingressClassName'),
    getIn(annotations, 'kubernetes.io/ingress.class'),
  ];
  const named = field ?? annotation;
  if (isUnseen(named) || isIncomplete(annotations)) return;
  if (field !== undefined && annotation !== undefined && !isUnseen(annotation) && asText(field) !== asText(annotation))
    report({
      severity: 'error',
      message: `Annotation kubernetes.io/ingress.class (${shorten(asText(annotation) ?? '', 20)}) must match ingressClassName (${shorten(asText(field) ?? '', 20)}): the API server rejects the Ingress`,
      span: spanOf(annotation),
    });
  checkAnnotations(annotations, asText(named), context);
  reportAll(ingressMistakes(root, pathReader(annotations, asText(named) ?? '')), 'Ingress', context);
  reportBalancers(ingressBalancerMistakes(manifest, asText(named) ?? '', crossReferences), context);
  if (named !== undefined && !/nginx/.test(asText(named) ?? '')) return;
  checkValues(annotations, context);
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

/** Reports timeouts and sizes that ingress-nginx cannot read. */
function checkValues(annotations: Cursor | undefined, context: RuleContext): void {
  const { document, report } = context;
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
  checkSize(getIn(annotations, `${prefix}proxy-body-size`), context);
}

function checkSize(at: Cursor | undefined, { document, report }: RuleContext): void {
  const written = writtenText(at) ?? '';
  const meant = sizeForNginx(written);
  if (at === undefined || meant === undefined) return;
  report({
    message: `proxy-body-size must be a number with k, m or g, not ${written}: ingress-nginx does not accept it, and its default of 1 MB applies`,
    span: spanOf(at),
    fixes: () => [fix(`Change to ${meant}`, 'unsafe', replaceScalar(document, at, meant))],
  });
}

function reportAll(mistakes: readonly RouteMistake[], kind: string, { document, report }: RuleContext): void {
  for (const { at, message, isRejected, meant } of mistakes)
    report({
      ...(isRejected && { severity: 'error' }),
      message: isRejected ? `${message}: the API server rejects the ${kind}` : message,
      span: spanOf(at),
      fixes: () =>
        meant === undefined
          ? []
          : [fix(`Set ${String(at.step)} to ${shorten(meant, 30)}`, 'unsafe', replaceScalar(document, at, meant))],
    });
}

function reportBalancers(mistakes: readonly BalancerMistake[], { document, report }: RuleContext): void {
  for (const { at, message, isInfo, meant } of mistakes)
    report({
      ...(isInfo && { severity: 'info' }),
      message,
      span: spanOf(at),
      fixes: () => (meant === undefined ? [] : [fix(`Check ${meant}`, 'unsafe', replaceScalar(document, at, meant))]),
    });
}

/** Reports annotations about timeouts and the like that no controller of this class has. */
function checkAnnotations(annotations: Cursor | undefined, name: string | undefined, { report }: RuleContext): void {
  for (const at of entries(annotations)) {
    const key = keyOf(at);
    const own = key.slice(prefix.length);
    if (!key.startsWith(prefix) || !ofRequests.test(own)) continue;
    if (name !== undefined && otherClass.test(name)) {
      // Since 3.5, Traefik has a provider that reads many of them, but for the class nginx by default.
      const isTraefik = name === 'traefik';
      report({
        ...(isTraefik && { severity: 'info' }),
        message: `${shorten(own, 30)} is a setting of ingress-nginx: class ${shorten(name, 20)} ignores it${isTraefik ? ' by default' : ''} and applies its own`,
        span: keySpanOf(at),
      });
      return;
    }
    if ((name !== undefined && !/nginx/.test(name)) || knownAnnotations.has(own)) continue;
    const meant = meantAnnotations.find(([word]) => own.includes(word))?.[1];
    report({
      message: `ingress-nginx has no annotation ${shorten(own, 40)} and ignores it${meant === undefined ? '' : `; did you mean ${meant}?`}`,
      span: keySpanOf(at),
    });
  }
}

/** https://knative.dev/docs/serving/configuration/config-defaults/#max-revision-timeout-seconds */
function checkRevision({ apiVersion, kind, root, annotations }: Manifest, { report }: RuleContext): void {
  const key = `${groupOf(apiVersion)}/${kind}`;
  const mode = lookUp(annotations, 'serving.kserve.io/deploymentMode')?.value;
  const isKserve = key === 'serving.kserve.io/InferenceService' && /^(?:Serverless|Knative)?$/.test(mode ?? '');
  if (!isKserve && key !== 'serving.knative.dev/Service') return;
  const at = isKserve
    ? getIn(root, 'spec', 'predictor', 'timeout')
    : getIn(root, 'spec', 'template', 'spec', 'timeoutSeconds');
  const seconds = isUnseen(at) ? undefined : asNumber(at);
  if (at === undefined || seconds === undefined || seconds <= 600 || isOnCloudRun(root)) return;
  report({
    // Who writes such a timeout may have raised the maximum.
    severity: 'info',
    message: `Knative accepts at most 600 s, not ${seconds}, unless max-revision-timeout-seconds is set: it rejects the ${isKserve ? 'Service of the ' : ''}${kind}`,
    span: spanOf(at),
  });
}

/** Cloud Run has the objects of Knative, but its own bounds. https://cloud.google.com/run/docs/configuring/request-timeout */
function isOnCloudRun(root: Cursor): boolean {
  const places = ['metadata.annotations.*', 'metadata.labels.*', 'spec.template.metadata.annotations.*'];
  return [...places, 'spec.template.spec.nodeSelector.*'].some((path) =>
    placesAt(root, path).some((at) => /^(?:run|cloud)\.googleapis\.com\//.test(keyOf(at))),
  );
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
