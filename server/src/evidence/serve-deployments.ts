import { lowerCount } from '../model/pod.ts';
import { asNumber, asText, type Cursor, getIn, isTemplated, items, rootCursor } from '../yaml/cursor.ts';
import { documentsInBlock } from '../yaml/embedded.ts';
import type { YamlDocument } from '../yaml/node.ts';

/** The deployments of Ray Serve in the text of a RayService, except those with placement groups. */
export function serveDeployments(root: Cursor, document: YamlDocument): readonly Cursor[] {
  return serveApplications(root, document)
    .flatMap((app) => items(getIn(app, 'deployments')))
    .filter((deployment) => getIn(deployment, 'placement_group_bundles') === undefined);
}

function serveApplications(root: Cursor, document: YamlDocument): readonly Cursor[] {
  const config = getIn(root, 'spec', 'serveConfigV2');
  if (config?.node.kind !== 'scalar') return [];
  return documentsInBlock(document, config.node).flatMap((block) => items(getIn(rootCursor(block), 'applications')));
}

/** The models of Ray Serve LLM. https://docs.ray.io/en/latest/serve/llm/index.html */
export function llmConfigs(root: Cursor, document: YamlDocument): readonly Cursor[] {
  return serveApplications(root, document).flatMap((app) => items(getIn(app, 'args', 'llm_configs')));
}

/** The engine of a model of Ray Serve LLM. Each of its replicas takes a placement group with one GPU for each worker. */
export interface ServeEngine {
  /** The number of GPUs in one pod, or of them in all, as written. */
  readonly at: Cursor;
  readonly field: string;
  /** GPUs of a replica. */
  readonly gpus: number;
  /** The replicas that always run; null if unknown. */
  readonly replicas: number | null;
}

/**
 * The engines of Ray Serve LLM with several GPUs, except those whose bundles are set otherwise.
 * https://docs.ray.io/en/latest/serve/llm/user-guides/cross-node-parallelism.html
 */
export function serveEngines(root: Cursor, document: YamlDocument): readonly ServeEngine[] {
  return llmConfigs(root, document).flatMap((config): readonly ServeEngine[] => {
    const at = getIn(config, 'engine_kwargs', 'tensor_parallel_size');
    const engine = gpusOfModel(config);
    if (at === undefined || engine === undefined) return [];
    const field = engine.pipeline > 1 ? 'tensor_parallel_size × pipeline_parallel_size' : 'tensor_parallel_size';
    const scaled = getIn(config, 'deployment_config');
    const replicas = scaled === undefined ? 1 : leastReplicas(scaled);
    return [{ at, field, gpus: engine.tensor * engine.pipeline, replicas }];
  });
}

/** The GPUs of a replica of a model; undefined if they are unknown or its bundles are set otherwise. */
function gpusOfModel(config: Cursor): { readonly tensor: number; readonly pipeline: number } | undefined {
  const engine = getIn(config, 'engine_kwargs');
  const tensor = lowerCount(getIn(engine, 'tensor_parallel_size'), 1);
  const pipeline = lowerCount(getIn(engine, 'pipeline_parallel_size'), 1);
  const isOther = otherBundles.some((key) => getIn(config, key) !== undefined);
  return tensor === null || pipeline === null || isOther ? undefined : { tensor, pipeline };
}

const otherBundles: readonly string[] = ['placement_group_config', 'resources_per_bundle'];

/** A number of GPUs above 0. */
export function requestedGpus(at: Cursor | undefined): readonly { readonly at: Cursor; readonly gpus: number }[] {
  const gpus = at === undefined || isTemplated(at) ? undefined : asNumber(at);
  return at === undefined || gpus === undefined || !(gpus > 0) || gpus > 1000 ? [] : [{ at, gpus }];
}

/** The replicas of a deployment that always run; null if unknown. */
export function leastReplicas(deployment: Cursor): number | null {
  const scaling = getIn(deployment, 'autoscaling_config');
  if (scaling !== undefined) return lowerCount(getIn(scaling, 'min_replicas'), 1);
  const written = getIn(deployment, 'num_replicas');
  return asText(written) === 'auto' ? 1 : lowerCount(written, 1);
}

/** The GPUs of all deployments when those that scale have grown as far as they may. */
export function mostServeGpus(root: Cursor, document: YamlDocument): number {
  return serveDeployments(root, document).reduce((sum, deployment) => {
    const [actor] = requestedGpus(getIn(deployment, 'ray_actor_options', 'num_gpus'));
    const most = lowerCount(getIn(deployment, 'autoscaling_config', 'max_replicas'), 0);
    return sum + (actor?.gpus ?? 0) * Math.max(most ?? 0, leastReplicas(deployment) ?? 0);
  }, 0);
}

/** The ceiling of a deployment or a model that scales. */
export interface ServeCeiling {
  readonly at: Cursor;
  readonly replicas: number;
  /** The replicas that always run. */
  readonly least: number;
  /** GPUs of a replica. */
  readonly gpus: number;
}

/** The ceilings of the deployments that request GPUs and of the models, each of which takes at least one. */
export function serveCeilings(root: Cursor, document: YamlDocument): readonly ServeCeiling[] {
  const models = llmConfigs(root, document).map((config) => {
    const engine = gpusOfModel(config);
    return { scaled: getIn(config, 'deployment_config'), gpus: engine && engine.tensor * engine.pipeline };
  });
  const actors = serveDeployments(root, document).map((scaled) => {
    const [actor] = requestedGpus(getIn(scaled, 'ray_actor_options', 'num_gpus'));
    return { scaled, gpus: actor?.gpus };
  });
  return [...models, ...actors].flatMap(({ scaled, gpus }) => {
    const at = getIn(scaled, 'autoscaling_config', 'max_replicas');
    const replicas = lowerCount(at, 0);
    const least = scaled === undefined ? null : leastReplicas(scaled);
    const isUnknown = at === undefined || replicas === null || least === null || gpus === undefined;
    return isUnknown ? [] : [{ at, replicas, least, gpus }];
  });
}
