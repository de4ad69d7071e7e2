import { imageParts } from '../catalog/images.ts';
import { usesGpus } from '../evidence/gpu-users.ts';
import { rejectionOf } from '../evidence/rejection.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, isTemplated, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { once } from '../yaml/once.ts';
import { shorten } from '../yaml/shorten.ts';
import { textsIn } from '../yaml/texts.ts';
import { type DocumentContext, defineRule } from './rule.ts';

/**
 * An image name is invalid.
 *
 * ## Why
 *
 * The API server accepts any text as an image name. The kubelet does not: a name with spaces, a placeholder in braces, `//`, uppercase letters
 * in the repository, or a `+` in its tag ends in InvalidImageName. The pod never starts, possibly on a GPU node that was added for it.
 * A tag that does not exist has the same effect: those of NVIDIA's CUDA images name a system since CUDA 12. A `{NAME}` next to a `${NAME}` is
 * only a warning, because another program may fill it in.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: server
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:{TAG}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: server
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:0.9.2
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For templates and placeholders, including uppercase words, and for workloads without accelerators.
 *
 * ## Sources
 *
 * - [NVIDIA/nvidia-docker#1735](https://github.com/NVIDIA/nvidia-docker/issues/1735), [#1768](https://github.com/NVIDIA/nvidia-docker/issues/1768)
 * - [NVIDIA: tags of the CUDA images](https://gitlab.com/nvidia/container-images/cuda/-/blob/master/doc/supported-tags.md)
 * - [Distribution: references](https://github.com/distribution/reference)
 * - [Kubernetes: images](https://kubernetes.io/docs/concepts/containers/images/#image-names)
 */
export default defineRule({
  topic: 'image-pin',
  severity: 'error',
  judgesWords: true,
  container({ image }, context) {
    if (image === undefined || image.value === '') return;
    // Workers with GPUs wait for the pod that starts or leads them.
    if (!usesGpus(context.workload)) return;
    if (isTemplated(image.at)) {
      reportMissingDollar(image.value, image.at, context);
      return;
    }
    const trimmed = image.value.trim();
    if (trimmed !== image.value && trimmed !== '' && !/\s/.test(trimmed)) {
      context.report({
        message: `Image ${shorten(trimmed, 50)} has whitespace around it: ${rejectionOf(context.workload)}`,
        span: spanOf(image.at),
        fixes: () => [
          fix(`Change to ${shorten(trimmed, 50)}`, 'safe', replaceScalar(context.document, image.at, trimmed)),
        ],
      });
      return;
    }
    if (isMissingTag(image.value)) {
      const message = `Image ${shorten(image.value, 50)} does not exist, so the pod never starts: CUDA tags name a patch version and a system (12.6.3-base-ubuntu24.04)`;
      context.report({ message, span: spanOf(image.at) });
      return;
    }
    if (isRemovedTag(image.value)) {
      const message = `NVIDIA removed ${shorten(image.value, 50)}: the pod starts only on nodes that still have it; use a tag such as 12.6.3-base-ubuntu24.04`;
      context.report({ severity: 'info', message, span: spanOf(image.at) });
      return;
    }
    const problem = problemOf(image.value, context.document);
    if (problem === undefined) return;
    context.report({
      message: `Image ${shorten(image.value, 50)} has ${problem}: the pod never starts (InvalidImageName)`,
      span: spanOf(image.at),
    });
  },
});

/** Reports `{TAG}` next to `${REGISTRY}`: envsubst fills in the second only. */
function reportMissingDollar(image: string, at: Cursor, { document, report }: DocumentContext): void {
  const rest = image.replace(/\$\{[A-Za-z_]\w*\}/g, '');
  const bare = /\{[A-Z_][A-Z0-9_]*\}/.exec(rest)?.[0];
  if (bare === undefined || rest === image || rest.replace(bare, '').includes('{')) return;
  // Others like it make the file a custom template with two syntaxes.
  if (document.root !== null && hasOthers(placeholdersIn(document.root).bare, bare)) return;
  report({
    message: `Image ${shorten(image, 50)} has ${shorten(bare, 20)} without a $: envsubst does not fill it in, and the pod never starts (InvalidImageName)`,
    span: spanOf(at),
    severity: 'warning',
    fixes: () => [
      fix(
        `Change to $${shorten(bare, 20)}`,
        'unsafe',
        replaceScalar(document, at, image.replace(/(?<!\$)(?=\{)/g, '$$')),
      ),
    ],
  });
}

/** The `{NAME}` in a document, and those of them without a `$`. */
const placeholdersIn = once((root: YamlNode) => {
  const all = new Set<string>();
  const bare = new Set<string>();
  for (const text of textsIn(root)) {
    for (const { 0: name, index } of text.matchAll(/\{[A-Za-z_]\w*\}/g)) {
      all.add(name);
      if (!/[$\w{]/.test(text.charAt(index - 1))) bare.add(name);
    }
  }
  return { all, bare };
});

function hasOthers(names: ReadonlySet<string>, one: string): boolean {
  return names.size > (names.has(one) ? 1 : 0);
}

/** Whether NVIDIA has no such image of CUDA: since CUDA 12, all tags name a patch version and a system. */
function isMissingTag(image: string): boolean {
  const tag = cudaTag(image, /^(?:(?:docker\.io|nvcr\.io)\/)?nvidia\/cuda$/);
  return /^1[2-9]\.\d+(?:-|(?:\.\d+)?(?:-(?:base|runtime|devel|cudnn\d*))*$)/.test(tag);
}

/** Whether the image of CUDA is gone from Docker Hub: all before CUDA 11, and those of CUDA 11 without a patch version. */
function isRemovedTag(image: string): boolean {
  return /^(?:[6-9]|1[01])\.\d+(?:-|$)/.test(cudaTag(image, /^(?:docker\.io\/)?nvidia\/cuda$/));
}

/** The tag of an image from one of NVIDIA's repositories; empty for others, and next to a digest, which takes precedence. */
function cudaTag(image: string, repositories: RegExp): string {
  const { repository, tag = '' } = imageParts(image);
  return image.includes('@') || !repositories.test(repository) ? '' : tag;
}

/** What most images are. */
const plainImage = /^(?![^@]*:[^/@]*:)[a-z0-9_-]{1,80}(?:[.:/@][a-z0-9_-]{1,80}){0,12}$/;

/** What makes an image name invalid; undefined if it may be valid or is a placeholder for a name. */
function problemOf(image: string, { root }: YamlDocument): string | undefined {
  // A name may be joined from a placeholder of a template and a tag; release tools have `#{TAG}#`.
  if (plainImage.test(image) || /\{\{|[#%@]\{/.test(image)) return undefined;
  // Placeholders are words in capitals, in brackets, or after "my" or "your".
  const plain = image.replace(/\{[A-Za-z_]\w*\}/g, '');
  if (/[<>[\]]|(^|[^A-Za-z])[A-Z][A-Z0-9]{2,}([^a-z]|$)|\b(?:my|your)[A-Z-_]/.test(plain)) return undefined;
  if (/\s/.test(image.trim())) return /\n/.test(image.trim()) ? 'several lines' : 'a space in it';
  const braces = /\{[A-Za-z_]\w*\}/.exec(image)?.[0];
  // Several different placeholders make the file a custom template.
  if (braces !== undefined && root !== null && hasOthers(placeholdersIn(root).all, braces)) return undefined;
  if (braces !== undefined) return `${shorten(braces, 20)}, which no template fills in`;
  const [first = '', ...rest] = (image.slice(0, 1000).split('@')[0] ?? '').split('/');
  const host = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const path = (host ? rest : [first, ...rest]).join('/').replace(/:[^/:]*$/, '');
  const scheme = /^https?:\/\//i.exec(image)?.[0];
  if (scheme !== undefined) return `a scheme (${scheme})`;
  // Other schemes (`docker://`) belong to another container runtime.
  if (/[^:/]\/{2,}[^/]/.test(image)) return 'an empty part (//) in its path';
  return /[A-Z]/.test(path) ? 'uppercase letters in its repository' : tagProblem(image, path);
}

/** A wheel's version (`2.5.1+cu124`) is not a tag, and neither is what follows a second colon. */
function tagProblem(image: string, path: string): string | undefined {
  // Build systems fill in names between other marks.
  if (/[%#~!*]|__/.test(image)) return undefined;
  if (path.includes(':')) return 'two tags';
  const tag = /:([^/:@]*)(?:@|$)/.exec(image.replace(/@.*$/s, ''))?.[1];
  if (tag === '') return 'a colon without a tag';
  return tag?.includes('+') ? 'a + in its tag' : undefined;
}
