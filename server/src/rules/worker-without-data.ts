import { unsharedMount } from '../evidence/unshared-mounts.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { getIn, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * The workers of a job or a model server lack a volume with data, code or the model that their master mounts.
 *
 * ## Why
 *
 * Master and workers run the same program, and each rank reads its part of the data. Each role has its own pod template: a volume of the master is
 * not in the pods of the workers. Their program does not find the data and fails, while the master waits for them with its GPUs. The same applies
 * to the tasks of a Volcano Job and the jobs of a JobSet, and to MPI, whose launcher starts its program in the pods of the workers.
 * In a LeaderWorkerSet, the workers that join vLLM's Ray cluster load their parts of the model from the path that the leader names.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Master:
 *       replicas: 1
 *       restartPolicy: OnFailure
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: [python, train.py]
 *               resources: {limits: {nvidia.com/gpu: 1}}
 *               volumeMounts:
 *                 - {name: data, mountPath: /data}
 *           volumes:
 *             - {name: data, persistentVolumeClaim: {claimName: novels}}
 *     Worker:
 *       replicas: 2
 *       restartPolicy: OnFailure
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: [python, train.py]
 *               resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ```yaml valid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Master:
 *       replicas: 1
 *       restartPolicy: OnFailure
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: [python, train.py]
 *               resources: {limits: {nvidia.com/gpu: 1}}
 *               volumeMounts:
 *                 - {name: data, mountPath: /data}
 *           volumes:
 *             - {name: data, persistentVolumeClaim: {claimName: novels}}
 *     Worker:
 *       replicas: 2
 *       restartPolicy: OnFailure
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: [python, train.py]
 *               resources: {limits: {nvidia.com/gpu: 1}}
 *               volumeMounts:
 *                 - {name: data, mountPath: /data}
 *           volumes:
 *             - {name: data, persistentVolumeClaim: {claimName: novels}}
 * ```
 *
 * ## When it is silent
 *
 * For volumes for results, which only the master may write, for roles with other programs or images, with init containers or a script that may
 * fetch data, and if a mount is above or below the path. If the command names no path in the volume, the finding is information.
 *
 * ## Sources
 *
 * - [Kubeflow: PyTorchJob](https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/pytorch/)
 */
export default defineRule({
  topic: 'training',
  severity: 'warning',
  podSet(podSet, { workload, document, report }) {
    if (workload.partial || !requestsAccelerators(podSet)) return;
    const found = unsharedMount(podSet, workload);
    if (found === undefined) return;
    const { container, owner, mountPath, word } = found;
    const span = word && spanOfWords(document, container, [word, word]);
    const ending = /s$/i.test(podSet.name) ? '' : 's';
    const does = found.isModel ? `load${ending} a part of the model of` : `run${ending} the same program as`;
    const lacks = `${podSet.name} ${does} ${owner} but lack${ending} its volume at ${shorten(mountPath, 40)}`;
    report({
      ...(word === undefined && { severity: 'info' }),
      message: `${lacks}: ${word === undefined ? 'unless the program downloads the data, its ranks find none' : 'its ranks find no files there'}`,
      span: span ?? spanOf(getIn(container.at, 'name') ?? container.at),
    });
  },
});
