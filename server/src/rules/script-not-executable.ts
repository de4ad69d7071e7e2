import { requestsAccelerators } from '../model/accelerators.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, getIn, isIncomplete, isTemplated, items, spanOf } from '../yaml/cursor.ts';
import { setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A container starts a script from a ConfigMap or a Secret that nobody may execute.
 *
 * ## Why
 *
 * The files of a ConfigMap or a Secret have the mode 0644 unless `defaultMode` says otherwise. If one of them is the program of a container,
 * the runtime answers "permission denied", and the container never starts. Set the mode, or let a shell read the script.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command: ["/scripts/run.sh"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: scripts
 *           mountPath: /scripts
 *   volumes:
 *     - name: scripts
 *       configMap:
 *         name: scripts
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command: ["/scripts/run.sh"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: scripts
 *           mountPath: /scripts
 *   volumes:
 *     - name: scripts
 *       configMap:
 *         name: scripts
 *         defaultMode: 493
 * ```
 *
 * ## When it is silent
 *
 * If the volume sets a mode, also for a single file, for projected volumes, for templates, and for pods without accelerators.
 *
 * ## Sources
 *
 * - [Kubernetes: ConfigMapVolumeSource](https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/volume/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  container({ command, volumeMounts }, context) {
    const [program] = command;
    if (program === undefined || isTemplated(program.at) || !program.value.startsWith('/')) return;
    if (!requestsAccelerators(context.podSet)) return;
    const mount = volumeMounts.find((one) => holds(one, program.value));
    const source = mount && filesOf(mount.name, context.podSet);
    if (source === undefined || setsMode(source)) return;
    context.report({
      message: `${shorten(program.value, 50)} is not executable, because the volume sets no mode (default 0644): the container never starts`,
      span: spanOf(program.at),
      fixes: () => [
        fix('Set defaultMode to 493 (octal 755)', 'unsafe', setKey(context.document, source, 'defaultMode', 0o755)),
      ],
    });
  },
});

/** Whether a mount has a file in its folder, not in one below it: a ConfigMap has no folders. */
function holds({ mountPath, at }: Container['volumeMounts'][number], file: string): boolean {
  const folder = mountPath.replace(/\/$/, '');
  return getIn(at, 'subPath') === undefined ? file.slice(0, file.lastIndexOf('/')) === folder : file === folder;
}

function filesOf(name: string, { volumes }: PodSet): Cursor | undefined {
  const at = volumes.find((one) => one.name === name)?.at;
  return getIn(at, 'configMap') ?? getIn(at, 'secret');
}

function setsMode(source: Cursor): boolean {
  if (isIncomplete(source) || source.node.kind !== 'map' || getIn(source, 'defaultMode') !== undefined) return true;
  return items(getIn(source, 'items')).some((item) => isIncomplete(item) || getIn(item, 'mode') !== undefined);
}
