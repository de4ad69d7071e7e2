import { isExempt } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * The node's libraries hide those of the image.
 *
 * ## Why
 *
 * A folder of the node that is mounted over a folder of system libraries replaces all of it, also the C library and Python's own libraries. The
 * programs of the image then start only while the node has the same distribution in the same version. NVIDIA's runtime mounts the files of the
 * driver, and only these: a container that requests a GPU needs no such volume.
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
 * For single files (`subPath`), for folders that images do not have themselves (`/usr/local/nvidia`), for infrastructure, and in pods without
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
    if (isExempt(workload) || !requestsAccelerators(container)) return;
    for (const { name, mountPath, at } of container.volumeMounts) {
      const path = getIn(at, 'mountPath');
      if (path === undefined || isTemplated(path) || getIn(at, 'subPath') !== undefined) continue;
      if (!systemFolders.has(mountPath.replace(/\/$/, ''))) continue;
      if (!podSet.volumes.some((volume) => volume.name === name && volume.source === 'hostPath')) continue;
      report({
        message: `A folder of the node at ${mountPath} hides the libraries of the image: programs fail unless both have the same distribution`,
        span: spanOf(path),
      });
    }
  },
});

const systemFolders: ReadonlySet<string> = new Set(
  ['/lib', '/lib64', '/usr/lib', '/usr/lib64'].flatMap((folder) => [
    folder,
    `${folder}/x86_64-linux-gnu`,
    `${folder}/aarch64-linux-gnu`,
  ]),
);
