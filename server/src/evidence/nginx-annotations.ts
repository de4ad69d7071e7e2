import { oneOf, partOf, wordSet } from '../catalog/word-patterns.ts';

/** Classes of controllers that do not read the annotations of ingress-nginx. */
export const otherClass = new RegExp(
  `^(?:${oneOf('gce gce-internal alb traefik istio cilium kong haproxy contour azure/application-gateway azure-application-gateway')})$`,
);

/** Parts of the names of annotations about requests. */
export const ofRequests = partOf('timeout body-size buffering rewrite-target rate-limit');

/** https://github.com/kubernetes/ingress-nginx/blob/main/docs/user-guide/nginx-configuration/annotations.md */
export const knownAnnotations = wordSet(
  'proxy-connect-timeout proxy-send-timeout proxy-read-timeout proxy-next-upstream-timeout auth-keepalive-timeout',
  'upstream-fail-timeout proxy-body-size proxy-buffering proxy-request-buffering rewrite-target',
  'global-rate-limit global-rate-limit-window global-rate-limit-key global-rate-limit-ignored-cidrs',
);

/** Parts of names, and the annotation that is meant. */
export const meantAnnotations: readonly (readonly [string, string])[] = [
  ['read', 'proxy-read-timeout'],
  ['send', 'proxy-send-timeout'],
  ['connect', 'proxy-connect-timeout'],
  ['body-size', 'proxy-body-size'],
  ['rate-limit', 'limit-rps'],
  ['request-buffering', 'proxy-request-buffering'],
  ['buffering', 'proxy-buffering'],
  ['timeout', 'proxy-read-timeout'],
];
