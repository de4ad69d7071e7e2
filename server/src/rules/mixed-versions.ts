import { imageParts } from '../catalog/images.ts';
import { spansPods } from '../evidence/gpu-assignment.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { kindOf } from '../model/kinds/index.ts';
import { fix } from '../rewrite/fix.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';
import { asText, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * Pods that work together run different versions of one image.
 *
 * ## Why
 *
 * The pods of a Ray cluster, of a group that serves one model, or of a distributed job exchange data in formats that change from version to
 * version. Ray compares its version and that of Python when a worker joins, and the worker exits if they differ: the cluster has its head,
 * and its GPU workers keep restarting. KubeRay learns the version of Ray only from `rayVersion`: another one there is information.
 *
 * ```yaml invalid
 * apiVersion: ray.io/v1
 * kind: RayCluster
 * metadata:
 *   name: tune
 * spec:
 *   headGroupSpec:
 *     rayStartParams: {}
 *     template:
 *       spec:
 *         containers:
 *           - {name: head, image: "rayproject/ray:2.44.0"}
 *   workerGroupSpecs:
 *     - groupName: gpu
 *       replicas: 1
 *       rayStartParams: {}
 *       template:
 *         spec:
 *           containers:
 *             - {name: worker, image: "rayproject/ray:2.46.0-gpu", resources: {limits: {nvidia.com/gpu: 1}}}
 * ```
 *
 * ```yaml valid
 * apiVersion: ray.io/v1
 * kind: RayCluster
 * metadata:
 *   name: tune
 * spec:
 *   headGroupSpec:
 *     rayStartParams: {}
 *     template:
 *       spec:
 *         containers:
 *           - {name: head, image: "rayproject/ray:2.46.0"}
 *   workerGroupSpecs:
 *     - groupName: gpu
 *       replicas: 1
 *       rayStartParams: {}
 *       template:
 *         spec:
 *           containers:
 *             - {name: worker, image: "rayproject/ray:2.46.0-gpu", resources: {limits: {nvidia.com/gpu: 1}}}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the operator may start Ray with other options.
 *
 * ## When it is silent
 *
 * For images of different repositories, for official images of languages and systems (`python`), for tags without a version, for templates, and for pods that do not work together.
 *
 * ## Sources
 *
 * - [Ray: check_version_info](https://github.com/ray-project/ray/blob/master/python/ray/_private/node.py)
 * - [KubeRay: rayVersion](https://github.com/ray-project/kuberay/blob/master/docs/reference/api.md)
 * - [KubeRay: Ray and Python versions](https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  workload(workload, { document, report }) {
    const { rayCluster, gang } = kindOf(workload);
    // Only Ray's images are compared with a field.
    if (workload.partial || (workload.podSets.length < 2 && rayCluster === undefined)) return;
    if (!requestsAccelerators(workload) || !(spansPods(workload) || gang !== undefined)) return;
    const first = new Map<string, Version>();
    for (const { containers } of workload.podSets) {
      const [main] = containers.filter(({ type }) => type === 'app');
      const own = main?.image && versionOf(main.image);
      if (own === undefined) continue;
      const other = first.get(own.family);
      if (other === undefined) first.set(own.family, own);
      const differs =
        other !== undefined &&
        (!isSameVersion(other.number, own.number) || (other.python ?? own.python) !== (own.python ?? other.python));
      if (!differs) continue;
      const isRay = rayCluster !== undefined && own.family === ray;
      report({
        severity: isRay ? 'error' : 'warning',
        message: `${shorten(own.family, 28)} is ${own.tag} here and ${other.tag} in other pods of the ${workload.kind}: ${isRay ? 'Ray rejects workers of another version' : 'they may be incompatible'}`,
        span: spanOf(own.at),
      });
      return;
    }
    const written = getIn(rayCluster?.(workload.manifest.root), 'rayVersion');
    const image = first.get(ray);
    if (written !== undefined && image !== undefined) checkRayVersion(written, image, document, report);
  },
});

/** Reports a `rayVersion` of another release than Ray's own images. Patch releases have the same features. */
function checkRayVersion(
  at: Cursor,
  { number }: Version,
  document: YamlDocument,
  report: WorkloadContext['report'],
): void {
  const version = asText(at) ?? '';
  if (isTemplated(at) || !/^\d+\.\d+(?:\.\d+)?$/.test(version) || releaseOf(version) === releaseOf(number)) return;
  report({
    severity: 'info',
    message: `rayVersion is ${version}, but the images have Ray ${number}: KubeRay chooses commands and features by rayVersion`,
    span: spanOf(at),
    fixes: () => [fix(`Set rayVersion to ${number}`, 'unsafe', replaceScalar(document, at, number))],
  });
}

function releaseOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

interface Version {
  readonly family: string;
  readonly tag: string;
  readonly number: string;
  /** Of Ray's images: `py310`. */
  readonly python: string | undefined;
  readonly at: Located<string>['at'];
}

const ray = 'rayproject/ray';

/** A tag may omit the last part: 2.46 and 2.46.0. */
function isSameVersion(one: string, other: string): boolean {
  return one === other || `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`);
}

function versionOf({ value, at }: Located<string>): Version | undefined {
  const { repository, tag = '' } = imageParts(value);
  const number = /^v?(\d+\.\d+(?:\.\d+)?)/.exec(tag)?.[1];
  // The official images of languages and systems (`python`) are only what other programs run in.
  if (number === undefined || isTemplated(at) || /^(?:docker\.io\/)?(?:library\/)?[^/]+$/.test(repository))
    return undefined;
  const isRay = /(?:^|\/)rayproject\/ray(?:-ml|-llm)?$/.test(repository);
  const python = isRay ? /-(py3\d+)/.exec(tag)?.[1] : undefined;
  return { family: isRay ? ray : repository, tag: shorten(tag, 16), number, python, at };
}
