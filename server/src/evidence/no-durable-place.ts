import { either, partOf } from '../catalog/word-patterns.ts';
import { baseName } from '../command/shell.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isIncomplete } from '../yaml/cursor.ts';
import { hasRole } from './role-confidence.ts';
import { hasDurableMount, outlivesNode } from './volume-lifetime.ts';

/**
 * The mounts of a container that trains, if none of its pod's volumes outlives the pod and nothing in the manifest sends files elsewhere. The program
 * may still do so. Undefined for examples, which have nothing to keep, and without mounts.
 */
export function onlyLostMounts(container: Container, podSet: PodSet, workload: Workload): Cursor | undefined {
  const { at, command, args, env, image, name, volumeMounts, scripts } = container;
  const mounts = getIn(at, 'volumeMounts');
  if (mounts === undefined || volumeMounts.length === 0 || isIncomplete(podSet.pod)) return undefined;
  if (!hasRole(workload, 'training') || podSet.containers.length > 1 || scripts.length > 0) return undefined;
  if (hasDurableMount(container, podSet) || podSet.volumes.some(mayHoldFiles)) return undefined;
  const isOpen = ['serviceAccountName', 'serviceAccount'].some((key) => getIn(podSet.pod, key) !== undefined);
  const lines = [...command, ...args].map(({ value }) => value);
  if (isOpen || getIn(at, 'envFrom') !== undefined || getIn(at, 'lifecycle') !== undefined) return undefined;
  if (env.some(({ name: one }) => stores.test(one)) || lines.some((line) => sends.test(line))) return undefined;
  const program = baseName(image?.value ?? '');
  const words = [workload.name ?? '', name ?? '', program, ...lines].join(' ');
  return examples.test(words) ? undefined : mounts;
}

/** Whether a volume is durable, or on the disk of the node, from which something may copy files. */
function mayHoldFiles({ source, at }: PodSet['volumes'][number]): boolean {
  if (outlivesNode(source, at) || source === 'hostPath') return true;
  return source === 'emptyDir' && asText(getIn(at, 'emptyDir', 'medium')) !== 'Memory';
}

/** Names of variables for a store of files. Those of hubs and of services for experiments often only give access to models, or receive metrics. */
const stores = partOf('bucket endpoint _ur[il] aws s3 gcs google azure minio mlflow comet clearml neptune repo push');

const sends = either(
  partOf('upload push hub_ mlflow remote rclone rsync s5cmd gsutil gcloud azcopy kubectl'),
  /\b(?:scp|ssh|aws|az|hf|nc|mc|oci|dvc|hdfs)\b(?!-)|(?:s3|gs|az|abfss?|hdfs|oss|cos):\/\//,
);

const examples = partOf('mnist cifar example demo tutorial sample hello bench smoke test dummy toy');
