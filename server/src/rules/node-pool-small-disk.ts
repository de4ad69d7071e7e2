import { gpuPools } from '../evidence/gpu-pools.ts';
import { getIn, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * The nodes of a GPU pool have Karpenter's default disk, which is small for images and models.
 *
 * ## Why
 *
 * Without `blockDeviceMappings`, Karpenter gives a node 20 GiB for images, logs, emptyDirs and the writes of containers. An image with CUDA and PyTorch takes
 * 10 to 30 GiB of that, and downloaded weights come on top. If the disk is full, the kubelet evicts the pods ("DiskPressure") or cannot pull the image
 * ("no space left on device"), while the node is paid for.
 *
 * ```yaml invalid
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   limits:
 *     nvidia.com/gpu: 8
 *   template:
 *     spec:
 *       nodeClassRef:
 *         group: karpenter.k8s.aws
 *         kind: EC2NodeClass
 *         name: gpu
 *       requirements:
 *         - key: karpenter.k8s.aws/instance-family
 *           operator: In
 *           values: ["g6"]
 *       taints:
 *         - key: nvidia.com/gpu
 *           effect: NoSchedule
 * ---
 * apiVersion: karpenter.k8s.aws/v1
 * kind: EC2NodeClass
 * metadata:
 *   name: gpu
 * spec:
 *   role: gpu-nodes
 *   amiSelectorTerms:
 *     - alias: al2023@v20261110
 *   subnetSelectorTerms:
 *     - tags: {team: ml}
 *   securityGroupSelectorTerms:
 *     - tags: {team: ml}
 * ```
 *
 * ```yaml valid
 * apiVersion: karpenter.sh/v1
 * kind: NodePool
 * metadata:
 *   name: gpu
 * spec:
 *   limits:
 *     nvidia.com/gpu: 8
 *   template:
 *     spec:
 *       nodeClassRef:
 *         group: karpenter.k8s.aws
 *         kind: EC2NodeClass
 *         name: gpu
 *       requirements:
 *         - key: karpenter.k8s.aws/instance-family
 *           operator: In
 *           values: ["g6"]
 *       taints:
 *         - key: nvidia.com/gpu
 *           effect: NoSchedule
 * ---
 * apiVersion: karpenter.k8s.aws/v1
 * kind: EC2NodeClass
 * metadata:
 *   name: gpu
 * spec:
 *   role: gpu-nodes
 *   amiSelectorTerms:
 *     - alias: al2023@v20261110
 *   blockDeviceMappings:
 *     - deviceName: /dev/xvda
 *       ebs: {volumeSize: 200Gi, volumeType: gp3}
 *   subnetSelectorTerms:
 *     - tags: {team: ml}
 *   securityGroupSelectorTerms:
 *     - tags: {team: ml}
 * ```
 *
 * ## When it is silent
 *
 * If the node class is not in the project, if it has a disk, `instanceStorePolicy` or `userData`, for images of other families, and for templates. In EKS Auto
 * Mode, nodes have 80 GiB by default.
 *
 * ## Sources
 *
 * - [Karpenter: spec.blockDeviceMappings](https://karpenter.sh/docs/concepts/nodeclasses/#specblockdevicemappings)
 */
export default defineRule({
  topic: 'placement',
  severity: 'info',
  manifest(manifest, { crossReferences, document, report }) {
    if (document.template) return;
    for (const { kind, pool, owner } of gpuPools(manifest)) {
      const place = getIn(owner, 'nodeClassRef', 'name');
      if (kind !== 'NodePool' || pool.name === null || place === undefined) continue;
      const landing = crossReferences.landingOf([{ key: 'karpenter.sh/nodepool', values: [pool.name] }], false);
      if (landing === undefined || landing.others > 0 || landing.isPart === true) continue;
      const disks = landing.terms.map((term) => term.find(({ disk }) => disk !== undefined)?.disk);
      const [disk] = disks;
      if (disk?.byDefault !== true || disks.some((one) => one?.byDefault !== true)) continue;
      report({
        message: `Each node of ${shorten(pool.name, 30)} has Karpenter's default disk of ${disk.giB} GiB, which large images and models fill: set blockDeviceMappings in its EC2NodeClass`,
        span: spanOf(place),
      });
    }
  },
});
