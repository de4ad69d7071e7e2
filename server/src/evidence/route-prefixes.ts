import { titleOf } from '../catalog/program-records.ts';
import { partOf, wordSet } from '../catalog/word-patterns.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import type { ServerFacts } from '../model/workload-facts.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import type { RouteMistake } from './route-paths.ts';
import { isUnknown, placesAt, writtenText } from './written.ts';

/** A path that a route sends to Services as it is. */
interface PlainPath {
  readonly at: Cursor;
  readonly path: string;
  readonly services: readonly { readonly name: string; readonly namespace: string | undefined }[];
}

/**
 * The first path of a route that its GPU server in the same file does not have, because nothing removes the prefix by which the route
 * knows the server.
 */
export function prefixMistake(manifest: Manifest, references: CrossReferences): RouteMistake | undefined {
  for (const { at, path, services } of readers.get(manifest.kind)?.(manifest.root) ?? []) {
    const [, first] = /^\/([\w.-]+)(?:\/|$)/.exec(path) ?? [];
    if (first === undefined || known.has(first.toLowerCase()) || /^v\d/.test(first)) continue;
    const servers = services.map(({ name, namespace }) => serverOf(namespace ?? manifest.namespace, name, references));
    const [server] = servers;
    if (!server || servers.some((one) => !one || one.hasPrefix || !ofApi.has(one.program))) continue;
    const message = `Requests to ${shorten(path, 30)} arrive at ${titleOf(server.program)} with this prefix, which it does not have: without a rewrite, it answers 404`;
    return { at, message };
  }
  return undefined;
}

function serverOf(namespace: string | null, name: string, references: CrossReferences): ServerFacts | null {
  const service = references.service(namespace, name);
  const selects = service?.file === null ? service.facts.selects : null;
  const [pods, ...others] = selects === null ? [] : references.keptRunning(namespace, selects);
  const isOwn = pods?.file === null && others.length === 0 && (pods.facts.devices ?? 0) > 0;
  return isOwn ? pods.facts.server : null;
}

/** Servers without pages of their own, whose paths are known. */
const ofApi = wordSet('vllm sglang text-generation-launcher text-embeddings-router ollama llama-server trtllm-serve');

/** The first parts of paths that one of these servers has. */
const known = wordSet(
  'api health healthz health_generate live livez ready readyz ping metrics version load docs redoc openapi.json',
  'tokenize detokenize invocations score rerank pooling classify embed embed_all embed_sparse embedding embeddings',
  'similarity predict info generate generate_stream chat chat_tokenize completion completions infill props slots',
  'lora-adapters models model_info get_model_info server_info get_server_info encode vertex_generate inference',
  'apply-template prometheus perf_metrics ui static assets index.html favicon.ico tools .well-known robots.txt',
  // For operators: https://docs.vllm.ai/en/latest/features/sleep_mode/ https://docs.sglang.io/advanced_features/sglang_for_rl.html
  'sleep wake_up is_sleeping pause resume is_paused reset_prefix_cache reset_mm_cache reset_encoder_cache collective_rpc',
  'start_profile stop_profile scale_elastic_ep is_scaling_elastic_ep init_weight_transfer_engine realtime',
  'flush_cache abort_request pause_generation continue_generation release_memory_occupation resume_memory_occupation',
  'update_weights_from_disk update_weights_from_tensor load_lora_adapter unload_lora_adapter get_load set_internal_state',
);

const readers: ReadonlyMap<string, (root: Cursor) => readonly PlainPath[]> = new Map([
  ['Ingress', ingressPaths],
  ['HTTPRoute', gatewayPaths],
  ['VirtualService', istioPaths],
  ['IngressRoute', traefikPaths],
]);

/** Annotations by which controllers change paths, in their own ways. */
const changes = partOf(
  'rewrite strip middleware snippet prefix transform plugin regex filter lua backend-path override config-backend',
);

/** Whether annotations may change paths, as `rule-type: PathPrefixStrip` of the first Traefik does. */
function mayChangePaths(root: Cursor): boolean {
  const annotations = getIn(root, 'metadata', 'annotations');
  if (isIncomplete(annotations)) return true;
  return entries(annotations).some((one) => changes.test(keyOf(one)) || /strip/i.test(asText(one) ?? ''));
}

function ingressPaths(root: Cursor): readonly PlainPath[] {
  if (mayChangePaths(root)) return [];
  return placesAt(root, 'spec.rules.*.http.paths.*').flatMap((one) =>
    plainPath(getIn(one, 'path'), [service(getIn(one, 'backend', 'service', 'name'))]),
  );
}

function gatewayPaths(root: Cursor): readonly PlainPath[] {
  if (mayChangePaths(root)) return [];
  return placesAt(root, 'spec.rules.*').flatMap((rule) => {
    const refs = placesAt(rule, 'backendRefs.*');
    const isChanged = [rule, ...refs].some((one) => isIncomplete(one) || getIn(one, 'filters') !== undefined);
    const isService = refs.every((ref) => /^(?:Service)?$/.test(asText(getIn(ref, 'kind')) ?? ''));
    if (isChanged || !isService) return [];
    const services = refs.map((ref) => service(getIn(ref, 'name'), getIn(ref, 'namespace')));
    return placesAt(rule, 'matches.*.path')
      .filter((path) => asText(getIn(path, 'type')) !== 'RegularExpression')
      .flatMap((path) => plainPath(getIn(path, 'value'), services));
  });
}

function istioPaths(root: Cursor): readonly PlainPath[] {
  return placesAt(root, 'spec.http.*').flatMap((rule) => {
    const others = ['rewrite', 'redirect', 'delegate', 'directResponse', 'fault'].some(
      (key) => getIn(rule, key) !== undefined,
    );
    if (others || isIncomplete(rule)) return [];
    const services = placesAt(rule, 'route.*.destination.host').map((host) => {
      const [name, namespace] = (writtenText(host) ?? '').split('.');
      return name ? { name, namespace } : undefined;
    });
    return ['prefix', 'exact'].flatMap((key) =>
      placesAt(rule, `match.*.uri.${key}`).flatMap((at) => plainPath(at, services)),
    );
  });
}

function traefikPaths(root: Cursor): readonly PlainPath[] {
  return placesAt(root, 'spec.routes.*').flatMap((route) => {
    const at = getIn(route, 'match');
    const [, path, ...others] = /(?<!!\s*\(?)PathPrefix\(`([^`]+)`\)(.*PathPrefix)?/.exec(writtenText(at) ?? '') ?? [];
    if (at === undefined || path === undefined || others.some((one) => one !== undefined)) return [];
    if (isIncomplete(route) || getIn(route, 'middlewares') !== undefined) return [];
    const services = placesAt(route, 'services.*').map((one) =>
      (asText(getIn(one, 'kind')) ?? 'Service') === 'Service'
        ? service(getIn(one, 'name'), getIn(one, 'namespace'))
        : undefined,
    );
    return withServices(at, path, services);
  });
}

function service(name: Cursor | undefined, namespace?: Cursor) {
  if (name === undefined || isUnknown(name) || (namespace !== undefined && isUnknown(namespace))) return undefined;
  return { name: asText(name) ?? '', namespace: asText(namespace) };
}

function plainPath(at: Cursor | undefined, services: readonly (PlainPath['services'][number] | undefined)[]) {
  const path = writtenText(at);
  return at === undefined || path === undefined ? [] : withServices(at, path, services);
}

/** The path, if all its Services are known. */
function withServices(
  at: Cursor,
  path: string,
  services: readonly (PlainPath['services'][number] | undefined)[],
): readonly PlainPath[] {
  const named = services.flatMap((one) => one ?? []);
  return named.length === 0 || named.length < services.length ? [] : [{ at, path, services: named }];
}
