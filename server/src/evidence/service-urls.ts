import { wordSet } from '../catalog/word-patterns.ts';
import type { CrossReferences, Referenced, ServiceFacts } from '../model/cross-references.ts';
import type { Container, Manifest } from '../model/workload.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf, type Located } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';

/** An address whose host may be a Service of the cluster. */
export interface ServiceUrl {
  readonly at: Cursor;
  readonly span: Span;
  /** What has the address, for messages: a variable, a key or a command line. */
  readonly where: string;
  readonly scheme: string;
  readonly service: string;
  readonly isLoopback: boolean;
  /** undefined: that of the pod. */
  readonly namespace: string | undefined;
  /** undefined: the default of the scheme or of the client. */
  readonly port: string | undefined;
  readonly path: string;
  /** The settings of LiteLLM in which the address is; undefined elsewhere. */
  readonly provider: string | undefined;
  /** The whole value is the address. */
  readonly isValue: boolean;
}

/** The addresses with a scheme in the variables and on the command line of a container. */
export function serviceUrls({ env, command, args }: Container, document: YamlDocument): readonly ServiceUrl[] {
  const inEnv = env.flatMap(({ name, value }) =>
    value === undefined || isIdentity.test(name.toLowerCase()) ? [] : urlsIn(value, name, document),
  );
  return [...inEnv, ...[...command, ...args].flatMap((one) => urlsIn(one, 'The command line', document))];
}

/** The addresses in the files and values of a ConfigMap. */
export function configMapUrls({ root, document }: Manifest): readonly ServiceUrl[] {
  return entries(getIn(root, 'data')).flatMap((at) => {
    const value = asText(at);
    if (value === undefined || isIdentity.test(keyOf(at).toLowerCase())) return [];
    return [...urlsIn({ value, at }, keyOf(at), document), ...targetsIn({ value, at }, document)];
  });
}

/** The addresses without a scheme in the settings of Prometheus: https://prometheus.io/docs/prometheus/latest/configuration/configuration/#static_config */
function targetsIn(scalar: Located<string>, document: YamlDocument): readonly ServiceUrl[] {
  const { value, at } = scalar;
  if (!value.includes('static_configs:') || isTemplated(at)) return [];
  const blocks = [...value.matchAll(/^[ \t-]*targets:(?: *\[[^\]]{0,2000}|(?:\n[ \t]*- [^\n]{0,200}){0,50})/gm)];
  return blocks.slice(0, maxUrls).flatMap(({ 0: block, index }) =>
    [...block.matchAll(/(?<=[\s"',[])([a-z\d][a-z\d.-]{0,200}):(\d{1,5})(?=["',\]\s]|$)/g)].flatMap((found) => {
      const [text, host = '', port] = found;
      const [service = '', namespace, ...rest] = host.split('.');
      if (!/^(?:|svc|svc\.cluster\.local)$/.test(rest.join('.')) || isPublic(namespace, 'http', port)) return [];
      const start = index + found.index;
      const span = spanInScalar(document, scalar, { start, end: start + text.length });
      const isLoopback = service === 'localhost';
      const fixed = { scheme: 'http', path: '/metrics', isValue: false, provider: undefined };
      return [{ at, span, where: 'targets', service, namespace, port, isLoopback, ...fixed }];
    }),
  );
}

/**
 * The Service of an address, with its namespace.
 * @param home the namespace of the client; null if the file names none, which is mostly `default`
 */
export function calledService(
  { namespace, service }: ServiceUrl,
  home: string | null,
  others: CrossReferences,
): (Referenced<ServiceFacts> & { readonly namespace: string | null }) | undefined {
  for (const one of home === null && namespace === 'default' ? [null, namespace] : [namespace ?? home]) {
    const found = others.service(one, service);
    if (found !== undefined) return { ...found, namespace: one };
  }
  return undefined;
}

/** Addresses that are compared or shown to browsers, and not called: `CORS_ALLOWED_ORIGINS`, `NEXT_PUBLIC_API`. */
const isIdentity = /cors|origin|issuer|audience|public|external|redirect|callback/;

/** At most so many addresses of a text are looked at. */
const maxUrls = 50;

function urlsIn(scalar: Located<string>, where: string, document: YamlDocument): readonly ServiceUrl[] {
  const { value, at } = scalar;
  if (!value.includes('://') || isTemplated(at)) return [];
  const found: ServiceUrl[] = [];
  let from = 0;
  for (let count = 0; count < maxUrls; count += 1) {
    const mark = value.indexOf('://', from);
    if (mark < 0) break;
    const line = value.lastIndexOf('\n', mark) + 1;
    const [scheme = ''] = /[a-z]{2,10}$/.exec(value.slice(Math.max(line, mark - 10), mark)) ?? [];
    const start = mark - scheme.length;
    const before = value.slice(Math.max(line, start - 200), start);
    url.lastIndex = mark + 3;
    const [text = '', host = '', port, path = ''] = url.exec(value) ?? [];
    from = mark + 3 + text.length;
    if (scheme === '' || text === '' || /^\s*(?:#|\/\/)/.test(before) || isIdentity.test(before.toLowerCase()))
      continue;
    const [service = '', namespace, ...rest] = host.split('.');
    const isLoopback = host === 'localhost' || host === '127.0.0.1';
    const isHere =
      isLoopback || rest.length === 0 || rest.join('.') === 'svc' || rest.join('.') === 'svc.cluster.local';
    if (!isHere || (rest.length === 0 && isPublic(namespace, scheme, port))) continue;
    // A name that nginx gives to a group of servers.
    if (value.includes(`upstream ${service} `)) continue;
    const isValue = start === 0 && from === value.length;
    const provider = before.endsWith(' ') && /\bapi_base: $/.test(before) ? providerIn(value, start) : undefined;
    const name = /([\w.-]{1,60})["']?\s{0,4}[:=]\s{0,4}["']?$/.exec(before)?.[1];
    found.push({
      at,
      span: spanInScalar(document, scalar, { start, end: from }),
      where: shorten(name ?? where, 30),
      ...(isLoopback ? { service: 'localhost', namespace: undefined } : { service, namespace }),
      ...{ scheme, port, path, isLoopback, isValue, provider },
    });
  }
  return found;
}

/** The provider of the model to which an address of LiteLLM's config belongs: `openai` of `openai/qwen`. */
function providerIn(value: string, at: number): string | undefined {
  const start = value.lastIndexOf('litellm_params', at);
  if (start < 0 || at - start > 1000) return undefined;
  const next = value.indexOf('model_name', at);
  const params = value.slice(start, Math.min(next < 0 ? value.length : next, at + 1000));
  return /\bmodel: ["']?([a-z_]{1,30})\//.exec(params)?.[1];
}

/** Whether a name with one dot may be one of the internet or of a local network: `https://ollama.com`. */
function isPublic(domain: string | undefined, scheme: string, port: string | undefined): boolean {
  if (domain === undefined) return false;
  return domains.has(domain) || (port === undefined && (scheme === 'https' || domainsOrNamespaces.has(domain)));
}

const domains = wordSet('com org net local lan internal home localdomain');
const domainsOrNamespaces = wordSet('ai app cloud co dev edu gov info io me sh so tech test xyz cn de eu fr jp uk us');

/** What follows the scheme, up to the end of the address. A variable makes it unknown. */
const url =
  /([a-z\d][a-z\d-]{0,62}(?:\.[a-z\d-]{1,63}){0,4})(?::(\d{1,5}))?(\/[^\s"'`,;|&)\]}<>\\]{0,300})?(?![\w.@:${-])/y;
