import { lowerCount } from '../model/pod.ts';
import { asNumber, asText, type Cursor, getIn, isIncomplete, isTemplated, items, rootCursor } from '../yaml/cursor.ts';
import { documentsInBlock } from '../yaml/embedded.ts';
import type { YamlDocument } from '../yaml/node.ts';

/** The applications of Ray Serve in the text of a RayService. */
export function serveApplications(root: Cursor, document: YamlDocument): readonly Cursor[] {
  const config = getIn(root, 'spec', 'serveConfigV2');
  if (config?.node.kind !== 'scalar') return [];
  return documentsInBlock(document, config.node).flatMap((block) => items(getIn(rootCursor(block), 'applications')));
}

/** The deployments of Ray Serve in the text of a RayService, except those with placement groups. */
export function serveDeployments(root: Cursor, document: YamlDocument): readonly Cursor[] {
  return serveApplications(root, document)
    .flatMap((app) => items(getIn(app, 'deployments')))
    .filter((deployment) => getIn(deployment, 'placement_group_bundles') === undefined);
}

/** The models of Ray Serve LLM. https://docs.ray.io/en/latest/serve/llm/index.html */
export function llmConfigs(root: Cursor, document: YamlDocument): readonly Cursor[] {
  return serveApplications(root, document).flatMap((app) => items(getIn(app, 'args', 'llm_configs')));
}

/** The GPUs of one replica of such a model, and the field that says so; undefined if something else decides them. */
export function llmGpus(config: Cursor): { readonly at: Cursor; readonly gpus: number } | undefined {
  const settings = getIn(config, 'engine_kwargs');
  const isOther = ['placement_group_config', 'resources_per_bundle'].some((key) => getIn(config, key) !== undefined);
  if (isOther || isIncomplete(config) || isIncomplete(settings)) return undefined;
  const sizes = ['tensor', 'pipeline'].map((kind) => getIn(settings, `${kind}_parallel_size`));
  const [tensor, pipeline] = sizes.map((size) => lowerCount(size, 1));
  const at = sizes.find((size) => size !== undefined);
  return at === undefined || tensor == null || pipeline == null ? undefined : { at, gpus: tensor * pipeline };
}

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
