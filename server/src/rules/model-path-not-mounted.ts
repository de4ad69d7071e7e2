import { unpublishedName, unpublishedTag } from '../catalog/published-names.ts';
import { isSlip } from '../catalog/spelling.ts';
import { absentFile, absentModel, bareModel, relativeModel, unfilledByKserve } from '../evidence/absent-model.ts';
import { mayBeCompleted, mayBeRendered } from '../evidence/chart-pods.ts';
import { unfilledVolume } from '../evidence/hidden-models.ts';
import { servedFlags, usesAccelerators } from '../evidence/launch.ts';
import { lostDownload } from '../evidence/lost-download.ts';
import { lostInstall } from '../evidence/lost-install.ts';
import { nearMountOf } from '../evidence/near-mount.ts';
import { mayBeStored, pulledByOllama } from '../evidence/pulled-models.ts';
import { requestSpan } from '../evidence/requested-accelerators.ts';
import { storedPath } from '../evidence/stored-path.ts';
import { strayClone } from '../evidence/stray-clone.ts';
import { mayMountMore } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { lowerContainer } from '../model/pod.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { spanInScalar, spanOfWords } from '../rewrite/word-span.ts';
import { rewriteWord } from '../rewrite/words.ts';
import { getIn, isIncomplete, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model server or a command reads a path next to the mounted volume, the model is in a volume that nothing fills, or a download is lost.
 *
 * ## Why
 *
 * The path is not below any mount, but almost the same as one: the volume with the model is mounted elsewhere. The server finds no model,
 * or takes the path for the name of a model on Hugging Face, and keeps failing at startup while it holds its GPUs. The same happens if the
 * path is in an emptyDir that no other container mounts: each new pod starts with an empty one. Triton starts without models. A script that
 * is mounted at `/scritps` is not found at `/scripts`. An emptyDir over the folder in which an image has its model hides that model. What an init container downloads to its own file system, or to an emptyDir that no other
 * container mounts, is gone when it ends, and so are packages that it installs, and what `git clone` writes next to the volume that is mounted for
 * it. The published images of servers have no models: without a volume at `/models`, nothing is there.
 * A name without an organization (`Qwen3-8B`) is not a model of Hugging Face, and one of Ollama (`llama3.1:8b`) is not a model of another server.
 * A complete series has no other sizes (`Qwen/Qwen2.5-8B`), and some names need an ending (`mistralai/Mixtral-8x7B`).
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model=/model/llama"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: models
 *           mountPath: /models
 *   volumes:
 *     - name: models
 *       persistentVolumeClaim:
 *         claimName: models
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model=/models/llama"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: models
 *           mountPath: /models
 *   volumes:
 *     - name: models
 *       persistentVolumeClaim:
 *         claimName: models
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the mount may be the wrong one of the two.
 *
 * ## When it is silent
 *
 * For paths that an image, another container, a hook or a script may create, for KServe's /mnt paths, and, with other images than those that the makers of the servers publish and in projects with kustomizations, for paths that resemble no mount. For
 * servers that download the model themselves, or load it on request.
 *
 * ## Sources
 *
 * - [Kubernetes: volumes](https://kubernetes.io/docs/concepts/storage/volumes/)
 * - [Hugging Face: models](https://huggingface.co/models)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  container(container, context) {
    const { podSet, workload, document } = context;
    const isUser = usesAccelerators(container, podSet);
    // What uses a definition or a patch may mount something else there.
    const mayChange = mayBeRendered(workload) || mayBeCompleted(workload) || workload.role === 'definition';
    const isOpen = mayChange || mayMountMore(container);
    if (!isOpen) checkClone(container, context);
    if (!isUser && container.type !== 'init') return;
    if (container.type === 'init' && !isOpen && requestsAccelerators(podSet)) checkDownload(container, context);
    if (!isUser) return;
    checkPulls(container, context);
    const emptyVolume = isOpen ? undefined : unfilledVolume(container, podSet, workload);
    if (emptyVolume !== undefined) {
      const { message, volume, isLikely } = emptyVolume;
      const span = keySpanOf(getIn(volume.at, 'emptyDir') ?? volume.at);
      context.report({ ...(isLikely && { severity: 'info' as const }), message, span });
      return;
    }
    // Overlays mount what their bases lack.
    const mayGain = isOpen || context.crossReferences.mayBePatch();
    const absent = mayGain ? undefined : absentModel(container, podSet, workload);
    const nearest = container.volumeMounts.find(({ mountPath }) => isNear(absent?.path ?? '', trimmed(mountPath)));
    // Below, there is a fix for a flag of the model.
    const isLater = nearest !== undefined && trimmed(servedFlags(container)?.model?.value ?? '') === absent?.path;
    const isStored = absent !== undefined && storedPath(absent.path, container, podSet) !== undefined;
    if (absent !== undefined && !isLater && !isStored && !isMentioned(absent.path, container, podSet)) {
      const place = nearest && `the volume is at ${shorten(nearest.mountPath, 32)}`;
      context.report({
        message: `${shorten(absent.path, 48)} is not on a volume, and ${place ?? `image ${absent.image} has no models`}: the server finds none there`,
        span: spanOf(absent.at),
      });
      return;
    }
    const unfilled = mayGain ? undefined : unfilledByKserve(container, workload);
    if (unfilled !== undefined) context.report({ message: unfilled.message, span: spanOf(unfilled.at) });
    if (unfilled !== undefined) return;
    const relative = mayGain ? undefined : relativeModel(container, podSet, workload);
    const wrong = relative && spanOfWords(document, [...container.command, ...container.args], relative.words);
    if (relative !== undefined && wrong !== undefined) {
      context.report({
        message: `${shorten(relative.path, 40)} is relative to the image's working directory; did you mean ${shorten(relative.meant, 40)}?`,
        span: wrong,
      });
      return;
    }
    const lacking = mayGain ? undefined : absentFile(container, podSet, workload);
    if (lacking !== undefined)
      context.report({
        message: `${shorten(lacking.path, 48)} is not on a volume, and image ${lacking.image} does not have it: the server does not start`,
        span: spanOf(lacking.at),
      });
    const lines = [...container.command, ...container.args];
    const bare = mayGain ? undefined : bareModel(container, podSet, workload);
    const bareSpan = bare && spanOfWords(document, lines, bare.words);
    if (bare !== undefined && bareSpan !== undefined) {
      const [, word] = bare.words;
      const { name, full, isOllama } = bare;
      const meant = full === undefined ? ', as models of Hugging Face have:' : `; did you mean ${shorten(full, 46)}?`;
      context.report({
        message: isOllama
          ? `${shorten(name, 48)} has the form of Ollama's names, which this server does not read: it finds no model`
          : `${shorten(name, 32)} is not on a volume and has no organization${meant} ${full === undefined ? 'the' : 'The'} server finds no model`,
        span: bareSpan,
        fixes: () =>
          full === undefined
            ? []
            : [fix(`Load ${full}`, 'unsafe', rewriteWord(document, lines, word, word.text.replace(name, full)))],
      });
      return;
    }
    if (checkName(container, context)) return;
    if (container.type !== 'app' || isIncomplete(container.at) || lines.some(({ at }) => isTemplated(at))) return;
    if (!isOpen) checkCommand(container, context);
    const model = servedFlags(container)?.model;
    const path = model && trimmed(model.value);
    if (model === undefined || path === undefined || !/^(?:\/[\w.-]+)+$/.test(path) || path.startsWith('/mnt/')) return;
    if (mayMountMore(container)) return;
    const mounts = container.volumeMounts.map(({ mountPath }) => trimmed(mountPath));
    if (mounts.some((mount) => isIn(path, mount) || isIn(mount, path))) return;
    const stored = runsScript(container) ? undefined : storedPath(path, container, podSet);
    if (stored === undefined && isMentioned(path, container, podSet)) return;
    const near = mounts.filter((mount) => isNear(path, mount));
    const [mount, ...others] = near;
    const span = spanOfWords(document, lines, model.words);
    const right = stored ?? (mount === undefined || others.length > 0 ? undefined : rightPath(path, mount));
    if (right === undefined || span === undefined) return;
    const [, word] = model.words;
    context.report({
      message: `${shorten(path, 48)} is not on a volume; did you mean ${shorten(right, 48)}? The server finds no model there`,
      span,
      fixes: () => [
        fix(
          `Load the model from ${right}`,
          'unsafe',
          rewriteWord(document, lines, word, word.text.replace(path, right)),
        ),
      ],
    });
  },
});

/** Reports what Ollama downloads, if its library has no such size. */
function checkPulls(container: Container, { document, report }: PodSetContext): void {
  const hook = getIn(container.at, 'lifecycle', 'postStart', 'exec');
  const { command, args, env } = container;
  const hooked = hook === undefined ? [] : lowerContainer(hook, 'app').command;
  const lines = [...command, ...args, ...hooked, ...env.flatMap(({ value }) => value ?? [])];
  for (const { name, at } of pulledByOllama(container)) {
    const wrong = unpublishedTag(name);
    const line = wrong && lines.find(({ value }) => value.includes(name));
    const start = line?.value.indexOf(name) ?? 0;
    const span =
      at === undefined ? line && spanInScalar(document, line, { start, end: start + name.length }) : spanOf(at);
    if (wrong === undefined || span === undefined || mayBeStored(name, line?.value ?? '')) continue;
    const instead = wrong.meant === undefined ? ':' : `; did you mean ${shorten(wrong.meant, 40)}?`;
    const result = wrong.meant === undefined ? 'the download fails' : 'The download fails';
    report({ message: `Ollama's library has no ${shorten(name, 40)}${instead} ${result}`, span });
  }
}

const hubServers: ReadonlySet<string> = new Set(['vllm', 'sglang', 'tgi']);

/** The page of a model, which servers do not read: they load names. */
const pageOfModel =
  /^(?:https?:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)|hf:\/)\/([\w.-]+\/[\w.-]+)(?:\/tree\/[\w.-]+)?\/?$/;

/** Reports a name that its organization has not published, or the address of its page. */
function checkName(container: Container, { workload, document, report }: PodSetContext): boolean {
  const { command, args, env } = container;
  const served = servedModel(container, workload).model;
  // The names of NIM's images and of Ollama are those of other hubs.
  const isOfHub = served !== null && hubServers.has(served.engine) && !container.image?.value.includes(served.name);
  const page = isOfHub ? pageOfModel.exec(served.name)?.[1] : undefined;
  const wrong = page === undefined ? (isOfHub ? unpublishedName(served.name) : undefined) : { meant: page };
  // Another hub has other names.
  const settings = [...command, ...args].map(({ value }) => value).concat(env.map(({ name }) => name));
  if (
    served === null ||
    !wrong ||
    settings.some((one) => /HF_ENDPOINT|HF_HUB_OFFLINE|TRANSFORMERS_OFFLINE|MODELSCOPE/i.test(one))
  )
    return false;
  const written = [...command, ...args, ...env.flatMap(({ value }) => value ?? [])].find(({ value }) =>
    value.includes(served.name),
  );
  // Of a field with an address, model-uri says it.
  if (page !== undefined && written === undefined) return false;
  const { meant } = wrong;
  const isOtherFormat = 'isOtherFormat' in wrong && wrong.isOtherFormat;
  const what =
    page !== undefined
      ? `${shorten(served.name, 48)} is ${served.name.startsWith('hf:') ? 'an address for operators' : 'the address of a page'}`
      : isOtherFormat
        ? `${shorten(served.name, 40)} has only files in Meta's format`
        : `Hugging Face has no ${shorten(served.name, 48)}`;
  const instead = meant === undefined ? ':' : `; did you mean ${shorten(meant, 48)}?`;
  report({
    message: `${what}${instead} ${meant === undefined ? 'the' : 'The'} server finds no model`,
    span: written === undefined ? requestSpan(container.accelerators, container) : spanOf(written.at),
    fixes: () => {
      const text = meant && written?.value.replace(served.name, meant);
      return text && written ? [fix(`Load ${meant}`, 'unsafe', replaceScalar(document, written.at, text))] : [];
    },
  });
  return true;
}

/** Reports a program that is cloned next to its volume. */
function checkClone(container: Container, { document, podSet, report }: PodSetContext): void {
  const { folder = '', word, mount } = (container.type === 'app' ? strayClone(container, podSet) : undefined) ?? {};
  const span = word && spanOfWords(document, [...container.command, ...container.args], [word, word]);
  if (mount === undefined || span === undefined) return;
  report({
    message: `git clones to ${shorten(folder, 30)}, not to volume ${shorten(mount.name, 24)} at ${shorten(mount.mountPath, 36)}: its files are lost with the container`,
    span,
  });
}

/** Reports a file of a command next to a mount, at the mount: the command says what it needs. */
function checkCommand(container: Container, { document, report }: PodSetContext): void {
  const near = nearMountOf(container);
  const at = getIn(near?.mount.at, 'mountPath');
  if (near === undefined || at === undefined) return;
  const { word, folder } = near;
  report({
    message: `The command reads ${shorten(word.text, 48)}, but the volume is mounted at ${shorten(near.mount.mountPath, 24)}: the file is not found`,
    span: spanOf(at),
    fixes: () => [fix(`Mount the volume at ${folder}`, 'unsafe', replaceScalar(document, at, folder))],
  });
}

/** Reports what an init container downloads for nobody. */
function checkDownload(container: Container, { document, podSet, report }: PodSetContext): void {
  const { at, args, command } = container;
  if (isIncomplete(at) || isIncomplete(podSet.pod) || [...command, ...args].some((one) => isTemplated(one.at))) return;
  const lines = [...command, ...args];
  const install = lostInstall(container);
  const installed = install && spanOfWords(document, lines, install);
  if (installed !== undefined)
    report({
      message: 'The init container installs packages in its own file system: the other containers do not have them',
      span: installed,
    });
  const lost = lostDownload(container, podSet);
  if (lost === undefined) return;
  const { path, word, shift, mount } = lost;
  const moved = word && { ...word, item: word.item - shift };
  const span = moved && spanOfWords(document, lines, [moved, moved]);
  const lists = getIn(at, 'command') ?? getIn(at, 'args') ?? at;
  const where = mount === undefined ? 'not on a volume' : `in a volume that no other container mounts`;
  report({
    message: `The init container downloads to ${shorten(path, 48)}, which is ${where}: the download is lost when it ends`,
    span: span ?? keySpanOf(lists),
  });
}

function trimmed(path: string): string {
  return path.replace(/(?<!\/)\/+$/, '');
}

/** Whether the first parts of a path are a mount with one slip: `/model/llama` and `/models`. */
function isNear(path: string, mount: string): boolean {
  const depth = mount.split('/').length;
  return isSlip(path.split('/').slice(0, depth).join('/'), mount);
}

function rightPath(path: string, mount: string): string {
  return [mount, ...path.split('/').slice(mount.split('/').length)].join('/');
}

function runsScript({ command }: Container): boolean {
  return command.some(({ value }) => /^-\w*c$/.test(value));
}

/** Whether another container or a script handles the path. */
function isMentioned(path: string, container: Container, { containers }: PodSet): boolean {
  const parent = path.slice(0, path.lastIndexOf('/')) || path;
  return (
    runsScript(container) ||
    containers.some(
      (other) =>
        other !== container &&
        (other.volumeMounts.some(({ mountPath }) => isIn(path, mountPath)) ||
          [...other.command, ...other.args].some(({ value }) => value.includes(parent))),
    )
  );
}
