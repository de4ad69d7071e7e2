import { mountAbove, unmountedDownloads } from '../evidence/model-volume.ts';
import { knowsUser, otherUser, runsAsRoot, userSetting } from '../evidence/root-images.ts';
import { isAlone, runsAsWritten, soleServer } from '../evidence/sole-server.ts';
import { mayMountMore } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isListedContainer } from '../model/pod.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asBoolean, getIn, isIncomplete, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type Report } from './rule.ts';

/**
 * A model server has no writable folder for temporary files or for its model.
 *
 * ## Why
 *
 * With `readOnlyRootFilesystem: true`, a container writes only to its volumes. vLLM and SGLang create the sockets between their processes
 * in the folder for temporary files. If `/tmp` is not a volume, Python finds no such folder ("No usable temporary directory found"), and
 * the server stops at startup while its pod holds the GPUs. It also stops if it cannot write the model that it downloads, and Ollama if it
 * cannot write its key to the home of its user.
 *
 * The image of vLLM has only the users root and `vllm` (2000). The home of any other user, such as `runAsUser: 1000`, is `/`, where only root can create the
 * folder `.cache`. PyTorch also stops if such a user has no name: `USER` states one.
 *
 * The same applies to `HF_HOME` on a read-only mount if the model brings its own code (`--trust-remote-code`): the code is copied to
 * `HF_HOME/modules` (information, because it may already be there).
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "/models/chat"]
 *       securityContext:
 *         readOnlyRootFilesystem: true
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
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
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "/models/chat"]
 *       securityContext:
 *         readOnlyRootFilesystem: true
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: tmp
 *           mountPath: /tmp
 *   volumes:
 *     - name: tmp
 *       emptyDir: {}
 * ```
 *
 * ## When it is silent
 *
 * With any writable volume except those for models, caches and shared memory, because it may be the working directory, which Python tries
 * last. If a variable names a folder (`TMPDIR`, `VLLM_RPC_BASE_PATH`), or `envFrom` may. With a `workingDir`. For patches, definitions,
 * operators and pods with several containers. For models: with other images, which may hold them, and with ModelScope.
 *
 * ## Sources
 *
 * - [Python: tempfile.gettempdir](https://docs.python.org/3/library/tempfile.html#tempfile.gettempdir)
 * - [ai-dynamo/dynamo#12457](https://github.com/ai-dynamo/dynamo/pull/12457)
 * - [vllm-project/vllm#871: the cache of modules](https://github.com/vllm-project/vllm/pull/871)
 * - [vllm-project/vllm#10185](https://github.com/vllm-project/vllm/issues/10185)
 * - [vLLM: environment variables](https://docs.vllm.ai/en/latest/configuration/env_vars.html)
 * - [Kubernetes: security context](https://kubernetes.io/docs/tasks/configure-pod-container/security-context/)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, { podSet, workload, report }) {
    const setting = getIn(container.at, 'securityContext', 'readOnlyRootFilesystem');
    if (container.type !== 'app' || !requestsAccelerators(container) || !isAlone(container, podSet, workload)) return;
    if (setting === undefined || asBoolean(setting) !== true) {
      if (!isTemplated(setting)) checkHomeless(container, podSet, workload, report);
      checkModules(container, workload, report);
      return;
    }
    const program = soleServer(container)?.program ?? '';
    const name = names.get(program);
    const isWritten = isListedContainer(container.at) && runsAsWritten(workload);
    if (name === undefined || !(isWritten || program === 'ollama')) return;
    const needsTemporary = program === 'vllm' || program === 'sglang';
    if (needsTemporary && !mayWrite(container, podSet)) {
      report({
        message: `${name} needs /tmp, but the root is read-only and no volume is mounted there: the server does not start`,
        span: spanOf(setting),
      });
      return;
    }
    const path =
      program === 'ollama' ? closedHome(container, podSet) : lostDownload(container, podSet, workload, program);
    if (path === undefined) return;
    report({
      message: `${name} ${program === 'ollama' ? 'writes its key' : 'downloads its model'} to ${path}, but the root is read-only and no volume is mounted there: the server does not start`,
      span: spanOf(setting),
    });
  },
});

/**
 * Reports a user whom vLLM's image does not have: the home is then `/`, and PyTorch finds no name unless USER states it. The image has only root
 * and, in newer versions, `vllm` (2000).
 * https://github.com/ai-dynamo/dynamo/pull/12457 (2026-07-30)
 */
function checkHomeless(
  container: Container,
  podSet: PodSet,
  workload: Workload,
  report: (found: Report) => void,
): void {
  const user = otherUser(container, podSet);
  const setting = userSetting('runAsUser', container, podSet);
  if (user === undefined || user === 2000 || setting === undefined || workload.partial) return;
  if (!/(?:^|\/)vllm\/vllm-openai(?::|@|$)/.test(container.image?.value ?? '') || mayMountMore(container)) return;
  if (soleServer(container)?.program !== 'vllm' || !isListedContainer(container.at) || !runsAsWritten(workload)) return;
  if (lostDownload(container, podSet, workload, 'vllm')?.startsWith('~') !== true || setsFolder(container)) return;
  report({
    message: `User ${user} has no home in the image, so vLLM downloads its model to /.cache, which only root can write: it does not start; set HOME and USER`,
    span: spanOf(setting),
  });
}

/**
 * Reports the cache of Hugging Face on a read-only mount, if the model brings code: Transformers copies that to the cache and imports it there.
 * https://github.com/huggingface/transformers/blob/main/src/transformers/dynamic_module_utils.py
 */
function checkModules(container: Container, workload: Workload, report: (found: Report) => void): void {
  const { env, command, args } = container;
  const home = env.find(({ name }) => name === 'HF_HOME');
  const path = home?.value?.value ?? '';
  const program = soleServer(container)?.program ?? '';
  if (home === undefined || !path.startsWith('/') || isTemplated(home.value?.at) || workload.partial) return;
  if ((program !== 'vllm' && program !== 'sglang') || mayMountMore(container) || setsFolder(container)) return;
  if (getIn(container.at, 'envFrom') !== undefined || env.some(({ name }) => name === 'HF_MODULES_CACHE')) return;
  if (![...command, ...args].some(({ value }) => /(?:^|\s)--trust[-_]remote[-_]code(?:\s|$)/.test(value))) return;
  const mount = mountAbove(path, container);
  if (mount === undefined || asBoolean(getIn(mount.at, 'readOnly')) !== true) return;
  report({
    severity: 'info',
    message: `HF_HOME is on the read-only mount ${shorten(mount.name, 30)}, where --trust-remote-code stores the code of the model: the server may stop; set HF_MODULES_CACHE`,
    span: spanOf(home.value?.at ?? home.at),
  });
}

/** Whether a script sets a folder itself: `export HOME=/tmp`. */
function setsFolder({ command, args, scripts }: Container): boolean {
  const texts = [...[...command, ...args].map(({ value }) => value), ...scripts.map(({ text }) => text)];
  return texts.some((text) => /\b\w*(?:HOME|CACHE\w*)=/.test(text));
}

const names: ReadonlyMap<string, string> = new Map([
  ['vllm', 'vLLM'],
  ['sglang', 'SGLang'],
  ['ollama', 'Ollama'],
  ['text-generation-launcher', 'TGI'],
  ['text-embeddings-router', 'TEI'],
]);

/** The folder in which Ollama creates its key at every start, wherever its models are: https://github.com/ollama/ollama/issues/10332 */
function closedHome(container: Container, podSet: PodSet): string | undefined {
  const { at, env, volumeMounts } = container;
  const hasHome = env.some(({ name }) => name === 'HOME' || name === '') || isUnseen(getIn(at, 'env'));
  if (hasHome || getIn(at, 'envFrom') !== undefined || mayMountMore(container) || !runsAsRoot(container))
    return undefined;
  const isOther = otherUser(container, podSet) !== undefined || !knowsUser(container, podSet);
  const isOpen = volumeMounts.some(({ mountPath }) => /^\/(?:root|home|\.ollama)(?:\/|$)|^\/$/.test(mountPath));
  return isOpen ? undefined : isOther ? '~/.ollama' : '/root/.ollama';
}

/** The folder to which a server downloads its model, if it is not on a volume. Another user may have another home, other images may have the model. */
function lostDownload(container: Container, podSet: PodSet, workload: Workload, program: string): string | undefined {
  const { at, env, volumeMounts } = container;
  if (!runsAsRoot(container)) return undefined;
  const isOpen = getIn(at, 'envFrom') !== undefined || isUnseen(getIn(at, 'env'));
  const isUnseenFolder = env.some(
    ({ name, value }) => (value === undefined || isTemplated(value.at)) && /^$|HOME|CACHE|DIR/.test(name),
  );
  if (isOpen || isUnseenFolder) return undefined;
  const { model } = servedModel(container, workload);
  if (model === null || !/^[\w.-]+\/[\w.-]+$/.test(model.name)) return undefined;
  if (volumeMounts.some(({ mountPath }) => /^\/(?:home|root|\.cache)/.test(mountPath))) return undefined;
  const hasUser = [at, podSet.pod].some((one) => getIn(one, 'securityContext', 'runAsUser') !== undefined);
  return unmountedDownloads(container, program)?.replace(/^\/root/, hasUser ? '~' : '/root');
}

/** Whether the container may have a folder for temporary files. */
function mayWrite({ at, env, volumeMounts }: Container, { volumes }: PodSet): boolean {
  const mounts = getIn(at, 'volumeMounts');
  if (['envFrom', 'workingDir'].some((field) => getIn(at, field) !== undefined)) return true;
  if ([mounts, getIn(at, 'env')].some((one) => isIncomplete(one))) return true;
  if (env.some(({ name }) => folders.has(name))) return true;
  const readOnly = new Set(volumes.filter(({ source }) => fixed.has(source)).map(({ name }) => name));
  return volumeMounts.some((mount) => {
    const isFixed = readOnly.has(mount.name) || asBoolean(getIn(mount.at, 'readOnly')) === true;
    return isTemplated(getIn(mount.at, 'mountPath')) || !(isFixed || isElsewhere(mount.mountPath));
  });
}

const folders: ReadonlySet<string> = new Set(['TMPDIR', 'TEMP', 'TMP', 'VLLM_RPC_BASE_PATH', '']);
/** Volumes that containers cannot write to. */
const fixed: ReadonlySet<string> = new Set(['configMap', 'secret', 'downwardAPI', 'projected', 'image']);

/** Whether a path is that of models, caches or shared memory. */
function isElsewhere(path: string): boolean {
  return /^\/dev\/shm\/?$|cache|model|hugging|weights/i.test(path);
}
