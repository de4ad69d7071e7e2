import { nearest } from '../catalog/spelling.ts';
import { laterCommand } from '../evidence/ray-entrypoint.ts';
import { isSet, isUnknown, writtenNumber } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A RayJob or RayService that KubeRay rejects or does not run in its cluster, or a Ray pod whose start command is invalid.
 *
 * ## Why
 *
 * KubeRay checks objects that the API server has accepted. It sets the status of an invalid RayJob or RayService and starts no cluster: a
 * `ttlSecondsAfterFinished` and `suspend` need `shutdownAfterJobFinishes: true`, and both kinds need the spec of a cluster.
 * With a misspelled `submissionMode`, it starts the cluster and never submits the job.
 *
 * ```yaml invalid
 * apiVersion: ray.io/v1
 * kind: RayJob
 * metadata:
 *   name: tune
 * spec:
 *   entrypoint: python tune.py
 *   shutdownAfterJobFinishes: false
 *   ttlSecondsAfterFinished: 600
 *   clusterSelector:
 *     ray.io/cluster: gpus
 * ```
 *
 * ```yaml valid
 * apiVersion: ray.io/v1
 * kind: RayJob
 * metadata:
 *   name: tune
 * spec:
 *   entrypoint: python tune.py
 *   shutdownAfterJobFinishes: false
 *   clusterSelector:
 *     ray.io/cluster: gpus
 * ```
 *
 * KubeRay writes the `entrypoint` of a RayJob into the shell line of the submitter pod, after `ray job submit --`: if it is `pip install … &&
 * python train.py`, the cluster only installs, and the training starts in the submitter, which has no GPU. `bash -c '…'` makes it one command.
 *
 * KubeRay also writes `rayStartParams` into a shell's command line. Unless the JSON in `resources` is quoted for the shell, the shell removes its
 * quotes, and `ray start` exits.
 *
 * ## Fix safety
 *
 * Unsafe: the cluster is deleted when the job ends, the job starts, or the cluster runs more of it. Safe: quotes for the shell.
 *
 * ## When it is silent
 *
 * For templated fields, for patches, which do not repeat what the object has, and for entrypoints of jobs that are submitted by HTTP. The severity is
 * warning for entrypoints, which releases before 1.3 pass on as a whole, and for `ttlSecondsAfterFinished`, which releases before June 2025 ignore.
 *
 * ## Sources
 *
 * - [ray-project/kuberay#3653](https://github.com/ray-project/kuberay/pull/3653)
 * - [ray-project/kuberay#1984](https://github.com/ray-project/kuberay/issues/1984)
 * - [ray-project/kuberay#3802](https://github.com/ray-project/kuberay/issues/3802)
 * - [KubeRay: validation](https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/utils/validation.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  podSet({ pod, accelerators }, { document, report }) {
    const resources = getIn(pod.parent?.parent, 'rayStartParams', 'resources');
    const text = asText(resources) ?? '';
    // KubeRay adds the quotes where it adds TPUs or Neuron devices itself.
    const isQuoted =
      !isUnquotedJson(text) || accelerators.some(({ requested: by }) => by.kind !== 'resource' || rays.has(by.name));
    if (resources === undefined || isTemplated(resources) || isQuoted) return;
    report({
      message: `The shell changes ${shorten(text.trim(), 40)}: ray start rejects it, and the pod restarts; put it in single quotes for the shell`,
      span: spanOf(resources),
      fixes: () => [
        fix(
          'Quote the JSON for the shell',
          'safe',
          replaceScalar(document, resources, `'${text.trim().replaceAll('\\"', '"')}'`),
        ),
      ],
    });
  },
  manifest({ root, kind, apiVersion, isPatch }, context) {
    if ((kind !== 'RayJob' && kind !== 'RayService') || groupOf(apiVersion) !== 'ray.io') return;
    const spec = getIn(root, 'spec');
    if (spec === undefined || spec.node.kind !== 'map' || isIncomplete(spec) || isPatch === true) return;
    if (kind === 'RayJob') {
      checkShutdown(spec, context);
      checkMode(spec, context);
      checkEntrypoint(spec, context);
    }
    // api-field reports a misspelled one.
    if (entries(spec).some((field) => /cluster/i.test(keyOf(field)) && !/deletion/i.test(keyOf(field)))) return;
    // A patch may leave it out.
    const runs = kind === 'RayJob' ? 'entrypoint' : 'serveConfigV2';
    if (!isSet(getIn(spec, runs))) return;
    const needs = kind === 'RayJob' ? 'neither rayClusterSpec nor clusterSelector' : 'no rayClusterConfig';
    context.report({
      message: `spec has ${needs}: KubeRay rejects the ${kind} and starts no cluster`,
      span: keySpanOf(spec),
    });
  },
});

const rays: ReadonlySet<string> = new Set(['google.com/tpu', 'aws.amazon.com/neuroncore']);

/**
 * Whether a text is JSON that a shell changes: it removes quotes, and divides JSON with escaped quotes at spaces and commas (words in braces).
 */
function isUnquotedJson(text: string): boolean {
  const json = text.trim();
  if (!json.startsWith('{') || !json.endsWith('}') || !json.includes('"') || json.includes("'")) return false;
  const escaped = json.split('\\"').length - 1;
  return escaped < json.split('"').length - 1 || /[\s,]/.test(json);
}

/** A misspelled mode, which the API server accepts. Newer releases may have more of them. */
function checkMode(spec: Cursor, { report, document }: RuleContext): void {
  const mode = getIn(spec, 'submissionMode');
  const written = asText(mode);
  if (mode === undefined || written === undefined || isUnknown(mode) || modes.includes(written)) return;
  const meant = modes.find((one) => one.toLowerCase() === written.toLowerCase()) ?? nearest(written, modes)[0];
  if (meant === undefined) return;
  report({
    message: `Unknown submissionMode ${shorten(written, 30)}; did you mean ${meant}? KubeRay does not run the job`,
    span: spanOf(mode),
    fixes: () => [fix(`Write ${meant}`, 'unsafe', replaceScalar(document, mode, meant))],
  });
}

/** A submitter pod runs what follows the first command of the entrypoint. */
function checkEntrypoint(spec: Cursor, { report, document }: RuleContext): void {
  const [entrypoint, mode] = [getIn(spec, 'entrypoint'), getIn(spec, 'submissionMode')];
  const text = asText(entrypoint)?.trim();
  if (entrypoint === undefined || text === undefined || isUnknown(entrypoint)) return;
  // A submitter with a command of its own does not get the entrypoint.
  if (getIn(spec, 'submitterPodTemplate', 'spec', 'containers', 0, 'command') !== undefined) return;
  if (isUnknown(mode) || !/^(?:K8sJob|Sidecar)Mode$/.test(asText(mode) ?? 'K8sJobMode')) return;
  const found = laterCommand(text);
  if (found === undefined) return;
  const [first, later] = [shorten(found.first, 20), shorten(found.later, 20)];
  report({
    severity: 'warning',
    message: `The cluster runs only the first command, ${first}: KubeRay leaves ${later} to the submitter pod; put the entrypoint in bash -c '…'`,
    span: spanOf(entrypoint),
    fixes: () =>
      /['\n]/.test(text)
        ? []
        : [fix('Put the entrypoint in bash -c', 'unsafe', replaceScalar(document, entrypoint, `bash -c '${text}'`))],
  });
}

/** https://github.com/ray-project/kuberay/blob/master/ray-operator/apis/ray/v1/rayjob_types.go */
const modes = ['K8sJobMode', 'HTTPMode', 'InteractiveMode', 'SidecarMode'];

/** What KubeRay accepts only for jobs that delete their cluster. */
function checkShutdown(spec: Cursor, { report, document }: RuleContext): void {
  const shutdown = getIn(spec, 'shutdownAfterJobFinishes');
  if (isUnknown(shutdown) || asBoolean(shutdown) === true) return;
  // A patch may leave it out.
  if (shutdown === undefined && !isSet(getIn(spec, 'entrypoint'))) return;
  const fields = [getIn(spec, 'ttlSecondsAfterFinished'), getIn(spec, 'suspend')].filter(
    (field) => isSet(field) && ((writtenNumber(field) ?? 0) > 0 || asBoolean(field) === true),
  );
  for (const field of fields.filter(isSet)) {
    const isNew = keyOf(field) === 'ttlSecondsAfterFinished';
    report({
      severity: isNew ? 'warning' : 'error',
      message: `${keyOf(field)} requires shutdownAfterJobFinishes: true: KubeRay rejects the RayJob${isNew ? '; older releases ignore the field' : ' and does not run it'}`,
      span: keySpanOf(field),
      fixes: () => [
        fix(
          'Set shutdownAfterJobFinishes to true',
          'unsafe',
          setKey(document, spec, 'shutdownAfterJobFinishes', true, { after: 'entrypoint' }),
        ),
      ],
    });
  }
}
