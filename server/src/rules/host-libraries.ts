import { meantResource } from '../catalog/resource-spelling.ts';
import { isExempt } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { commandsIn, processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { writtenResources } from '../rewrite/rename-resource.ts';
import { asText, getIn, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * The node's libraries hide those of the image.
 *
 * ## Why
 *
 * A folder of the node that is mounted over a system library folder replaces all of it, including the C library and Python's own libraries.
 * The image's programs then start only if the node has the same distribution in the same version. NVIDIA's runtime mounts only the driver's
 * files: a container that requests a GPU needs no such volume. The same happens if the folder is mounted elsewhere and is in LD_LIBRARY_PATH.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/chat:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: libraries
 *           mountPath: /usr/lib/x86_64-linux-gnu
 *   volumes:
 *     - name: libraries
 *       hostPath:
 *         path: /usr/lib/x86_64-linux-gnu
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/chat:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For single files (`subPath`), for folders that images do not contain (`/usr/local/nvidia`), for infrastructure, and in pods without
 * accelerators.
 *
 * ## Sources
 *
 * - [NVIDIA Container Toolkit: architecture](https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/arch-overview.html)
 * - [Kubernetes: hostPath](https://kubernetes.io/docs/concepts/storage/volumes/#hostpath)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, { podSet, workload, report }) {
    if (isExempt(workload) || !asksForAccelerators(container)) return;
    for (const { name, mountPath, at } of container.volumeMounts) {
      const path = getIn(at, 'mountPath');
      if (path === undefined || isTemplated(path) || getIn(at, 'subPath') !== undefined) continue;
      const folder = mountPath.replace(/\/$/, '');
      const volume = podSet.volumes.find((one) => one.name === name && one.source === 'hostPath');
      if (volume === undefined) continue;
      if (systemFolders.has(folder)) {
        report({
          message: `The node's ${mountPath} hides the libraries of the image: programs fail unless both have the same distribution`,
          span: spanOf(path),
        });
        continue;
      }
      const source = asText(getIn(volume.at, 'hostPath', 'path'))?.replace(/\/$/, '') ?? '';
      if (!systemFolders.has(source) || !isSearchedFirst(folder, container)) continue;
      report({
        message: `LD_LIBRARY_PATH prefers the node's ${source} to the libraries of the image: programs fail unless both have the same distribution`,
        span: spanOf(path),
      });
    }
  },
});

/** Whether a container requests accelerators, by the right name or another one that gpu-resource-name reports. */
function asksForAccelerators(container: Container): boolean {
  return (
    requestsAccelerators(container) ||
    writtenResources(container).some((entry) => meantResource(keyOf(entry)) !== undefined)
  );
}

/** Whether programs look for libraries in a folder before those of the system, wherever it is in LD_LIBRARY_PATH. */
function isSearchedFirst(folder: string, container: Container): boolean {
  const inScripts = commandsIn(container)
    .flatMap(({ words, assignments }) => [...words, ...assignments])
    .flatMap(({ text }) => (text.startsWith(`${variable}=`) ? [text.slice(variable.length + 1)] : []));
  const own = processInput(container).env.flatMap(({ name, value }) => (name === variable && value ? [value] : []));
  return [...own, ...inScripts].some((list) => {
    const folders = list.split(':').map((one) => one.replace(/\/$/, ''));
    return folders.find((one) => one === folder || systemFolders.has(one)) === folder;
  });
}

const variable = 'LD_LIBRARY_PATH';

const systemFolders: ReadonlySet<string> = new Set(
  ['/lib', '/lib64', '/usr/lib', '/usr/lib64'].flatMap((folder) => [
    folder,
    `${folder}/x86_64-linux-gnu`,
    `${folder}/aarch64-linux-gnu`,
  ]),
);
